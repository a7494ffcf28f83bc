#pragma once
// What the truth of a formula may be: the algebras over which the core translates.
//
//     Bits      true and false: the translation is an evaluation
//     Signals   gates of a circuit (sat/circuit.h)
//     Terms     formulas of an SMT solver (smt/solver.h)
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>

#include "sat/circuit.h"
#include "smt/solver.h"

namespace isoscope {

template <class A>
concept Algebra = requires(A& algebra, typename A::Truth t,
                           std::span<const typename A::Truth> many) {
  { algebra.constant(true) } -> std::same_as<typename A::Truth>;
  // What is known without asking a solver; nothing if it depends on the witness.
  { algebra.known(t) } -> std::same_as<std::optional<bool>>;
  { algebra.negation(t) } -> std::same_as<typename A::Truth>;
  { algebra.conj(many) } -> std::same_as<typename A::Truth>;
  { algebra.disj(many) } -> std::same_as<typename A::Truth>;
  { algebra.iff(t, t) } -> std::same_as<typename A::Truth>;
};

struct Bits {
  enum class Truth : std::uint8_t { No, Yes };

  static Truth constant(bool value) { return value ? Truth::Yes : Truth::No; }
  static std::optional<bool> known(Truth t) { return t == Truth::Yes; }
  static Truth negation(Truth t) { return constant(t == Truth::No); }
  static Truth conj(std::span<const Truth> all) {
    return constant(std::ranges::find(all, Truth::No) == all.end());
  }
  static Truth disj(std::span<const Truth> all) {
    return constant(std::ranges::find(all, Truth::Yes) != all.end());
  }
  static Truth iff(Truth a, Truth b) { return constant(a == b); }
};

struct Signals {
  using Truth = Signal;
  Circuit& circuit;

  static Signal constant(bool value) { return Signal::constant(value); }
  static std::optional<bool> known(Signal s) {
    if (!s.is_constant()) return std::nullopt;
    return s.is_true();
  }
  static Signal negation(Signal s) { return !s; }
  Signal conj(std::span<const Signal> all) { return circuit.conj(all); }
  Signal disj(std::span<const Signal> all) { return circuit.disj(all); }
  Signal iff(Signal a, Signal b) { return circuit.iff(a, b); }
};

struct Terms {
  using Truth = SmtTerm;
  SmtSolver& smt;

  SmtTerm constant(bool value) { return smt.truth(value); }
  std::optional<bool> known(SmtTerm t) { return smt.known_truth(t); }
  static SmtTerm negation(SmtTerm t) { return !t; }
  SmtTerm conj(std::span<const SmtTerm> all) { return all_of(smt, all); }
  SmtTerm disj(std::span<const SmtTerm> all) { return any_of(smt, all); }
  static SmtTerm iff(SmtTerm a, SmtTerm b) { return isoscope::iff(a, b); }
};

static_assert(Algebra<Bits> && Algebra<Signals> && Algebra<Terms>);

}  // namespace isoscope
