#pragma once
// The loop of candidates and counterexamples in one scope.
//
//     Search search(query, budget);
//     while (search.next({}, budget) == SynthOutcome::Found) { …; search.circuit().require(…); }
//
// What has been learnt stays, so that further demands (fewer operations, other histories) go on
// from where the last answer left off.
//
// Paper    [Isolde-2026], Algorithm 1: cand, cex, and the learnt formulas L_i.
// Differs  A counterexample over vis, ar is an ar; the least vis is computed from it. Over co, snap
//          it is a co, in the same way. Levels that only force edges have no counterexamples.
#include <memory>
#include <span>
#include <vector>

#include "synth/decode.h"
#include "synth/encode.h"

namespace isoscope::synthesis {

// An error if the scope makes no sense.
Result<void> check_scope(const SynthQuery& query);
// Which inputs the query asks for.
Frame frame_of(const SynthQuery& query);
// How many keys a search of so many transactions has if the query states none: as many as there are
// transactions, one more if their number grows; and as many as the axioms name.
int open_keys(const SynthQuery& query, int txns);
// Do the allowed levels of the query let a transaction read a key from T0 and from another one,
// though no axiom of the query speaks of two reads of a key? Then a forbidden level may still
// forbid just that: over vis, ar the framework does, over co many axioms together. Such histories
// are searched where there are no others, so that those found for most levels read a key once.
bool may_repeat_reads(const SynthQuery& query, Budget& budget);
// The scope of the query, with what a search of it adds. Requires: txns and keys are stated.
Scope told_scope(const SynthQuery& query);

// A history that the search believes in, with the witnesses of the allowed levels.
struct Proposal {
  Candidate candidate;
  std::vector<FoundWitness> witnesses;
};

class Search {
 public:
  // Requires: check_scope(query); the levels of the query outlive the search. With `all_names`,
  // keys may be named in any order.
  Search(const SynthQuery& query, Budget& budget, bool all_names = false);
  ~Search();

  // The next history that meets all demands made so far, under assumptions.
  SynthOutcome next(std::span<const Signal> assumptions, Budget& budget);

  // What the last next() found. Requires: Found, and no call of next() since.
  Proposal proposal() const;

  // After None of a query that asks for it: why there is none.
  Result<ScopeRefutation> refutation(Budget& budget) const;

  Circuit& circuit() { return circuit_; }
  const Facts& facts() const { return facts_; }
  const Frame& frame() const { return facts_.frame(); }
  void add_stats(Stats& stats) const;

 private:
  class Refuter;  // looks for an execution of a candidate
  struct Forbidden {
    LevelShape shape;
    std::unique_ptr<Refuter> refuter;  // null: settled without counterexamples
  };

  void allow(const SynthQuery& query);
  void forbid(const Level& level, Budget& budget);
  void seed(const LevelShape& shape);
  void seed_extensions(const LevelShape& shape);
  void require_failure_along(const LevelShape& shape, const Matrix& order);
  void learn(const LevelShape& shape, const FoundWitness& counterexample);

  // What the clauses that follow stand for, in the log: the level fails with `witness`.
  void because_forbidden(const LevelShape& shape, std::string_view witness);

  const SynthQuery query_;
  std::unique_ptr<ClauseLog> log_;
  Circuit circuit_;
  Facts facts_;
  Grounder grounder_;
  std::vector<SymbolicWitness> allowed_;
  std::vector<Forbidden> forbidden_;
  // Forced edges that must have a cycle. Required once the few clauses of the seeds have not been
  // enough, as they are where the allowed level implies the forbidden one.
  std::vector<Signal> deferred_;
  Candidate candidate_;
  std::size_t candidates_ = 0;
  std::size_t counterexamples_ = 0;
};

// Decodes a proposal, and has it checked: each witness by the evaluator, and the history at each
// level by check(). An Error says who disagrees.
Result<SynthFound> conclude(const SynthQuery& query, const Frame& frame, const Proposal& proposal,
                            Budget& budget);

}  // namespace isoscope::synthesis
