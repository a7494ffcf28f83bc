#pragma once
// One attempt at a proof: a stronger level, a weaker one, and how to make the witness. See
// synth/proof.h.
//
// The goals are the demands of the weaker level on the constructed witness. What helps are lemmas:
// inclusions of least relations (closures, the least visibility) in others. They are tried first,
// and what follows is a fact for the goals. What fails is tried once more with greater effort.
#include <string>
#include <vector>

#include "spec/level.h"
#include "synth/proof.h"
#include "synth/proof_horn.h"
#include "synth/proof_translate.h"

namespace isoscope {

class ProofSearch {
 public:
  // Requires: the construction fits the frameworks; levels and budget outlive the search.
  ProofSearch(const Level& a, const Level& b, Construction construction, Budget& budget);

  // Did all goals follow?
  bool run();
  // Is what is assumed contradictory as soon as a transaction reads from another one but T0?
  bool is_vacuous();
  std::size_t queries() const { return queries_; }

  // What is asserted about the stronger level, for tests.
  ProofTheory& theory() { return theory_; }
  const std::vector<SmtTerm>& unrollings() const { return translator_.unrollings(); }
  SmtSolver& smt() { return smt_; }

 private:
  // Follows from the facts unless `failure` is possible; then `claim` is a fact.
  struct Lemma {
    SmtTerm failure;
    SmtTerm claim;
  };
  void assume_stronger();
  void define_least_vis();
  void add_goals();
  void add_lemmas();
  Lemma closure_lemma(const Closure& closure, const TxnRelation& upper);
  Lemma least_vis_lemma(const Visibility& upper);
  std::vector<Visibility> upper_bounds();
  void add_mentioned(const Formula& f, std::vector<Visibility>& bounds);

  // Does it contradict the facts, and the unrollings if they are used?
  bool is_impossible(SmtTerm formula, unsigned steps, bool unroll);
  void prove_goals(unsigned steps, bool unroll);
  void prove_lemmas(unsigned steps);

  const Level& a_;
  const Level& b_;
  Construction construction_;
  Budget& budget_;
  std::size_t queries_ = 0;

  SmtSolver smt_;
  ProofTheory theory_;
  ProofTranslator translator_;
  Visibility assumed_;      // A's vis
  Visibility constructed_;  // B's vis
  std::vector<SmtTerm> goals_;
  std::vector<Lemma> lemmas_;
};

}  // namespace isoscope
