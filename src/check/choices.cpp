#include "check/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sat/solver.h"
#include "support/assert.h"
#include "verdict/logic.h"

namespace isoscope {

namespace {

using Choice = std::size_t;  // position among h.choices()

// Are these the levels of which we know that a part that violates them violates the whole?
bool are_built_in(const History& h, const Assignment& levels) {
  const auto is_known = [](const Level& level) {
    return logic_of(level).has_value() || strict_logic_of(level).has_value();
  };
  const auto txns = h.txns();
  return is_known(*levels.base) &&
         std::all_of(txns.begin(), txns.end(), [&](TxnId t) { return is_known(levels.of(t)); });
}

// One variable per read and possible writer.
class Encoding {
 public:
  explicit Encoding(const History& h) {
    for (const ReadChoice& choice : h.choices()) {
      const TxnId reader = h.txn(choice.read);
      std::vector<Lit> one;
      Lit preferred;
      for (TxnId writer : choice.writers) {
        one.push_back(solver_.new_var());
        if (!preferred.is_valid() || writer < reader) preferred = one.back();
      }
      solver_.add_clause(one);
      for (std::size_t i = 0; i < one.size(); ++i) {
        solver_.set_phase(one[i] == preferred ? one[i] : ~one[i]);
        for (std::size_t j = 0; j < i; ++j) solver_.add_clause({~one[i], ~one[j]});
      }
      variables_.push_back(std::move(one));
    }
  }

  SatResult propose(const History& h, std::vector<TxnId>& writers, Budget& budget) {
    const SatResult result = solver_.solve(budget);
    if (result != SatResult::Sat) return result;
    for (Choice c = 0; c < variables_.size(); ++c) {
      for (std::size_t i = 0; i < variables_[c].size(); ++i) {
        if (solver_.value(variables_[c][i])) writers[c] = h.choices()[c].writers[i];
      }
    }
    return result;
  }

  void exclude(const History& h, const std::vector<Choice>& together,
               const std::vector<TxnId>& writers) {
    std::vector<Lit> clause;
    for (Choice c : together) {
      const auto& all = h.choices()[c].writers;
      const auto chosen = std::find(all.begin(), all.end(), writers[c]) - all.begin();
      clause.push_back(~variables_[c][static_cast<std::size_t>(chosen)]);
    }
    solver_.add_clause(clause);
  }

 private:
  SatSolver solver_;
  std::vector<std::vector<Lit>> variables_;  // by choice and position of the writer
};

void collect_reads(const std::vector<Edge>& edges, std::vector<EventId>& reads) {
  for (const Edge& e : edges) {
    if (!e.read.is_none()) reads.push_back(e.read);
    collect_reads(e.path, reads);
  }
}

// The choices that a violation rests on.
std::vector<Choice> reasons_of(const History& h, const Violation& v, bool built_in) {
  std::vector<EventId> reads;
  collect_reads(v.cycle, reads);
  std::sort(reads.begin(), reads.end());
  const bool by_cycle = !v.cycle.empty();
  const bool by_core = !by_cycle && !v.core.empty() && built_in;
  std::vector<Choice> choices;
  for (Choice c = 0; c < h.choices().size(); ++c) {
    const EventId read = h.choices()[c].read;
    const bool rests_on_it =
        by_cycle  ? std::binary_search(reads.begin(), reads.end(), read)
        : by_core ? std::find(v.core.begin(), v.core.end(), h.txn(read)) != v.core.end()
                  : true;
    if (rests_on_it) choices.push_back(c);
  }
  return choices;
}

ChoiceAnswer result(CheckAnswer answer, History h, bool for_all, std::size_t proposals) {
  return {.answer = std::move(answer),
          .chosen = std::make_shared<const History>(std::move(h)),
          .for_all_choices = for_all,
          .proposals = proposals};
}

}  // namespace

ChoiceAnswer check_choices(const History& open, const Assignment& levels, Budget& budget,
                           const CheckOptions& options) {
  ISO_ASSERT(!open.choices().empty());
  History h = open.copy();
  const bool built_in = are_built_in(h, levels);
  if (!h.faults().empty() || built_in) {
    // What the reads without a choice violate stays violated.
    CheckAnswer answer = Checker(h, options).check(levels, budget);
    if (answer.verdict.outcome != Outcome::Consistent)
      return result(std::move(answer), std::move(h), true, 0);
  }

  Encoding encoding(h);
  std::vector<TxnId> writers(h.choices().size(), TxnId::none());
  CheckAnswer last;
  for (std::size_t proposals = 0;; ++proposals) {
    const SatResult proposed = encoding.propose(h, writers, budget);
    if (proposed == SatResult::Unknown || budget.expired_now()) {
      CheckAnswer unknown;
      unknown.verdict = Verdict::unknown(
          fmt::format("{}, with {} ways to choose the writers of {} reads refuted and others left",
                      limit_reached(), proposals, h.choices().size()));
      return result(std::move(unknown), std::move(h), false, proposals);
    }
    if (proposed == SatResult::Unsat)
      return result(std::move(last), std::move(h), false, proposals);
    h = std::move(h).with_writers(writers);
    CheckAnswer answer = Checker(h, options).check(levels, budget);
    if (answer.verdict.outcome != Outcome::Violated)
      return result(std::move(answer), std::move(h), false, proposals + 1);
    const auto together = reasons_of(h, *answer.verdict.violation, built_in);
    if (together.empty()) return result(std::move(answer), std::move(h), true, proposals + 1);
    encoding.exclude(h, together, writers);
    last = std::move(answer);
  }
}

}  // namespace isoscope
