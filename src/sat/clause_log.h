#pragma once
// The clauses of a search, each with its reason, and a proof that they contradict each other.
//
// A search that ends with "no solution" has given its solver clauses one after the other: what it
// knew at the start, and what it learnt from each model that did not serve (a cycle in an order, a
// candidate that was refuted). With a log beside its circuit it can say afterwards
//
//     what each variable means      in words, or as the conjunction of other literals (a gate)
//     why each clause was added     in words; the definition of a gate is its own reason
//     that no assignment is left    a DRAT proof, of a solver that sees all clauses from the start
//
// so that a reader has to believe the reasons, which can be looked up one by one, and the proof,
// which any checker of DRAT verifies. The proof is made by a second run of the backend without
// assumptions and increments: it is one for a plain file in DIMACS.
//
// Paper  [WetzlerHeuleHunt-SAT'14]: clauses by unit propagation (RUP), and those that a resolution
//        on their first literal allows (RAT).
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sat/solver.h"

namespace isoscope {

class ClauseLog {
 public:
  struct Clause {
    std::vector<Lit> literals;
    std::uint32_t reason = 0;  // into reasons(); kDefinition
    std::uint32_t round = 0;   // how many models had been looked at before
  };
  // `output` is true iff all inputs are. The clauses may state one direction only.
  struct Gate {
    Lit output;
    std::vector<Lit> inputs;
  };
  static constexpr std::uint32_t kDefinition = 0;

  // Of the clauses that follow, until the next call.
  void because(std::string reason);
  void add(std::span<const Lit> clause) { add(clause, current_); }
  // A clause that states one direction of a gate.
  void add_definition(std::span<const Lit> clause) { add(clause, kDefinition); }
  void name(Lit variable, std::string words);
  // Once for each output, whatever is asked again.
  void define(Lit output, std::vector<Lit> inputs);
  // A model was looked at: what follows is added on the way.
  void next_round() { ++round_; }

  const std::vector<Clause>& clauses() const { return clauses_; }
  const std::vector<Gate>& gates() const { return gates_; }
  const std::string& reason(const Clause& clause) const { return reasons_[clause.reason]; }
  const std::map<std::int32_t, std::string>& names() const { return names_; }
  std::size_t num_vars() const { return static_cast<std::size_t>(vars_); }

 private:
  void add(std::span<const Lit> clause, std::uint32_t reason);
  void see(Lit lit) { vars_ = std::max(vars_, lit.variable() + 1); }

  std::vector<Clause> clauses_;
  std::vector<Gate> gates_;
  std::set<std::int32_t> defined_;
  std::map<std::int32_t, std::string> names_;  // by variable
  std::vector<std::string> reasons_ = {"definition"};
  std::uint32_t current_ = kDefinition;
  std::uint32_t round_ = 0;
  std::int32_t vars_ = 0;
};

// The clauses as DIMACS: the number of variables and clauses, then a clause a line.
std::string dimacs(const ClauseLog& log);

// A proof in DRAT, as text: a clause a line that follows, `d` before those that are no longer
// needed, the empty clause at the end. Nothing if the budget ends first, or if the clauses do not
// contradict each other.
std::optional<std::string> drat_proof(const ClauseLog& log, Budget& budget);

}  // namespace isoscope
