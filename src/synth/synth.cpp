#include "synth/synth.h"

#include <fmt/format.h>

#include "check/check.h"
#include "spec/evaluate.h"
#include "synth/search.h"

namespace isoscope {

namespace {

Error disagreement(std::string_view who, const Level& level, std::string_view what) {
  return Error{.what = fmt::format("internal error: the search and {} disagree about {}: {}", who,
                                   level.full_name(), what),
               .hint = "please report the levels and the scope"};
}

// Where the axioms determine a least vis, it says more than the one that the solver happened to
// choose.
Result<Witness> settle_witness(const History& h, const Level& level, Witness witness) {
  const Assignment levels{&level, {}};
  Evaluator evaluator(h, levels);
  if (level.framework == Framework::VisAr) {
    Witness least{level.framework, witness.order, evaluator.least_vis(witness.order)};
    if (evaluator.accepts(least)) return least;
  }
  if (const auto failed = evaluator.evaluate(witness))
    return disagreement("the evaluator", level, describe(*failed, h));
  return witness;
}

}  // namespace

namespace synthesis {

namespace {

// A history that was found in time is worth a check when the time is over.
constexpr double kGraceSeconds = 2;

// Where sessions are no chains, check() cannot be asked; the orders of a few transactions can all
// be tried. False if there are too many of them.
Result<bool> check_partial_order(const SynthQuery& query, const Frame& frame,
                                 const Proposal& proposal) {
  Circuit circuit;
  const Facts facts(circuit, frame, proposal.candidate);
  Grounder grounder(facts);
  for (std::size_t i = 0; i < query.allow.size(); ++i) {
    const SymbolicWitness w = constant_witness(facts, proposal.witnesses[i]);
    if (!failure(grounder, facts, *query.allow[i], w).is_false())
      return disagreement("its own evaluation", *query.allow[i], "the witness fails");
  }
  bool all_tried = true;
  for (const Level* level : query.forbid) {
    const std::optional<bool> fails = fails_with_all_orders(facts, shape_of(*level));
    if (!fails) all_tried = false;
    if (fails && !*fails)
      return disagreement("its own evaluation", *level, "some order satisfies it");
  }
  return all_tried;
}

// Does check say the same? False if the budget was over first.
Result<bool> check_anew(const SynthQuery& query, const History& history, Budget& budget) {
  Checker checker(history);
  for (const Level* level : query.allow) {
    const Verdict verdict = checker.check({level, {}}, budget).verdict;
    if (verdict.outcome == Outcome::Violated)
      return disagreement("check", *level, "it is violated");
    if (verdict.outcome == Outcome::Unknown && !budget.expired_now())
      return disagreement("check", *level, verdict.limit);
  }
  for (const Level* level : query.forbid) {
    const Verdict verdict = checker.check({level, {}}, budget).verdict;
    if (verdict.outcome == Outcome::Consistent)
      return disagreement("check", *level, "it is consistent");
    if (verdict.outcome == Outcome::Unknown && !budget.expired_now())
      return disagreement("check", *level, verdict.limit);
  }
  return !budget.expired_now();
}

}  // namespace

Result<SynthFound> conclude(const SynthQuery& query, const Frame& frame, const Proposal& proposal,
                            Budget& search_budget) {
  SynthFound found = decode(frame, proposal.candidate, proposal.witnesses, query.allow);
  if (!found.further_so.empty()) {
    auto checked = check_partial_order(query, frame, proposal);
    if (!checked) return checked.error();
    found.is_rechecked = *checked;
    return found;
  }
  for (std::size_t i = 0; i < query.allow.size(); ++i) {
    auto witness = settle_witness(found.history, *query.allow[i], std::move(found.witnesses[i]));
    if (!witness) return witness.error();
    found.witnesses[i] = *std::move(witness);
  }
  auto checked = check_anew(query, found.history, search_budget);
  // What was found when the time was nearly over is checked all the same.
  if (checked && !*checked) {
    Budget grace = Budget::seconds(kGraceSeconds);
    checked = check_anew(query, found.history, grace);
  }
  if (!checked) return checked.error();
  found.is_rechecked = *checked;
  return found;
}

}  // namespace synthesis

namespace {

Result<SynthAnswer> search_once(const SynthQuery& query, Budget& budget) {
  synthesis::Search search(query, budget);
  SynthAnswer answer;
  answer.scope = synthesis::told_scope(query);
  answer.outcome = search.next({}, budget);
  search.add_stats(answer.stats);
  if (answer.outcome == SynthOutcome::Unknown) answer.limit = limit_reached();
  if (answer.outcome == SynthOutcome::None && query.certify) {
    auto refutation = search.refutation(budget);
    if (!refutation) {
      answer.uncertified = refutation.error().what;
    } else {
      answer.refutations.push_back(*std::move(refutation));
    }
  }
  if (answer.outcome != SynthOutcome::Found) return answer;
  auto found = synthesis::conclude(query, search.frame(), search.proposal(), budget);
  if (!found) return found.error();
  answer.found = *std::move(found);
  return answer;
}

}  // namespace

Result<SynthAnswer> synthesize(const SynthQuery& asked, Budget& budget) {
  SynthQuery query = asked;
  if (query.scope.keys == 0) query.scope.keys = synthesis::open_keys(query, query.scope.txns);
  if (auto fits = synthesis::check_scope(query); !fits) return fits.error();
  auto answer = search_once(query, budget);
  if (!answer || answer->outcome != SynthOutcome::None) return answer;
  if (query.repeated_reads || !synthesis::may_repeat_reads(query, budget)) return answer;
  query.repeated_reads = true;
  return search_once(query, budget);
}

}  // namespace isoscope
