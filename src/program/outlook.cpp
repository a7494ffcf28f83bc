#include "program/outlook.h"

#include <algorithm>
#include <iterator>

#include "program/arithmetic.h"

namespace isoscope {
namespace {

constexpr int kMostInstructions = 1'000;
constexpr int kMostWays = 32;

struct Interval {
  std::int64_t low = 0;
  std::int64_t high = 0;

  static Interval of(std::int64_t value) { return {value, value}; }
  bool is_known() const { return low == high; }
  bool contains(std::int64_t value) const { return low <= value && value <= high; }
};

// The largest absolute value; nothing if it has none.
std::optional<std::int64_t> size_of(const Interval& a) {
  if (a.low == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  return std::max(std::abs(a.low), std::abs(a.high));
}

std::optional<Interval> between(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (!a || !b) return std::nullopt;
  return Interval{std::min(*a, *b), std::max(*a, *b)};
}

// Of a comparison whose answer is `yes` if `is_sure`, and `no` if `is_out`.
Interval truth(bool is_sure, bool is_out) {
  if (is_sure) return Interval::of(1);
  return is_out ? Interval::of(0) : Interval{0, 1};
}

// Operations whose extreme results come from extreme operands.
std::optional<Interval> from_corners(Op op, const Interval& a, const Interval& b) {
  std::optional<Interval> all;
  for (const std::int64_t left : {a.low, a.high}) {
    for (const std::int64_t right : {b.low, b.high}) {
      const auto value = compute(op, left, right);
      if (!value) return std::nullopt;
      if (!all) all = Interval::of(*value);
      all->low = std::min(all->low, *value);
      all->high = std::max(all->high, *value);
    }
  }
  return all;
}

// Nothing if it may overflow.
std::optional<Interval> compute_interval(Op op, const Interval& a, const Interval& b) {
  switch (op) {
    case Op::Not: return truth(a.low == 0 && a.high == 0, !a.contains(0));
    case Op::Negate: return between(compute(op, a.low, 0), compute(op, a.high, 0));
    case Op::Add:
    case Op::Subtract:
    case Op::Multiply:
    case Op::Min:
    case Op::Max: return from_corners(op, a, b);
    case Op::Equal:
      return truth(a.is_known() && b.is_known() && a.low == b.low,
                   a.high < b.low || b.high < a.low);
    case Op::NotEqual:
      return truth(a.high < b.low || b.high < a.low,
                   a.is_known() && b.is_known() && a.low == b.low);
    case Op::Less: return truth(a.high < b.low, a.low >= b.high);
    case Op::LessEqual: return truth(a.high <= b.low, a.low > b.high);
    case Op::Greater: return truth(a.low > b.high, a.high <= b.low);
    case Op::GreaterEqual: return truth(a.low >= b.high, a.high < b.low);
    default: break;
  }
  // /, % and operations on bits: exactly, or no larger than their operands.
  if (a.is_known() && b.is_known()) {
    const auto value = compute(op, a.low, b.low);
    if (!value) return std::nullopt;
    return Interval::of(*value);
  }
  const auto left = size_of(a);
  const auto right = size_of(b);
  if (!left || !right) return std::nullopt;
  std::int64_t bound = 1;
  while (bound <= std::max(*left, *right)) {
    if (bound > std::numeric_limits<std::int64_t>::max() / 2) return std::nullopt;
    bound *= 2;
  }
  return Interval{-bound, bound};
}

class Lookout {
 public:
  Lookout(const Code& code, KeyFinder& finder) : code_(code), finder_(finder) {}

  Outlook run(std::span<const std::int64_t> state) {
    std::vector<Interval> registers(code_.num_registers);
    for (std::size_t i = 0; i < state.size(); ++i) registers[i] = Interval::of(state[i]);
    for (std::size_t i = 0; i < code_.constants.size(); ++i)
      registers[code_.locals.size() + kStateWords + i] = Interval::of(code_.constants[i]);
    const std::size_t first = code_.locals.size();
    // Rounds of loops are counted by the interpreter, which has a limit.
    if (state[first + 1] > kMaxRounds / 2) return {};
    if (!follow(static_cast<std::size_t>(state[first]), std::move(registers), {},
                {-kLargestSmall, kLargestSmall}))
      return {};
    return {.commits = true, .writes = std::move(sure_)};
  }

 private:
  using Registers = std::vector<Interval>;
  using Keys = std::vector<ProgramKey>;

  // Follows all ways from an instruction; a read may show whatever is in `shown`, which contains
  // what was written on the way. False if one of them does not surely commit.
  bool follow(std::size_t at, Registers r, Keys written, Interval shown) {
    if (++num_ways_ > kMostWays) return false;
    for (;; ++at) {
      if (++num_instructions_ > kMostInstructions) return false;
      const Instruction& i = code_.instructions[at];
      switch (i.op) {
        case Op::Constant: r[i.to] = Interval::of(i.number); break;
        case Op::Copy: r[i.to] = r[i.a]; break;
        case Op::Jump:
        case Op::JumpBack: at = static_cast<std::size_t>(i.number) - 1; break;
        case Op::JumpIfZero:
        case Op::JumpIfTrue: {
          const bool is_known = !r[i.a].contains(0) || r[i.a].is_known();
          const bool jumps = r[i.a].contains(0) == (i.op == Op::JumpIfZero);
          if (!is_known && !follow(at + 1, r, written, shown)) return false;
          if (!is_known || jumps) at = static_cast<std::size_t>(i.number) - 1;
          break;
        }
        case Op::ReadKey:
        case Op::ReadIndexed: r[i.to] = shown; break;
        case Op::WriteKey:
        case Op::WriteIndexed:
          shown = {std::min(shown.low, r[i.a].low), std::max(shown.high, r[i.a].high)};
          add_key(i, r, written);
          break;
        case Op::LockKey:
        case Op::LockIndexed:
        case Op::ShareKey:
        case Op::ShareIndexed:
        case Op::BeginStatement:
        case Op::EndStatement:
        case Op::Assert: break;
        case Op::Abort: return false;
        case Op::Commit: keep(std::move(written)); return true;
        default: {
          const bool is_unary = i.op == Op::Negate || i.op == Op::Not;
          const auto value = compute_interval(i.op, r[i.a], is_unary ? Interval{} : r[i.b]);
          if (!value) return false;
          r[i.to] = *value;
          break;
        }
      }
    }
  }

  // The key, if it is known which one it is.
  void add_key(const Instruction& i, const Registers& r, Keys& written) {
    if (i.op == Op::WriteKey) {
      written.push_back(ProgramKey{static_cast<std::uint32_t>(i.number)});
      return;
    }
    const KeyTerm& term = code_.key_terms[static_cast<std::size_t>(i.number)];
    exact_.resize(r.size());
    for (const Register index : term.indices) {
      if (!r[index].is_known()) return;
      exact_[index] = r[index].low;
    }
    written.push_back(finder_.find(term, exact_.data()));
  }

  void keep(Keys written) {
    const auto is_less = [](ProgramKey a, ProgramKey b) { return a.index < b.index; };
    std::sort(written.begin(), written.end(), is_less);
    written.erase(std::unique(written.begin(), written.end()), written.end());
    if (is_first_) {
      sure_ = std::move(written);
      is_first_ = false;
      return;
    }
    Keys both;
    std::set_intersection(sure_.begin(), sure_.end(), written.begin(), written.end(),
                          std::back_inserter(both), is_less);
    sure_ = std::move(both);
  }

  const Code& code_;
  KeyFinder& finder_;
  int num_ways_ = 0;
  int num_instructions_ = 0;
  bool is_first_ = true;
  Keys sure_;  // written on all ways so far
  std::vector<std::int64_t> exact_;
};

}  // namespace

Outlook outlook_of(const Code& code, std::span<const std::int64_t> state, KeyFinder& finder) {
  return Lookout(code, finder).run(state);
}

}  // namespace isoscope
