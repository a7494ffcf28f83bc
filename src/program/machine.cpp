#include "program/machine.h"

#include <algorithm>

#include "support/assert.h"

namespace isoscope {

Machine::Machine(const Program& program)
    : program_(program), registers_(program.num_registers()), finder_(program.keys()) {}

void Machine::load(CallId call) {
  const Code& code = program_.code(call);
  if (code_ == &code) return;
  code_ = &code;
  std::ranges::copy(code.constants, registers_.begin() + static_cast<std::ptrdiff_t>(
                                                             code.locals.size() + kStateWords));
}

void Machine::start(CallId call) {
  load(call);
  std::fill_n(registers_.begin(), code_->locals.size() + kStateWords, 0);
}

Stop Machine::run() { return interpret(*code_, registers_.data(), &finder_); }

Step Machine::run_step() { return interpret_step(*code_, registers_.data(), &finder_); }

void Machine::answer(std::int64_t value) {
  std::int64_t& next = registers_[code_->locals.size()];
  const Instruction& read = code_->instructions[static_cast<std::size_t>(next)];
  ISO_ASSERT(read.op == Op::ReadKey || read.op == Op::ReadIndexed);
  registers_[read.to] = value;
  ++next;
}

Error Machine::fault() const { return explain_fault(*code_, registers_.data()); }

std::span<const std::int64_t> Machine::state() const {
  return {registers_.data(), code_->locals.size() + kStateWords};
}

void Machine::restore(CallId call, std::span<const std::int64_t> state) {
  load(call);
  ISO_ASSERT(state.size() == code_->locals.size() + kStateWords);
  std::ranges::copy(state, registers_.begin());
}

std::size_t Machine::num_locals() const { return code_->locals.size(); }

std::optional<AssertionId> Machine::failed_assertion() const {
  const std::int64_t failed = registers_[code_->locals.size() + 2];
  if (failed == 0) return std::nullopt;
  return AssertionId{static_cast<std::uint32_t>(failed - 1)};
}

}  // namespace isoscope
