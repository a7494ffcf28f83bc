#include "program/program.h"

#include <algorithm>

#include "program/interpreter.h"
#include "program/machine.h"

namespace isoscope {

std::unique_ptr<Executor> Program::executor() const { return std::make_unique<Machine>(*this); }

std::span<const std::string> Program::local_names(CallId call) const { return code(call).locals; }

namespace {

// Evaluates a claim; the registers tell how it ended.
Stop evaluate(const FinalAssertion& claim, std::span<const Ending> endings,
              std::vector<std::int64_t>& registers) {
  std::size_t next = 0;
  for (const FinalInput& input : claim.inputs) {
    const Ending& ending = endings[input.call.index];
    registers[next++] = input.local ? ending.locals[*input.local] : ending.committed;
  }
  std::fill_n(registers.begin() + static_cast<std::ptrdiff_t>(next), kStateWords, 0);
  next += kStateWords;
  std::ranges::copy(claim.code.constants, registers.begin() + static_cast<std::ptrdiff_t>(next));
  return interpret(claim.code, registers.data(), nullptr);
}

}  // namespace

std::optional<std::uint32_t> Program::failed_at_end(std::span<const Ending> endings) const {
  std::vector<std::int64_t> registers(num_registers_);
  for (const FinalAssertion& claim : final_assertions_) {
    const Stop stop = evaluate(claim, endings, registers);
    const bool failed = registers[claim.inputs.size() + 2] != 0;
    if (failed || stop.kind == StopKind::Fault) return claim.number;
  }
  return std::nullopt;
}

std::optional<Error> Program::fault_at_end(std::span<const Ending> endings) const {
  std::vector<std::int64_t> registers(num_registers_);
  for (const FinalAssertion& claim : final_assertions_) {
    if (evaluate(claim, endings, registers).kind == StopKind::Fault)
      return explain_fault(claim.code, registers.data());
  }
  return std::nullopt;
}

}  // namespace isoscope
