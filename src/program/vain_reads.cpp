#include "program/vain_reads.h"

#include <algorithm>

#include "program/arithmetic.h"

namespace isoscope {
namespace {

// Behind so many instructions a value that is still there counts as used.
constexpr int kMostSteps = 256;

// Follows the code from a read, without the values that are read.
class LookAhead {
 public:
  LookAhead(const Code& code, const std::int64_t* registers, const std::vector<bool>& is_kept)
      : code_(code),
        is_kept_(is_kept),
        registers_(registers, registers + code.num_registers),
        is_known_(code.num_registers, true) {}

  bool is_vain() {
    auto at = static_cast<std::size_t>(registers_[code_.locals.size()]);
    const Register value = code_.instructions[at].to;
    is_known_[value] = false;
    for (int step = 0; step < kMostSteps; ++step) {
      const Instruction& i = code_.instructions[++at];
      if (uses(i, value)) return false;
      switch (i.op) {
        case Op::Commit:
        case Op::Abort:
          return value >= is_kept_.size() || !is_kept_[value];
        case Op::Jump:
        case Op::JumpBack:
          at = static_cast<std::size_t>(i.number) - 1;
          continue;
        case Op::JumpIfZero:
        case Op::JumpIfTrue:
          if (!is_known_[i.a]) return false;
          if ((registers_[i.a] == 0) == (i.op == Op::JumpIfZero))
            at = static_cast<std::size_t>(i.number) - 1;
          continue;
        case Op::Assert:
        case Op::WriteKey:
        case Op::WriteIndexed:
        case Op::LockKey:
        case Op::LockIndexed:
        case Op::ShareKey:
        case Op::ShareIndexed:
        case Op::BeginStatement:
        case Op::EndStatement:
          continue;
        case Op::ReadKey:
        case Op::ReadIndexed:
          is_known_[i.to] = false;
          break;
        case Op::Constant:
          set(i.to, i.number);
          break;
        case Op::Copy:
          is_known_[i.to] = is_known_[i.a];
          registers_[i.to] = registers_[i.a];
          break;
        default:
          compute_into(i);
          break;
      }
      if (i.to == value) return true;  // overwritten
    }
    return false;
  }

 private:
  void set(Register to, std::int64_t number) {
    is_known_[to] = true;
    registers_[to] = number;
  }

  // An operation that faults stops the transaction, whatever was read.
  void compute_into(const Instruction& i) {
    const bool is_unary = i.op == Op::Negate || i.op == Op::Not;
    const bool is_known = is_known_[i.a] && (is_unary || is_known_[i.b]);
    const auto result =
        is_known ? compute(i.op, registers_[i.a], is_unary ? 0 : registers_[i.b]) : std::nullopt;
    is_known_[i.to] = result.has_value();
    if (result) registers_[i.to] = *result;
  }

  // Is the register an operand?
  bool uses(const Instruction& i, Register value) const {
    switch (i.op) {
      case Op::Constant:
      case Op::Jump:
      case Op::JumpBack:
      case Op::ReadKey:
      case Op::LockKey:
      case Op::ShareKey:
      case Op::BeginStatement:
      case Op::EndStatement:
      case Op::Abort:
      case Op::Commit:
        return false;
      case Op::ReadIndexed:
      case Op::LockIndexed:
      case Op::ShareIndexed:
        break;
      case Op::WriteIndexed:
        if (i.a == value) return true;
        break;
      case Op::Copy:
      case Op::Negate:
      case Op::Not:
      case Op::JumpIfZero:
      case Op::JumpIfTrue:
      case Op::WriteKey:
      case Op::Assert:
        return i.a == value;
      default:
        return i.a == value || i.b == value;
    }
    const auto& indices = code_.key_terms[static_cast<std::size_t>(i.number)].indices;
    return std::ranges::find(indices, value) != indices.end();
  }

  const Code& code_;
  const std::vector<bool>& is_kept_;
  std::vector<std::int64_t> registers_;
  std::vector<bool> is_known_;
};

// The interpreter, passing over vain reads.
class WithoutVainReads final : public Executor {
 public:
  WithoutVainReads(const Program& program, std::atomic<bool>& has_passed)
      : program_(program),
        machine_(program),
        is_kept_(program.locals_in_claims()),
        has_passed_(has_passed) {}

  void start(CallId call) override {
    call_ = call;
    machine_.start(call);
  }
  Stop run() override {
    for (;;) {
      const Stop stop = machine_.run();
      if (stop.kind != StopKind::Read ||
          !is_vain(program_.code(call_), machine_.registers(), is_kept_[call_.index]))
        return stop;
      has_passed_.store(true, std::memory_order_relaxed);
      machine_.answer(0);
    }
  }
  void answer(std::int64_t value) override { machine_.answer(value); }
  Error fault() const override { return machine_.fault(); }
  void hold_keys() override { machine_.hold_keys(); }
  std::size_t num_held_keys() const override { return machine_.num_held_keys(); }
  void drop_keys_but(std::span<const ProgramKey> used) override { machine_.drop_keys_but(used); }
  std::span<const std::int64_t> state() const override { return machine_.state(); }
  void restore(CallId call, std::span<const std::int64_t> state) override {
    call_ = call;
    machine_.restore(call, state);
  }
  std::size_t num_locals() const override { return machine_.num_locals(); }
  std::optional<std::uint32_t> failed_assertion() const override {
    return machine_.failed_assertion();
  }

 private:
  const Program& program_;
  Machine machine_;
  std::vector<std::vector<bool>> is_kept_;  // by call and local
  std::atomic<bool>& has_passed_;
  CallId call_ = {};
};

}  // namespace

bool is_vain(const Code& code, const std::int64_t* registers, const std::vector<bool>& is_kept) {
  return LookAhead(code, registers, is_kept).is_vain();
}

std::unique_ptr<Executor> executor_without_vain_reads(const Program& program,
                                                      std::atomic<bool>& has_passed) {
  return std::make_unique<WithoutVainReads>(program, has_passed);
}

}  // namespace isoscope
