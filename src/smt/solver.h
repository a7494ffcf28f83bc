#pragma once
// A narrow door to an SMT solver: sorts, uninterpreted functions, whole numbers, quantified
// formulas; is a set of formulas satisfiable?
//
//     SmtSolver smt;
//     const SmtSort txn = smt.new_sort("Txn");
//     const SmtFunction co = smt.new_predicate("co", {txn, txn});
//     const SmtTerm total = smt.forall({txn, txn}, [&](auto t) {
//       return equals(t[0], t[1]) || co(t[0], t[1]) || co(t[1], t[0]);
//     });
//     if (smt.check({total, !total}, {}, budget) == SmtResult::Unsat) …
//
// Who asks many questions about nearly the same formulas, or wants a model, opens SmtLayers.
//
// Terms belong to the solver that made them. Uninterpreted sorts have at least one element, of any
// number, even infinitely many: who speaks of finite or of empty sets says so in formulas.
//
// Quantified formulas are undecidable, so an answer may be Unknown. The effort is bounded by a
// count of the backend's steps, not by a clock: the same question gets the same answer on any
// machine, unless the budget expires first.
//
// Building formulas may take longer than solving them. stop_with() makes it end with a budget: the
// builder is left by an exception, because half a formula says something else than the whole.
//
// Backend  Z3 4.8 (de Moura, Bjørner), known to solver.cpp alone. Its exceptions end there: a
//          question that Z3 cannot take gets the answer Unknown.
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/budget.h"

namespace isoscope {

class SmtSolver;

// What the sort of numbers holds, in all formulas of a solver. A formula without quantifiers that
// no real numbers satisfy is satisfied by no whole ones: who has both may take the real ones.
enum class SmtNumbers : std::uint8_t { Whole, Real };

enum class SmtResult : std::uint8_t { Sat, Unsat, Unknown };

// Thrown by whatever makes a term when the budget of SmtSolver::stop_with() is over, and by models
// of an interrupted backend. The solver cannot be used again: every check() of it answers Unknown.
struct SmtStopped {};

struct SmtSort {
  std::uint32_t index = 0;  // 0 is the sort of formulas, 1 that of numbers
  friend bool operator==(SmtSort, SmtSort) = default;
};

// A term or, if its sort is that of formulas, a formula; equal terms have equal handles. The
// default one is no term.
struct SmtTerm {
  SmtSolver* solver = nullptr;
  std::uint32_t index = 0;
};

// The logical connectives; neither side of && and || is evaluated, so nothing is lost.
SmtTerm operator!(SmtTerm a);
SmtTerm operator&&(SmtTerm a, SmtTerm b);
SmtTerm operator||(SmtTerm a, SmtTerm b);
SmtTerm implies(SmtTerm a, SmtTerm b);
SmtTerm iff(SmtTerm a, SmtTerm b);
SmtTerm equals(SmtTerm a, SmtTerm b);  // of terms of one sort
SmtTerm all_of(SmtSolver& solver, std::span<const SmtTerm> formulas);
SmtTerm any_of(SmtSolver& solver, std::span<const SmtTerm> formulas);
SmtTerm choose(SmtTerm condition, SmtTerm yes, SmtTerm no);  // of terms of one sort

// Numbers.
SmtTerm operator+(SmtTerm a, SmtTerm b);
SmtTerm operator-(SmtTerm a, SmtTerm b);
SmtTerm operator*(std::int64_t factor, SmtTerm a);
SmtTerm operator<(SmtTerm a, SmtTerm b);
SmtTerm operator<=(SmtTerm a, SmtTerm b);

// An uninterpreted function or predicate. Applied to terms of its sorts it is a term.
struct SmtFunction {
  SmtSolver* solver = nullptr;
  std::uint32_t index = 0;

  SmtTerm operator()(std::span<const SmtTerm> arguments) const;
  template <std::same_as<SmtTerm>... Terms>
  SmtTerm operator()(Terms... arguments) const {
    const SmtTerm list[] = {arguments...};
    return (*this)(std::span<const SmtTerm>(list));
  }
};

struct SmtLimits {
  // Of Z3's resource counter; a million are a fraction of a second. 0: no limit.
  unsigned steps = 0;
};

class SmtSolver {
 public:
  explicit SmtSolver(SmtNumbers numbers = SmtNumbers::Whole);
  ~SmtSolver();
  SmtSolver(const SmtSolver&) = delete;
  SmtSolver& operator=(const SmtSolver&) = delete;

  static constexpr SmtSort kBool{0};
  static constexpr SmtSort kInt{1};  // of numbers: see SmtNumbers

  // From now on terms are made only until the budget is over, then SmtStopped is thrown.
  // Requires: the budget outlives the solver.
  void stop_with(Budget& budget);
  // Throws, if the budget is over: for loops that look at much before they make a term. `work` is
  // how much it was, in terms.
  void go_on(std::size_t work = 1);

  // Each call makes a new thing; names are for people who read what text() prints.
  SmtSort new_sort(std::string_view name);
  SmtFunction new_function(std::string_view name, std::span<const SmtSort> from, SmtSort to);
  SmtFunction new_predicate(std::string_view name, std::initializer_list<SmtSort> from) {
    return new_function(name, {from.begin(), from.size()}, kBool);
  }
  SmtTerm new_constant(std::string_view name, SmtSort sort);

  SmtTerm truth(bool value);
  SmtTerm number(std::int64_t value);
  // 1.5, of real numbers; among whole ones it is none, and every check() answers Unknown.
  SmtTerm decimal(const std::string& digits);
  bool has_real_numbers() const;
  SmtTerm is_whole(SmtTerm number);
  // a times b if one of them is a constant, a fraction perhaps.
  std::optional<SmtTerm> product(SmtTerm a, SmtTerm b);
  // What is known without asking: nothing if the term is no constant.
  std::optional<bool> known_truth(SmtTerm formula) const;
  std::optional<std::int64_t> known_number(SmtTerm term) const;

  // For all, or for some, values of variables of these sorts, what `body` says about them.
  using Body = std::function<SmtTerm(std::span<const SmtTerm>)>;
  SmtTerm forall(std::span<const SmtSort> sorts, const Body& body);
  SmtTerm forall(std::initializer_list<SmtSort> sorts, const Body& body) {
    return forall(std::span<const SmtSort>(sorts.begin(), sorts.size()), body);
  }
  SmtTerm exists(std::span<const SmtSort> sorts, const Body& body);
  SmtTerm exists(std::initializer_list<SmtSort> sorts, const Body& body) {
    return exists(std::span<const SmtSort>(sorts.begin(), sorts.size()), body);
  }

  // Is there a structure in which all the formulas are true? Unsat is a proof that there is none;
  // Unknown if the limits, the budget or the backend end first.
  SmtResult check(std::span<const SmtTerm> formulas, SmtLimits limits, Budget& budget);
  SmtResult check(std::initializer_list<SmtTerm> formulas, SmtLimits limits, Budget& budget) {
    return check(std::span<const SmtTerm>(formulas.begin(), formulas.size()), limits, budget);
  }

  // The formulas in SMT-LIB, to look at or to give to another solver.
  std::string text(std::span<const SmtTerm> formulas);
  // Its parts, for who writes a script: a formula, and the sorts and functions that some mention,
  // a line each.
  std::string text(SmtTerm formula);
  std::string declarations(std::span<const SmtTerm> formulas);

 private:
  friend struct SmtFunction;
  friend SmtTerm operator!(SmtTerm);
  friend SmtTerm operator&&(SmtTerm, SmtTerm);
  friend SmtTerm operator||(SmtTerm, SmtTerm);
  friend SmtTerm implies(SmtTerm, SmtTerm);
  friend SmtTerm iff(SmtTerm, SmtTerm);
  friend SmtTerm equals(SmtTerm, SmtTerm);
  friend SmtTerm all_of(SmtSolver&, std::span<const SmtTerm>);
  friend SmtTerm any_of(SmtSolver&, std::span<const SmtTerm>);
  friend SmtTerm choose(SmtTerm, SmtTerm, SmtTerm);
  friend SmtTerm operator+(SmtTerm, SmtTerm);
  friend SmtTerm operator-(SmtTerm, SmtTerm);
  friend SmtTerm operator*(std::int64_t, SmtTerm);
  friend SmtTerm operator<(SmtTerm, SmtTerm);
  friend SmtTerm operator<=(SmtTerm, SmtTerm);
  friend class SmtLayers;

  enum class Connective : std::uint8_t {
    Not,
    And,
    Or,
    Implies,
    Iff,
    Equals,
    Add,
    Subtract,
    Less,
    LessEqual
  };
  SmtTerm connect(Connective connective, SmtTerm a, SmtTerm b);
  SmtTerm quantify(bool for_all, std::span<const SmtSort> sorts, const Body& body);

  struct Backend;
  std::unique_ptr<Backend> backend_;
};

// Formulas in layers: those of the top layer can be taken back. Keeps what the backend learns
// between questions, and has models.
class SmtLayers {
 public:
  explicit SmtLayers(SmtSolver& solver);
  ~SmtLayers();
  SmtLayers(const SmtLayers&) = delete;
  SmtLayers& operator=(const SmtLayers&) = delete;

  void push();
  void pop();  // Requires: a push without its pop.
  void add(SmtTerm formula);

  // Can all formulas be true, and these assumptions (constants, or negated constants) with them?
  SmtResult check(std::span<const SmtTerm> assumptions, SmtLimits limits, Budget& budget);
  SmtResult check(SmtLimits limits, Budget& budget) { return check({}, limits, budget); }
  // After Unsat: positions of assumptions that suffice for it.
  const std::vector<std::size_t>& core() const;
  // After Sat, until the next change: what the model says. A number beyond 64 bits is cut off, and
  // so is what stands behind the point. Throw SmtStopped if the backend was interrupted.
  bool holds(SmtTerm formula);
  std::int64_t number(SmtTerm term);

 private:
  struct State;
  SmtSolver& solver_;
  std::unique_ptr<State> state_;
};

}  // namespace isoscope
