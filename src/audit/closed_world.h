#pragma once
// Looks for a run in which given functions form a cycle: the model becomes a scenario.
//
// A closed world has the instances of the cycle and a prefix of calls visible to all others. Tables
// with INSERTs start empty, so rows in them come from the prefix. Which calls it needs is found
// from the other end: the cycle is asked for with every such table assumed empty; where that is
// impossible, the solver names tables whose emptiness is to blame, and a call that inserts into
// one of them joins the prefix.
#include <optional>
#include <vector>

#include "audit/open_world.h"
#include "audit/scenario.h"

namespace isoscope::audit {

inline constexpr std::size_t kMaxPrefix = 3;

// The kinds of the edges of a cycle: from function i to function i+1, and back to the first.
using Kinds = std::vector<EdgeKind>;

class ClosedWorld {
 public:
  // For a cycle through these functions, in this order.
  // Building it ends with the budget, as everything else that makes formulas: by SmtStopped.
  ClosedWorld(const Problem& problem, std::span<const sql::FunctionId> cycle,
              std::span<const sql::FunctionId> prefix, Budget& budget);

  // A run with the cycle, all tables with INSERTs empty at the start (unless rows_at_start). With
  // Unsat, blamed() are tables that would have to have rows.
  SmtResult find(Budget& budget);
  const std::vector<sql::TableId>& blamed() const { return blamed_; }
  // After Sat. Small arguments and larger values at the start, where such ones do: then most
  // conditions hold in a serial order too, and what differs is the interleaving.
  Scenario scenario();
  Kinds kinds();
  // Never again: this run; any run with this visibility and arbitration; any run whose edges have
  // these kinds.
  void exclude_model();
  void exclude_shape();
  void exclude_kinds(const Kinds& kinds);

  const Effort& effort() const { return effort_; }

 private:
  std::vector<SmtTerm> shape();
  sql::Value value_of(const SymValue& value, sql::Type type, const sql::Width& width);
  void add_rows(Scenario& scenario);
  std::vector<SmtTerm> digits_of_values();
  // Fresh values as the run will draw them, so that other calls can be given them.
  std::vector<SmtTerm> numbers_drawn();
  std::int64_t first_fresh(Member member) const;
  // Formulas about arguments, and about values at the start, that make a run nice to read.
  std::vector<SmtTerm> small_arguments();
  std::vector<SmtTerm> room_at_start();

  const Problem& problem_;
  sql::Changes changes_;
  SmtSolver smt_;
  Symbols symbols_;
  World world_;
  Axioms axioms_;
  std::vector<Member> prefix_;
  std::vector<Member> cycle_;
  std::vector<Member> cast_;
  SmtLayers layers_;
  std::map<sql::TableId, SmtTerm> empty_;
  std::vector<std::int64_t> drawn_;  // what fresh values of the cast are
  std::vector<SmtTerm> wishes_;      // assumptions that are given up if need be
  std::vector<sql::TableId> blamed_;
  Effort effort_;
};

}  // namespace isoscope::audit
