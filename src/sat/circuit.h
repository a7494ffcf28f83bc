#pragma once
// Boolean circuits over a SAT solver: formulas are built as gates, and only what is required
// becomes clauses.
//
//     Circuit c;
//     const Signal a = c.input(), b = c.input();
//     c.require(c.iff(a, !b));
//     if (c.solve({}, budget) == SatResult::Sat) ISO_ASSERT(c.value(a) != c.value(b));
//
// A signal is a node or its negation. There is one kind of gate, the conjunction of any number of
// signals; a disjunction is a negated conjunction of negated signals. Constants fold away, the
// inputs of a gate are a sorted set, and equal gates are one node, so that whoever builds a
// formula twice pays once.
//
// Clauses come late: require() follows a signal down to the inputs and defines each gate only in
// the direction in which it is used (if the gate is true, so are its inputs; or, if it is false,
// one of them is). A gate that is not required costs no clause.
//
// Paper    [PlaistedGreenbaum-JSC'86]: definitions by polarity; [Tseitin-1968]: one variable for
//          each gate.
// Cost     O(k log k) for a gate of k inputs; 4 bytes an input, about 20 a gate; every gate is
//          turned into clauses at most once in each direction.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "sat/clause_log.h"
#include "sat/solver.h"

namespace isoscope {

// A node of one circuit, or its negation. The default one is the constant true.
class Signal {
 public:
  constexpr Signal() = default;
  static constexpr Signal constant(bool value) { return Signal(value ? 0U : 1U); }

  constexpr Signal operator!() const { return Signal(code_ ^ 1U); }
  constexpr bool is_true() const { return code_ == 0; }
  constexpr bool is_false() const { return code_ == 1; }
  constexpr bool is_constant() const { return code_ <= 1; }
  friend constexpr auto operator<=>(Signal, Signal) = default;

 private:
  friend class Circuit;
  constexpr explicit Signal(std::uint32_t code) : code_(code) {}
  constexpr std::uint32_t node() const { return code_ >> 1U; }
  constexpr bool is_negated() const { return (code_ & 1U) != 0; }

  std::uint32_t code_ = 0;  // node << 1 | negated; node 0 is true
};

inline constexpr Signal kTrue = Signal::constant(true);
inline constexpr Signal kFalse = Signal::constant(false);

class Circuit {
 public:
  Circuit();

  // Turning a large circuit into clauses takes time too: once this budget expires, require() gives
  // up half way, and solve() answers Unknown for good. The budget outlives the circuit.
  void watch(Budget& budget) { budget_ = &budget; }
  // The same, and once the budget expires no gates are made any more: conj() and disj() then return
  // constants, so that a long construction comes to its end. For those who look at nothing but what
  // solve() answers.
  void watch_gates(Budget& budget) {
    budget_ = &budget;
    watches_gates_ = true;
  }

  // Writes down all clauses that follow, for a certificate. Requires: nothing was made yet; the log
  // outlives the circuit.
  void record(ClauseLog& log) { log_ = &log; }
  // Words for the log, made only if there is one: why what is required next is required; what an
  // input means; that a model was looked at.
  template <class Words>
  void because(const Words& words) {
    if (log_ != nullptr) log_->because(words());
  }
  template <class Words>
  void name(Signal input, const Words& words) {
    if (log_ != nullptr) log_->name(nodes_[input.node()].lit, words());
  }
  // The number of an input's variable in DIMACS.
  std::int32_t variable_of(Signal input) const { return nodes_[input.node()].lit.dimacs(); }
  void next_round() {
    if (log_ != nullptr) log_->next_round();
  }

  // A fresh variable. When the solver must guess it, it tries `first_guess` first.
  Signal input();
  Signal input(bool first_guess);

  Signal conj(std::span<const Signal> signals);
  Signal conj(std::initializer_list<Signal> signals) { return conj(span_of(signals)); }
  Signal disj(std::span<const Signal> signals);
  Signal disj(std::initializer_list<Signal> signals) { return disj(span_of(signals)); }
  Signal iff(Signal a, Signal b);
  Signal implies(Signal a, Signal b) { return disj({!a, b}); }

  // From now on the signal is true; of a disjunction, that is one clause, of a conjunction its
  // parts. Requiring it again adds nothing.
  void require(Signal s);
  // One of them is true.
  void require_any(std::span<const Signal> signals) { require(disj(signals)); }
  void require_any(std::initializer_list<Signal> signals) { require(disj(signals)); }

  // As SatSolver's, in signals. An assumed gate is defined first.
  SatResult solve(std::span<const Signal> assumptions, Budget& budget);
  SatResult solve(std::initializer_list<Signal> assumptions, Budget& budget) {
    return solve(span_of(assumptions), budget);
  }
  // In the model of the last solve(). Of an input O(1), and the input must be older than that
  // call; of a gate it is computed from the inputs below it in O(nodes), because the solver's
  // variable of a gate means the gate only in the directions that were defined.
  bool value(Signal s) const;
  // Was the assumption part of the reason of the last Unsat? A constant false one is.
  // Requires: as SatSolver::failed.
  bool failed(Signal assumption) const;

  bool is_input(Signal s) const { return !s.is_constant() && nodes_[s.node()].size == 0; }
  std::size_t num_gates() const { return gates_; }
  std::size_t num_clauses() const { return solver_.num_clauses(); }
  std::size_t num_vars() const { return solver_.num_vars(); }

 private:
  struct Node {
    std::uint32_t begin = 0;   // of a gate: its inputs in inputs_
    std::uint32_t size = 0;    // 0 for the constant and for inputs
    Lit lit;                   // of an input at once, of a gate when it is first defined
    std::uint8_t defined = 0;  // kWhenTrue, kWhenFalse
    bool required_true = false;
    bool required_false = false;
  };
  static constexpr std::uint8_t kWhenTrue = 1;
  static constexpr std::uint8_t kWhenFalse = 2;

  static std::span<const Signal> span_of(std::initializer_list<Signal> signals) {
    return {signals.begin(), signals.size()};
  }
  std::span<const Signal> inputs_of(const Node& node) const {
    return {inputs_.data() + node.begin, node.size};
  }
  // The gate of scratch_, found or made.
  Signal gate_of_scratch();
  void grow_table();
  static std::uint64_t hash_of(std::span<const Signal> sorted);
  std::uint32_t& slot_of(std::span<const Signal> sorted);
  // A literal whose truth forces the signal. Requires: not a constant.
  Lit literal(Signal s);
  Lit literal_of_node(Signal s);
  void define(Signal s);
  void record_gate(Signal gate);
  void add_definition(std::span<const Lit> clause);
  void add_demand(std::span<const Lit> clause);

  SatSolver solver_;
  ClauseLog* log_ = nullptr;
  std::vector<Node> nodes_;
  std::vector<Signal> inputs_;        // of all gates, one after the other
  std::vector<std::uint32_t> table_;  // gates by hash of their inputs; 0 is free
  std::size_t gates_ = 0;
  std::vector<Signal> scratch_;
  std::vector<Signal> pending_;  // gates still to be defined, with the direction
  std::vector<Lit> clause_;
  Budget* budget_ = nullptr;
  bool watches_gates_ = false;
  bool cut_short_ = false;   // a definition is incomplete, or a gate is missing
  bool impossible_ = false;  // the last solve() was asked to assume the constant false
};

}  // namespace isoscope
