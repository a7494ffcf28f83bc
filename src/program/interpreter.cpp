#include "program/interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/arithmetic.h"

namespace isoscope {

ProgramKey KeyFinder::name(FamilyId family) {
  if (!holds_) return keys_.intern(family, indices_);
  const ProgramKey key = keys_.hold(family, indices_);
  if (key.index >= is_held_.size()) is_held_.resize(key.index + 1, false);
  if (is_held_[key.index]) {
    keys_.release(key);  // once is enough
  } else {
    is_held_[key.index] = true;
    held_.push_back(key);
  }
  return key;
}

// What was remembered of keys goes with them.
void KeyFinder::drop_but(std::span<const ProgramKey> used) {
  if (held_.empty()) return;
  std::vector<bool> is_used(is_held_.size(), false);
  for (const ProgramKey key : used) {
    if (key.index < is_used.size()) is_used[key.index] = true;
  }
  std::erase_if(held_, [&](ProgramKey key) {
    if (is_used[key.index]) return false;
    is_held_[key.index] = false;
    keys_.release(key);
    return true;
  });
  small_.clear();
  for (Entry& entry : entries_) entry.family = FamilyId::none();
}

ProgramKey KeyFinder::find_small(std::vector<std::uint32_t>& known, std::size_t at,
                                 const KeyTerm& term, const std::int64_t* registers) {
  if (at >= known.size()) known.resize(std::max(at + 1, 2 * known.size()), 0);
  if (known[at] == 0) {
    indices_.clear();
    for (const Register index : term.indices) indices_.push_back(registers[index]);
    known[at] = name(term.family).index + 1;
  }
  return ProgramKey{known[at] - 1};
}

ProgramKey KeyFinder::find(const KeyTerm& term, const std::int64_t* registers) {
  const auto is_below = [](std::int64_t index, std::int64_t end) {
    return index >= 0 && index < end;
  };
  if (term.indices.size() <= 2 && term.family.index >= small_.size())
    small_.resize(term.family.index + 1);
  if (term.indices.size() == 1 && is_below(registers[term.indices[0]], kSmall)) {
    const auto at = static_cast<std::size_t>(registers[term.indices[0]]);
    return find_small(small_[term.family.index].one, at, term, registers);
  }
  if (term.indices.size() == 2 && is_below(registers[term.indices[0]], kSmallOfTwo) &&
      is_below(registers[term.indices[1]], kSmallOfTwo)) {
    const auto at = static_cast<std::size_t>(registers[term.indices[0]] * kSmallOfTwo +
                                             registers[term.indices[1]]);
    return find_small(small_[term.family.index].two, at, term, registers);
  }
  indices_.clear();
  for (const Register index : term.indices) indices_.push_back(registers[index]);
  Entry& entry = entries_[hash_of_key(term.family, indices_) % kNumEntries];
  if (entry.family != term.family || !std::ranges::equal(entry.indices, indices_)) {
    entry.key = name(term.family);
    entry.family = term.family;
    entry.indices = indices_;
  }
  return entry.key;
}

namespace {

// Of what only servers know.
StepKind kind_of(Op op) {
  if (op == Op::BeginStatement) return StepKind::BeginStatement;
  if (op == Op::EndStatement) return StepKind::EndStatement;
  return op == Op::LockKey || op == Op::LockIndexed ? StepKind::Lock : StepKind::LockShared;
}

// The operations that may overflow; false if they do. The result must not replace an operand then:
// the message shows both.
bool negate(const Instruction& i, std::int64_t* r) {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(std::int64_t{0}, r[i.a], &result)) return false;
  r[i.to] = result;
  return true;
}
bool multiply(const Instruction& i, std::int64_t* r) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(r[i.a], r[i.b], &result)) return false;
  r[i.to] = result;
  return true;
}
bool divide(const Instruction& i, std::int64_t* r) {
  if (quotient_overflows(r[i.a], r[i.b])) return false;
  r[i.to] = floor_quotient(r[i.a], r[i.b]);
  return true;
}
bool add(const Instruction& i, std::int64_t* r) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(r[i.a], r[i.b], &result)) return false;
  r[i.to] = result;
  return true;
}
bool subtract(const Instruction& i, std::int64_t* r) {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(r[i.a], r[i.b], &result)) return false;
  r[i.to] = result;
  return true;
}

// What is asked of the database at an instruction.
struct Accesses {
  const Code& code;
  const std::int64_t* r;
  KeyFinder* finder;

  ProgramKey known_key(const Instruction& i) const {
    return ProgramKey{static_cast<std::uint32_t>(i.number)};
  }
  ProgramKey computed_key(const Instruction& i) const {
    return finder->find(code.key_terms[static_cast<std::size_t>(i.number)], r);
  }
  std::uint32_t number(const Instruction& i) const {
    return static_cast<std::uint32_t>(&i - code.instructions.data());
  }
  Step read(const Instruction& i, ProgramKey key) const {
    return {.kind = StepKind::Read, .key = key, .instruction = number(i)};
  }
  Step write(const Instruction& i, ProgramKey key) const {
    return {.kind = StepKind::Write, .key = key, .value = r[i.a], .instruction = number(i)};
  }
  Step for_server(const Instruction& i) const {
    Step step{.kind = kind_of(i.op), .instruction = number(i)};
    if (i.op == Op::LockKey || i.op == Op::ShareKey) step.key = known_key(i);
    if (i.op == Op::LockIndexed || i.op == Op::ShareIndexed) step.key = computed_key(i);
    return step;
  }
};

// With `kSeesStatements` it also stops at what only servers know.
template <bool kSeesStatements>
Step execute(const Code& code, std::int64_t* const r, KeyFinder* finder) {
  constexpr Step kFault{.kind = StepKind::Fault};
  const Instruction* const begin = code.instructions.data();
  std::int64_t* const state = r + code.locals.size();
  const Instruction* i = begin + state[0];
  const Accesses asks{code, r, finder};
  const auto stop_at = [&](const Instruction* next, const Step& step) {
    state[0] = next - begin;
    return step;
  };
  for (;; ++i) {
    switch (i->op) {
      case Op::Constant: r[i->to] = i->number; break;
      case Op::Copy: r[i->to] = r[i->a]; break;
      case Op::Negate:
        if (!negate(*i, r)) return stop_at(i, kFault);
        break;
      case Op::Not: r[i->to] = r[i->a] == 0; break;
      case Op::Multiply:
        if (!multiply(*i, r)) return stop_at(i, kFault);
        break;
      case Op::Divide:
        if (!divide(*i, r)) return stop_at(i, kFault);
        break;
      case Op::Modulo: r[i->to] = floor_remainder(r[i->a], r[i->b]); break;
      case Op::Add:
        if (!add(*i, r)) return stop_at(i, kFault);
        break;
      case Op::Subtract:
        if (!subtract(*i, r)) return stop_at(i, kFault);
        break;
      case Op::BitAnd: r[i->to] = r[i->a] & r[i->b]; break;
      case Op::BitXor: r[i->to] = r[i->a] ^ r[i->b]; break;
      case Op::BitOr: r[i->to] = r[i->a] | r[i->b]; break;
      case Op::Equal: r[i->to] = r[i->a] == r[i->b]; break;
      case Op::NotEqual: r[i->to] = r[i->a] != r[i->b]; break;
      case Op::Less: r[i->to] = r[i->a] < r[i->b]; break;
      case Op::LessEqual: r[i->to] = r[i->a] <= r[i->b]; break;
      case Op::Greater: r[i->to] = r[i->a] > r[i->b]; break;
      case Op::GreaterEqual: r[i->to] = r[i->a] >= r[i->b]; break;
      case Op::Min: r[i->to] = std::min(r[i->a], r[i->b]); break;
      case Op::Max: r[i->to] = std::max(r[i->a], r[i->b]); break;
      case Op::JumpBack:
        state[1] += 1 + (i - begin - i->number) / kStepsPerRound;
        if (state[1] > kMaxRounds) return stop_at(i, kFault);
        i = begin + i->number - 1;
        break;
      case Op::Jump: i = begin + i->number - 1; break;
      case Op::JumpIfZero:
        if (r[i->a] == 0) i = begin + i->number - 1;
        break;
      case Op::JumpIfTrue:
        if (r[i->a] != 0) i = begin + i->number - 1;
        break;
      case Op::ReadKey: return stop_at(i, asks.read(*i, asks.known_key(*i)));
      case Op::ReadIndexed: return stop_at(i, asks.read(*i, asks.computed_key(*i)));
      case Op::WriteKey: return stop_at(i + 1, asks.write(*i, asks.known_key(*i)));
      case Op::WriteIndexed: return stop_at(i + 1, asks.write(*i, asks.computed_key(*i)));
      case Op::LockKey:
      case Op::LockIndexed:
      case Op::ShareKey:
      case Op::ShareIndexed:
      case Op::BeginStatement:
      case Op::EndStatement:
        if constexpr (kSeesStatements) return stop_at(i + 1, asks.for_server(*i));
        break;
      case Op::Assert:
        if (r[i->a] == 0 && state[2] == 0) state[2] = i->number + 1;
        break;
      case Op::Abort: return stop_at(i, {.kind = StepKind::Abort});
      case Op::Commit: return stop_at(i, {.kind = StepKind::Commit});
    }
  }
}

}  // namespace

Stop interpret(const Code& code, std::int64_t* const registers, KeyFinder* finder) {
  const Step step = execute<false>(code, registers, finder);
  switch (step.kind) {
    case StepKind::Read: return {.kind = StopKind::Read, .key = step.key};
    case StepKind::Write: return {.kind = StopKind::Write, .key = step.key, .value = step.value};
    case StepKind::Abort: return {.kind = StopKind::Abort};
    case StepKind::Fault: return {.kind = StopKind::Fault};
    case StepKind::Commit:
    case StepKind::Lock:
    case StepKind::LockShared:
    case StepKind::BeginStatement:
    case StepKind::EndStatement: break;
  }
  return {.kind = StopKind::Commit};
}

Step interpret_step(const Code& code, std::int64_t* const registers, KeyFinder* finder) {
  return execute<true>(code, registers, finder);
}

Error explain_fault(const Code& code, const std::int64_t* registers) {
  const auto at = static_cast<std::size_t>(registers[code.locals.size()]);
  const Instruction& instruction = code.instructions[at];
  const Place place = code.places[at];
  if (instruction.op == Op::JumpBack)
    return Error{.where = place,
                 .what = fmt::format("more than {} rounds of loops in one transaction", kMaxRounds),
                 .hint = fmt::format("is the upper end of this loop right? A round of more than {} "
                                     "steps counts as several",
                                     kStepsPerRound)};
  if (instruction.op == Op::Negate)
    return Error{.where = place,
                 .what = fmt::format("overflow: -({})", registers[instruction.a]),
                 .hint = "numbers have 64 bits"};
  return Error{.where = place,
               .what = fmt::format("overflow: {} {} {}", registers[instruction.a],
                                   sign_of(instruction.op), registers[instruction.b]),
               .hint = "numbers have 64 bits"};
}

}  // namespace isoscope
