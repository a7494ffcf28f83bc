#include "synth/proof_search.h"

#include <fmt/format.h>

#include <algorithm>

#include "spec/levels.h"
#include "spec/print.h"
#include "synth/acyclic.h"

namespace isoscope {

namespace {

constexpr unsigned kVacuitySteps = 100'000;

ProofSubject subject_of(const Level& a, const Level& b, StatementShape shape) {
  return {.reads = mentions_reads(a) || mentions_reads(b),
          .statements = speaks_of_statements(a) || speaks_of_statements(b),
          .real_time = a.uses_real_time || b.uses_real_time,
          .shape = shape};
}

SmtTerm translated(const Axiom& axiom, ProofTranslator& translator, const Visibility& vis) {
  ProofTranslator::Environment env(static_cast<std::size_t>(axiom.slots));
  return translator.translate(*axiom.formula, env, vis);
}

}  // namespace

ProofSearch::ProofSearch(const Level& a, const Level& b, Construction construction, Budget& budget,
                         const RelationExpr* acyclic, StatementShape statements)
    : a_(a),
      b_(b),
      construction_(construction),
      budget_(budget),
      theory_(smt_, subject_of(a, b, statements)),
      translator_(theory_),
      assumed_{"vis",
               [this](SmtTerm s, SmtTerm t) { return theory_.vis(s, t); },
               "order",
               [this](SmtTerm s, SmtTerm t) { return theory_.order(s, t); },
               "snap",
               [this](SmtTerm t, SmtTerm r) { return theory_.snap(t, r); },
               a.framework == Framework::CoSnap},
      constructed_(assumed_) {
  constructed_.has_own_reads = b.framework == Framework::CoSnap;
  assume_stronger();
  if (acyclic != nullptr) define_extension(*acyclic);
  if (has_least_vis()) define_least_vis();
  if (has_least_snap()) define_least_snap();
  theory_.begin("closures that the steps mention contain what they close, and are transitive");
  add_goals();
  add_lemmas();
  assumed_facts_ = theory_.facts().size();
}

void ProofSearch::assume_stronger() {
  theory_.begin(
      fmt::format("what {} says of its witness, and closures that it mentions", a_.full_name()));
  for (const auto& demand : theory_.demands(a_, assumed_.relation, assumed_.order, assumed_.snap))
    theory_.add(demand.formula);
  for (const Axiom& axiom : a_.axioms) theory_.add(translated(axiom, translator_, assumed_));
}

// L stands for a strict total order that contains the acyclic relation. There is one, because a
// history has finitely many transactions. That T0 comes first in it is not certain, and neither is
// that it contains a known version order of some key, as A's order does; both are goals. Of the
// latter, that L contains ww: a known version order relates writers of a key in the way in which
// A's order does.
void ProofSearch::define_extension(const RelationExpr& acyclic) {
  const SmtSort txn = theory_.sort(Sort::Txn);
  const SmtFunction l = smt_.new_predicate("extension", {txn, txn});
  constructed_.order_name = "extension";
  theory_.begin("the extension: a strict total order that contains the acyclic relation");
  constructed_.order = [l](SmtTerm s, SmtTerm t) { return l(s, t); };
  for (SmtTerm fact : theory_.total_order(constructed_.order)) theory_.add(fact);
  for (SmtTerm clause : translator_.included(acyclic, assumed_, constructed_.order))
    theory_.add(clause);
  goals_.push_back(
      {"T0 is first in the extension", theory_.begins_with_t0(constructed_.order), true});
  const SmtTerm has_ww = smt_.forall({theory_.sort(Sort::Key), txn, txn}, [&](auto v) {
    return implies(
        theory_.writes(v[1], v[0]) && theory_.writes(v[2], v[0]) && theory_.order(v[1], v[2]),
        l(v[1], v[2]));
  });
  goals_.push_back({"the extension has the version orders", has_ww, true});
}

// V stands for the least relation that contains wr, contains so where B has session order, and
// obeys the Horn axioms of B. So it does these things.
void ProofSearch::define_least_vis() {
  const SmtSort txn = theory_.sort(Sort::Txn);
  const SmtFunction v = smt_.new_predicate("least_vis", {txn, txn});
  constructed_.name = "least_vis";
  theory_.begin("the least visibility: wr, so, and what the axioms conclude are in it");
  constructed_.relation = [v](SmtTerm s, SmtTerm t) { return v(s, t); };
  theory_.add(theory_.forall_txns(
      2, [&](auto t) { return implies(theory_.wr(t[0], t[1]), v(t[0], t[1])); }));
  if (b_.uses_session_order) {
    theory_.add(theory_.forall_txns(
        2, [&](auto t) { return implies(theory_.so(t[0], t[1]), v(t[0], t[1])); }));
  }
  for (const Axiom& axiom : b_.axioms) {
    if (is_horn(axiom))
      theory_.add(obeys(axiom, translator_, theory_, constructed_, constructed_.relation));
  }
}

void ProofSearch::add_goals() {
  for (const auto& demand :
       theory_.demands(b_, constructed_.relation, constructed_.order, constructed_.snap))
    goals_.push_back({demand.words, demand.formula});
  for (const Axiom& axiom : b_.axioms) {
    const bool by_definition = (has_least_vis() || has_least_snap()) && is_horn(axiom);
    if (by_definition) continue;
    goals_.push_back({fmt::format("axiom {} of {}", axiom.name, b_.full_name()),
                      translated(axiom, translator_, constructed_)});
  }
}

// The closure C of r is the least relation X with r ⊆ X and X ; r ⊆ X. If r ⊆ P, and what C ∩ P
// reaches by one more step of r is in P, then C ∩ P is such an X, so C ⊆ P.
ProofSearch::Lemma ProofSearch::closure_lemma(const Closure& closure, const KeyedRelation& upper) {
  const std::size_t n = closure.keys.size();
  const SmtSort element = theory_.sort(closure.sort);
  std::vector<SmtSort> sorts = closure.keys;
  sorts.insert(sorts.end(), {element, element});
  const SmtTerm base = smt_.forall(sorts, [&](auto v) {
    return implies(closure.step(v.first(n), v[n], v[n + 1]),
                   upper.holds(v.first(n), v[n], v[n + 1]));
  });
  const SmtTerm claim = smt_.forall(sorts, [&](auto v) {
    return implies(closure.holds(v.first(n), v[n], v[n + 1]),
                   upper.holds(v.first(n), v[n], v[n + 1]));
  });
  sorts.push_back(element);
  const SmtTerm step = smt_.forall(sorts, [&](auto v) {
    return implies(closure.holds(v.first(n), v[n], v[n + 1]) &&
                       upper.holds(v.first(n), v[n], v[n + 1]) &&
                       closure.step(v.first(n), v[n + 1], v[n + 2]),
                   upper.holds(v.first(n), v[n], v[n + 2]));
  });
  return {fmt::format("{} is in {}, by induction", closure.name, upper.name), !(base && step),
          claim};
}

// If wr (and so) are in P, and what B's Horn axioms conclude from V ∩ P is in P, then V ∩ P
// contains and obeys what V does; V is the least that does, so V ⊆ P. The premises of Horn axioms
// are monotone, which is why V exists.
ProofSearch::Lemma ProofSearch::least_vis_lemma(const Visibility& upper) {
  Visibility both = constructed_;
  both.name = "least_vis & " + upper.name;
  both.relation = [this, upper](SmtTerm s, SmtTerm t) {
    return constructed_.relation(s, t) && upper.relation(s, t);
  };
  SmtTerm inductive = theory_.forall_txns(
      2, [&](auto t) { return implies(theory_.wr(t[0], t[1]), upper.relation(t[0], t[1])); });
  if (b_.uses_session_order) {
    inductive = inductive && theory_.forall_txns(2, [&](auto t) {
      return implies(theory_.so(t[0], t[1]), upper.relation(t[0], t[1]));
    });
  }
  for (const Axiom& axiom : b_.axioms) {
    if (is_horn(axiom))
      inductive = inductive && obeys(axiom, translator_, theory_, both, upper.relation);
  }
  const SmtTerm claim = theory_.forall_txns(2, [&](auto t) {
    return implies(constructed_.relation(t[0], t[1]), upper.relation(t[0], t[1]));
  });
  return {fmt::format("the least visibility is in {}, by induction", upper.name), !inductive,
          claim};
}

void ProofSearch::add_mentioned(const Formula& f, std::vector<Visibility>& bounds) {
  if (f.op == FormulaOp::Member && f.relation->left != nullptr &&
      !mentions_key_variable(*f.relation) && !mentions_reads(*f.relation)) {
    const RelationExpr& r = *f.relation;
    bounds.push_back(
        {print(r),
         [this, &r](SmtTerm s, SmtTerm t) { return translator_.member(r, s, t, {}, assumed_); },
         {},
         {}});
  }
  if (f.left != nullptr) add_mentioned(*f.left, bounds);
  if (f.right != nullptr) add_mentioned(*f.right, bounds);
}

// Relations in which a least relation may be included. Which ones are tried decides what can be
// proved, and nothing else.
std::vector<Visibility> ProofSearch::upper_bounds() {
  std::vector<Visibility> bounds;
  bounds.push_back({"order", assumed_.order, {}, {}});
  if (constructed_.order_name != assumed_.order_name)
    bounds.push_back({constructed_.order_name, constructed_.order, {}, {}});
  if (a_.framework == Framework::VisAr) bounds.push_back(assumed_);
  for (const Axiom& axiom : a_.axioms) add_mentioned(*axiom.formula, bounds);
  if (a_.framework == Framework::CoSnap) {
    bounds.push_back({"all snapshots",
                      [this](SmtTerm s, SmtTerm t) {
                        return theory_.order(s, t) &&
                               smt_.forall({theory_.sort(Sort::Read)}, [&](auto r) {
                                 return implies(theory_.of(r[0], t), theory_.snap(s, r[0]));
                               });
                      },
                      {},
                      {}});
  }
  if (!has_least_vis() && !has_least_snap()) return bounds;

  // s may be shown to t: it comes before t, and before the writers from which t reads what s
  // writes too.
  const TxnRelation before = constructed_.order;
  const TxnRelation showable = [this, before](SmtTerm s, SmtTerm t) {
    return before(s, t) &&
           smt_.forall({theory_.sort(Sort::Key), theory_.sort(Sort::Txn)}, [&](auto v) {
             return implies(theory_.wr(v[0], v[1], t) && theory_.writes(s, v[0]),
                            equals(s, v[1]) || before(s, v[1]));
           });
  };
  bounds.push_back({"showable", showable, {}, {}});
  // The same for everything up to s: what snapshots are made of.
  bounds.push_back({"snapshot",
                    [this, showable, before](SmtTerm s, SmtTerm t) {
                      return showable(s, t) && theory_.forall_txns(1, [&](auto u) {
                        return implies(before(u[0], s), showable(u[0], t));
                      });
                    },
                    {},
                    {}});
  return bounds;
}

void ProofSearch::add_lemmas() {
  const std::vector<Visibility> bounds = upper_bounds();
  // Making the lemmas may mention further closures; those get lemmas too, in the order of mention.
  std::vector<Lemma> about_vis;
  if (has_least_vis()) {
    for (const Visibility& upper : bounds) about_vis.push_back(least_vis_lemma(upper));
    for (std::size_t i = 0; i < translator_.closures().size(); ++i) {
      const Closure closure = translator_.closures()[i];
      if (closure.sort != Sort::Txn || !closure.keys.empty()) continue;
      about_vis.push_back(
          least_vis_lemma({closure.name,
                           [closure](SmtTerm s, SmtTerm t) { return closure.holds({}, s, t); },
                           {},
                           {}}));
    }
  }
  if (has_least_snap()) {
    for (const SnapBound& upper : snap_bounds(bounds)) about_vis.push_back(least_snap_lemma(upper));
  }
  const auto keyless = [](std::string name, const TxnRelation& upper) -> KeyedRelation {
    return {std::move(name),
            [upper](std::span<const SmtTerm>, SmtTerm s, SmtTerm t) { return upper(s, t); }};
  };
  for (std::size_t i = 0; i < translator_.closures().size(); ++i) {
    const Closure closure = translator_.closures()[i];
    if (closure.sort == Sort::Read) {
      lemmas_.push_back(closure_lemma(
          closure, keyless("po", [this](SmtTerm r, SmtTerm s) { return theory_.po(r, s); })));
      continue;
    }
    for (const Visibility& upper : bounds)
      lemmas_.push_back(closure_lemma(closure, keyless(upper.name, upper.relation)));
    if (has_least_vis()) {
      lemmas_.push_back(
          closure_lemma(closure, keyless("the least visibility", constructed_.relation)));
    }
  }
  add_inclusions();
  lemmas_.insert(lemmas_.end(), about_vis.begin(), about_vis.end());
}

// Of closures in each other: r+ ⊆ (r | s)+, for whatever values the key variables have.
void ProofSearch::add_inclusions() {
  const std::vector<Closure> closures = translator_.closures();
  for (std::size_t i = 0; i < closures.size(); ++i) {
    for (std::size_t j = 0; j < closures.size(); ++j) {
      const Closure& upper = closures[j];
      const std::size_t keys = upper.keys.size();
      if (i == j || closures[i].sort != upper.sort) continue;
      if (keys != 0 && keys != closures[i].keys.size()) continue;
      const auto holds = [upper, keys](std::span<const SmtTerm> values, SmtTerm s, SmtTerm t) {
        return upper.holds(values.first(keys), s, t);
      };
      lemmas_.push_back(closure_lemma(closures[i], {upper.name, holds}));
    }
  }
}

bool ProofSearch::is_impossible(SmtTerm formula, unsigned steps, bool unroll) {
  ++queries_;
  std::vector<SmtTerm> formulas = theory_.facts();
  if (unroll) {
    const std::vector<SmtTerm>& more = translator_.unrollings();
    formulas.insert(formulas.end(), more.begin(), more.end());
  }
  formulas.push_back(formula);
  return smt_.check(formulas, {.steps = steps}, budget_) == SmtResult::Unsat;
}

void ProofSearch::prove_goals(unsigned steps, bool unroll) {
  std::erase_if(goals_, [&](const Goal& goal) {
    if (budget_.expired_now() || !is_impossible(!goal.formula, steps, unroll)) return false;
    steps_.push_back({goal.words, !goal.formula, {}, unroll});
    return true;
  });
}

// Lemmas may rest on each other, so they are tried until none is new.
void ProofSearch::prove_lemmas(unsigned steps, bool unroll) {
  for (bool has_news = true; has_news;) {
    has_news = false;
    std::erase_if(lemmas_, [&](const Lemma& lemma) {
      if (budget_.expired_now() || !is_impossible(lemma.failure, steps, unroll)) return false;
      theory_.add(lemma.claim);
      steps_.push_back({lemma.words, lemma.failure, lemma.claim, unroll});
      has_news = true;
      return true;
    });
  }
}

bool ProofSearch::run() {
  for (std::size_t effort = 0; effort < kEfforts.size(); ++effort) {
    if (run(effort)) return true;
  }
  return false;
}

bool ProofSearch::run(std::size_t effort) {
  const unsigned steps = kEfforts[effort];
  prove_lemmas(steps, false);
  prove_goals(steps, false);
  if (goals_.empty()) return true;
  // What an extension needs of its relation follows at once, or not at all.
  is_hopeless_ = std::any_of(goals_.begin(), goals_.end(),
                             [](const Goal& goal) { return goal.is_about_extension; });
  if (is_hopeless_ || translator_.unrollings().empty()) return false;
  prove_goals(steps, true);
  if (goals_.empty()) return true;
  // A closure in a closure is included in another one by its last step.
  if (translator_.closures().size() > 1) {
    prove_lemmas(steps, true);
    prove_goals(steps, true);
  }
  return goals_.empty();
}

// In a history of few elements the question is decidable; if the answer is no there, it is asked
// again without bounds.
bool ProofSearch::is_vacuous() {
  const SmtSort txn = theory_.sort(Sort::Txn);
  const SmtTerm t1 = smt_.new_constant("t1", txn);
  const SmtTerm t3 = smt_.new_constant("t3", txn);
  const SmtTerm some_read = theory_.wr(t1, t3) && !equals(t1, theory_.t0());
  const SmtTerm few = theory_.forall_txns(1, [&](auto t) {
    return equals(t[0], theory_.t0()) || equals(t[0], t1) || equals(t[0], t3);
  });
  return is_impossible(some_read && few, kVacuitySteps, true) &&
         is_impossible(some_read, kVacuitySteps, true);
}

}  // namespace isoscope
