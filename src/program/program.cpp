#include "program/program.h"

#include <algorithm>

#include "program/interpreter.h"
#include "program/machine.h"

namespace isoscope {

std::unique_ptr<Executor> Program::executor() const { return std::make_unique<Machine>(*this); }

std::span<const std::string> Program::local_names(CallId call) const { return code(call).locals; }

ById<CallId, std::vector<bool>> Program::locals_in_claims() const {
  ById<CallId, std::vector<bool>> is_in;
  for (const CallId call : outline_.calls.ids())
    is_in.emplace_back(code(call).locals.size(), false);
  for (const FinalAssertion& claim : final_assertions_) {
    for (const FinalInput& input : claim.inputs) {
      if (input.final_key || !input.local) continue;
      // Any of its attempts may be the one that counts.
      CallId call = input.call;
      do is_in[call][*input.local] = true;
      while (is_in.contains(++call) && outline_.calls[call].attempt > 1);
    }
  }
  return is_in;
}

// From the place to the bracket that closes the first one. Comments go, blanks become one, and a
// newline that ends a statement becomes ';'.
std::string Program::statement_text(Place place) const {
  std::size_t at = 0;
  for (std::uint32_t line = 1; line < place.line && at < text_.size(); ++line)
    at = std::min(text_.find('\n', at), text_.size() - 1) + 1;
  std::string out;
  std::string open;
  bool has_blank = false;
  bool has_newline = false;
  for (at += place.column - 1; at < text_.size(); ++at) {
    if (text_[at] == '#') at = std::min(text_.find('\n', at), text_.size() - 1);
    const char c = text_[at];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      has_blank = true;
      has_newline = has_newline || c == '\n';
      continue;
    }
    const std::string_view rest = std::string_view(text_).substr(at);
    if (has_newline && open.ends_with('{') && !out.ends_with('{') && !out.ends_with(';') &&
        c != '}' && !rest.starts_with("else"))
      out += ';';
    if (has_blank && !out.empty()) out += ' ';
    has_blank = has_newline = false;
    out += c;
    if (c == '(' || c == '[' || c == '{') open += c;
    if ((c == ')' || c == ']' || c == '}') && !open.empty()) {
      open.pop_back();
      if (open.empty()) break;
    }
  }
  return out;
}

// Evaluates a claim; the registers show how it ended.
Stop Program::evaluate(const FinalAssertion& claim, std::span<const Ending> endings,
                       std::span<const std::int64_t> finals,
                       std::vector<std::int64_t>& registers) const {
  // The attempt that committed, or the last one.
  const auto ending_of = [&](CallId call) -> const Ending& {
    for (;; ++call) {
      const CallId next{call.index + 1};
      if (endings[call.index].committed || next.index >= endings.size() ||
          outline_.calls[next].attempt == 1)
        return endings[call.index];
    }
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

std::optional<AssertionId> Program::failed_at_end(std::span<const Ending> endings,
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
