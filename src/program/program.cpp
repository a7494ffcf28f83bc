#include "program/program.h"

#include <algorithm>

#include "program/interpreter.h"
#include "program/machine.h"

namespace isoscope {

std::unique_ptr<Executor> Program::executor() const { return std::make_unique<Machine>(*this); }

std::span<const std::string> Program::local_names(CallId call) const { return code(call).locals; }

// Evaluates a claim; the registers tell how it ended.
Stop Program::evaluate(const FinalAssertion& claim, std::span<const Ending> endings,
                       std::span<const std::int64_t> finals,
                       std::vector<std::int64_t>& registers) const {
  // The attempt that committed, or the last one.
  const auto ending_of = [&](CallId call) -> const Ending& {
    std::uint32_t last = call.index;
    while (!endings[last].committed && last + 1 < endings.size() &&
           outline_.calls[last + 1].attempt > 1)
      ++last;
    return endings[last];
  };
  std::size_t next = 0;
  for (const FinalInput& input : claim.inputs) {
    std::int64_t& value = registers[next++];
    if (input.final_key) {
      value = finals[*input.final_key];
    } else {
      const Ending& ending = ending_of(input.call);
      value = input.local ? ending.locals[*input.local] : ending.committed;
    }
  }
  std::fill_n(registers.begin() + static_cast<std::ptrdiff_t>(next), kStateWords, 0);
  next += kStateWords;
  std::ranges::copy(claim.code.constants, registers.begin() + static_cast<std::ptrdiff_t>(next));
  return interpret(claim.code, registers.data(), nullptr);
}

std::optional<std::uint32_t> Program::failed_at_end(std::span<const Ending> endings,
                                                    std::span<const std::int64_t> finals) const {
  std::vector<std::int64_t> registers(num_registers_);
  for (const FinalAssertion& claim : final_assertions_) {
    const Stop stop = evaluate(claim, endings, finals, registers);
    const bool failed = registers[claim.inputs.size() + 2] != 0;
    if (failed || stop.kind == StopKind::Fault) return claim.number;
  }
  return std::nullopt;
}

std::optional<Error> Program::fault_at_end(std::span<const Ending> endings,
                                           std::span<const std::int64_t> finals) const {
  std::vector<std::int64_t> registers(num_registers_);
  for (const FinalAssertion& claim : final_assertions_) {
    if (evaluate(claim, endings, finals, registers).kind == StopKind::Fault)
      return explain_fault(claim.code, registers.data());
  }
  return std::nullopt;
}

}  // namespace isoscope
