#include "program/unused_reads.h"

#include <algorithm>

#include "program/arithmetic.h"

namespace isoscope {
namespace {

// Behind so many instructions a value that is still there counts as used.
constexpr int kMostSteps = 256;

// Follows the code from a read, without the values that are read. Used again and again: each read
// of a scan is looked at.
class LookAhead {
 public:
  bool is_unused(const Code& code, const std::int64_t* registers,
                 const std::vector<bool>& is_kept) {
    code_ = &code;
    registers_.assign(registers, registers + code.num_registers);
    auto at = static_cast<std::size_t>(registers_[code.locals.size()]);
    const Register value = code.instructions[at].to;
    unknown_.assign(1, value);
    for (int step = 0; step < kMostSteps; ++step) {
      const Instruction& i = code.instructions[++at];
      if (uses(i, value)) return false;
      switch (i.op) {
        case Op::Commit:
        case Op::Abort: return value >= is_kept.size() || !is_kept[value];
        case Op::Jump:
        case Op::JumpBack: at = static_cast<std::size_t>(i.number) - 1; continue;
        case Op::JumpIfZero:
        case Op::JumpIfTrue:
          if (!is_known(i.a)) return false;
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
        case Op::EndStatement: continue;
        case Op::ReadKey:
        case Op::ReadIndexed: forget(i.to); break;
        case Op::Constant: set(i.to, i.number); break;
        case Op::Copy: is_known(i.a) ? set(i.to, registers_[i.a]) : forget(i.to); break;
        default: compute_into(i); break;
      }
      if (i.to == value) return true;  // overwritten
    }
    return false;
  }

 private:
  bool is_known(Register r) const {
    return std::find(unknown_.begin(), unknown_.end(), r) == unknown_.end();
  }
  void set(Register to, std::int64_t number) {
    std::erase(unknown_, to);
    registers_[to] = number;
  }
  void forget(Register to) {
    if (is_known(to)) unknown_.push_back(to);
  }

  // An operation that faults stops the transaction, whatever was read.
  void compute_into(const Instruction& i) {
    const bool is_unary = i.op == Op::Negate || i.op == Op::Not;
    const bool has_all = is_known(i.a) && (is_unary || is_known(i.b));
    const auto result =
        has_all ? compute(i.op, registers_[i.a], is_unary ? 0 : registers_[i.b]) : std::nullopt;
    result ? set(i.to, *result) : forget(i.to);
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
      case Op::Commit: return false;
      case Op::ReadIndexed:
      case Op::LockIndexed:
      case Op::ShareIndexed: break;
      case Op::WriteIndexed:
        if (i.a == value) return true;
        break;
      case Op::Copy:
      case Op::Negate:
      case Op::Not:
      case Op::JumpIfZero:
      case Op::JumpIfTrue:
      case Op::WriteKey:
      case Op::Assert: return i.a == value;
      default: return i.a == value || i.b == value;
    }
    const auto& indices = code_->key_terms[static_cast<std::size_t>(i.number)].indices;
    return std::ranges::find(indices, value) != indices.end();
  }

  const Code* code_ = nullptr;
  std::vector<std::int64_t> registers_;
  std::vector<Register> unknown_;  // few
};

// The interpreter, passing over unused reads.
class WithoutUnusedReads final : public Executor {
 public:
  WithoutUnusedReads(const Program& program, std::atomic<bool>& has_passed)
      : program_(program),
        machine_(program),
        is_kept_(program.locals_in_claims()),
        is_written_(program.keys().num_families(), false),
        has_passed_(has_passed) {
    for (const CallId call : program.outline().calls.ids()) {
      for (const FamilyId family : program.may_write(call)) is_written_[family] = true;
    }
  }

  void start(CallId call) override {
    call_ = call;
    machine_.start(call);
  }
  Stop run() override {
    for (;;) {
      const Stop stop = machine_.run();
      if (stop.kind == StopKind::Read && is_fixed(stop.key)) {
        machine_.answer(fixed_[stop.key].value);
        continue;
      }
      if (stop.kind != StopKind::Read ||
          !ahead_.is_unused(program_.code(call_), machine_.registers(), is_kept_[call_]))
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
  std::optional<AssertionId> failed_assertion() const override {
    return machine_.failed_assertion();
  }

 private:
  // What is known of a key by its number, which keeps its family.
  struct Fixed {
    bool is_known = false;
    bool is_fixed = false;
    std::int64_t value = 0;
  };

  // Does no call write the key? Then its reads are no events.
  bool is_fixed(ProgramKey key) {
    Fixed& fixed = fixed_.grown(key);
    if (!fixed.is_known)
      fixed = {.is_known = true,
               .is_fixed = !is_written_[program_.keys().family(key)],
               .value = program_.keys().initial(key)};
    return fixed.is_fixed;
  }

  const Program& program_;
  Machine machine_;
  LookAhead ahead_;
  ById<CallId, std::vector<bool>> is_kept_;  // by local
  ById<FamilyId, bool> is_written_;
  ById<ProgramKey, Fixed> fixed_;
  std::atomic<bool>& has_passed_;
  CallId call_ = {};
};

}  // namespace

std::unique_ptr<Executor> executor_without_unused_reads(const Program& program,
                                                        std::atomic<bool>& has_passed) {
  return std::make_unique<WithoutUnusedReads>(program, has_passed);
}

}  // namespace isoscope
