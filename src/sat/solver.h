#pragma once
// A narrow door to a SAT solver: variables, clauses, assumptions, models.
//
//     SatSolver solver;
//     const Lit a = solver.new_var(), b = solver.new_var();
//     solver.add_clause({a, b});
//     solver.add_clause({~a});
//     if (solver.solve({}, budget) == SatResult::Sat) ISO_ASSERT(solver.value(b));
//
// Incremental: after any answer, clauses and variables may be added and solve() called again; what
// the solver has learnt stays. Assumptions hold for one call. Everything that encodes orders or
// formulas goes through here, so that a backend can be exchanged in solver.cpp alone.
//
// Backend   CaDiCaL 1.5.3 (Biere, Fazekas, Fleury, Heisinger), which has no propagator interface:
//           what a theory has to say, it says between two calls, by clauses.
// Answers   are the same for the same sequence of calls, unless a budget expires.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>

#include "support/budget.h"

namespace isoscope {

// A variable or its negation. The default one is no literal.
class Lit {
 public:
  constexpr Lit() = default;
  // Requires: variable >= 0.
  static constexpr Lit positive(std::int32_t variable) { return Lit(variable + 1); }

  constexpr Lit operator~() const { return Lit(-code_); }
  constexpr std::int32_t variable() const { return (code_ < 0 ? -code_ : code_) - 1; }
  constexpr bool is_negative() const { return code_ < 0; }
  constexpr bool is_valid() const { return code_ != 0; }
  // DIMACS: variable n as n+1, negated as -(n+1).
  constexpr std::int32_t dimacs() const { return code_; }
  friend constexpr auto operator<=>(Lit, Lit) = default;

 private:
  constexpr explicit Lit(std::int32_t code) : code_(code) {}
  std::int32_t code_ = 0;
};

enum class SatResult : std::uint8_t { Sat, Unsat, Unknown };

class SatSolver {
 public:
  SatSolver();
  ~SatSolver();
  SatSolver(SatSolver&&) noexcept;
  SatSolver& operator=(SatSolver&&) noexcept;

  Lit new_var();
  std::size_t num_vars() const;
  std::size_t num_clauses() const;  // added so far, whatever the solver made of them

  // The empty clause makes everything Unsat.
  void add_clause(std::span<const Lit> clause);
  void add_clause(std::initializer_list<Lit> clause) { add_clause({clause.begin(), clause.end()}); }

  // Unknown if the budget expires first, or if the backend gave up for want of memory.
  SatResult solve(std::span<const Lit> assumptions, Budget& budget);
  SatResult solve(Budget& budget) { return solve({}, budget); }

  // In the model of the last solve(), whatever was added since. Requires: it answered Sat, and the
  // variable is older than that call.
  bool value(Lit lit) const;
  // Is the assumption part of the reason of the last Unsat? Requires: the last solve() answered
  // Unsat, `lit` was one of its assumptions, and nothing was added since.
  bool failed(Lit lit) const;

  // When it must guess the variable of `lit`, the solver makes `lit` true.
  void set_phase(Lit lit);

 private:
  struct Backend;
  std::unique_ptr<Backend> backend_;
};

}  // namespace isoscope

template <>
struct std::hash<isoscope::Lit> {
  std::size_t operator()(isoscope::Lit lit) const noexcept {
    return static_cast<std::size_t>(static_cast<std::uint32_t>(lit.dimacs()));
  }
};
