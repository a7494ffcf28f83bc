#pragma once
// One attempt at a proof: a stronger level, a weaker one, and how to make the witness. See
// synth/proof.h.
//
// The goals are the demands of the weaker level on the constructed witness. What helps are lemmas:
// inclusions of least relations (closures, the least visibility) in others. They are tried first,
// and what follows is a fact for the goals. What fails is tried once more with greater effort.
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spec/level.h"
#include "synth/proof.h"
#include "synth/proof_horn.h"
#include "synth/proof_translate.h"

namespace isoscope {

class ProofSearch {
 public:
  // Requires: the construction fits the frameworks; levels and budget outlive the search. For a
  // linear extension, `acyclic` is one of acyclic_relations(a). `statements`: which histories
  // count.
  ProofSearch(const Level& a, const Level& b, Construction construction, Budget& budget,
              const RelationExpr* acyclic = nullptr,
              StatementShape statements = StatementShape::Any);

  // Of Z3's counter. Nearly all that follows does so within the first of these efforts.
  static constexpr std::array<unsigned, 2> kEfforts = {50'000, 500'000};

  // Did all goals follow? With one effort, or with all of them in turn.
  bool run(std::size_t effort);
  bool run();
  // Not worth another effort.
  bool is_hopeless() const { return is_hopeless_; }
  // Is what is assumed contradictory as soon as a transaction reads from another one but T0?
  bool is_vacuous();
  std::size_t queries() const { return queries_; }

  // What was shown, in the order in which each may rest on those before it.
  struct Step {
    std::string words;             // what is claimed, for people
    SmtTerm failure;               // contradicts the facts and the claims of earlier steps
    std::optional<SmtTerm> claim;  // of a lemma: a fact for the later steps
    bool unrolls = false;          // with the unrollings among the facts
  };
  const std::vector<Step>& steps() const { return steps_; }
  // What was assumed from the start, and not because a step showed it.
  std::span<const SmtTerm> assumptions() const { return {theory_.facts().data(), assumed_facts_}; }

  // What is asserted about the stronger level, for tests.
  ProofTheory& theory() { return theory_; }
  const std::vector<SmtTerm>& unrollings() const { return translator_.unrollings(); }
  SmtSolver& smt() { return smt_; }

 private:
  struct Goal {
    std::string words;
    SmtTerm formula;
    bool is_about_extension = false;  // that a linear extension is an order for levels at all
  };
  // An upper bound of a closure, for the values of its key variables.
  struct KeyedRelation {
    std::string name;
    std::function<SmtTerm(std::span<const SmtTerm> keys, SmtTerm, SmtTerm)> holds;
  };
  // Follows from the facts unless `failure` is possible; then `claim` is a fact.
  struct Lemma {
    std::string words;
    SmtTerm failure;
    SmtTerm claim;
  };
  void assume_stronger();
  void define_extension(const RelationExpr& acyclic);
  void define_least_vis();
  void define_least_snap();
  void add_goals();
  void add_lemmas();
  void add_inclusions();
  Lemma closure_lemma(const Closure& closure, const KeyedRelation& upper);
  Lemma least_vis_lemma(const Visibility& upper);
  std::vector<Visibility> upper_bounds();
  // Of snapshots.
  struct SnapBound {
    std::string name;
    SnapRelation holds;
  };
  // What least snapshots contain and are closed under, said of a relation: the framework's part.
  SmtTerm contains_reads(const SnapRelation& snap);
  SmtTerm is_closed(const SnapRelation& premise, const SnapRelation& conclusion);
  Lemma least_snap_lemma(const SnapBound& upper);
  std::vector<SnapBound> snap_bounds(const std::vector<Visibility>& of_txns);
  void add_mentioned(const Formula& f, std::vector<Visibility>& bounds);

  // Does it contradict the facts, and the unrollings if they are used?
  bool is_impossible(SmtTerm formula, unsigned steps, bool unroll);
  void prove_goals(unsigned steps, bool unroll);
  void prove_lemmas(unsigned steps, bool unroll);

  // Does the construction make its own vis, or its own snapshots?
  bool has_least_vis() const {
    return construction_ == Construction::LeastVisibility ||
           construction_ == Construction::ExtendedLeastVisibility;
  }
  bool has_least_snap() const {
    return construction_ == Construction::LeastSnapshots ||
           construction_ == Construction::ExtendedLeastSnapshots;
  }

  const Level& a_;
  const Level& b_;
  Construction construction_;
  Budget& budget_;
  std::size_t queries_ = 0;

  SmtSolver smt_;
  ProofTheory theory_;
  ProofTranslator translator_;
  Visibility assumed_;      // A's vis, order and snapshots
  Visibility constructed_;  // B's
  std::vector<Goal> goals_;
  bool is_hopeless_ = false;
  std::vector<Lemma> lemmas_;
  std::vector<Step> steps_;
  std::size_t assumed_facts_ = 0;
};

// What prove_implies() answers, with the attempt that did it; null unless Proved.
struct FoundProof {
  ProofAnswer answer;
  std::unique_ptr<ProofSearch> search;
};
FoundProof find_proof(const Level& a, const Level& b, Budget& budget,
                      StatementShape statements = StatementShape::Any);

}  // namespace isoscope
