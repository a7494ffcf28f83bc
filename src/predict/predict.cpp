#include "predict/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "predict/decode.h"
#include "predict/encode.h"
#include "predict/excluded.h"
#include "predict/fewest.h"
#include "predict/observed.h"
#include "predict/pco.h"
#include "support/assert.h"
#include "support/budget.h"
#include "verdict/involved.h"
#include "verdict/logic.h"

namespace isoscope::predict {
namespace {

using Clock = std::chrono::steady_clock;

// The strongest of true, rc, ra, cc that is weaker than the level, as far as its text is known.
Logic base_of(const History& h, const Level& level) {
  const auto logic = logic_of(level);
  if (!logic || h.has_levels()) return Logic::True;
  switch (*logic) {
    case Logic::True:
    case Logic::Rc:
    case Logic::Ra:
    case Logic::Cc:
      return *logic;
    case Logic::Ua:
      return Logic::Ra;
    default:
      return Logic::Cc;
  }
}

// Are writes of a boundary transaction after its stop of interest to the level?
bool looks_at_writers(const Level& level) {
  const auto logic = logic_of(level);
  return !logic || *logic == Logic::Si || *logic == Logic::Psi || *logic == Logic::Ua;
}

class Predictor {
 public:
  Predictor(const History& observed, const Level& level, const LevelSet& levels,
            const PredictOptions& options, Budget& budget)
      : level_(level),
        levels_(levels),
        options_(options),
        budget_(budget),
        start_(Clock::now()),
        base_(base_of(observed, level)),
        facts_(observed, base_ == Logic::True || base_ == Logic::Rc, budget),
        // Under strict+ what happens before what depends on the boundary, so that only the checker
        // can tell what a level forbids.
        encoder_(facts_, options.boundary,
                 options.boundary == Boundary::StrictPlus ? Logic::True : base_, solver_, budget),
        fewest_(encoder_.changed(), solver_, budget) {
    answer_.generation_seconds = seconds();
    answer_.reads = facts_.num_reads();
    answer_.choices = facts_.choices().size();
  }

  PredictAnswer run() {
    std::set<std::vector<TxnId>> cycles;
    if (encoder_.is_expired()) answer_.limit = limit_reached();
    while (answer_.limit.empty() && answer_.predictions.size() < options_.most) {
      last_ = {};
      std::optional<Prediction> found = next(std::nullopt);
      // The fewest changed reads: as long as there is one with fewer.
      while (found && options_.minimal && found->changed.size() > 1) {
        last_ = {};
        std::optional<Prediction> better = next(found->changed.size() - 1);
        if (!better) break;
        found = std::move(better);
      }
      if (!found) break;
      found->is_fewest = found->changed.size() == 1 || (options_.minimal && answer_.limit.empty());
      ISO_ASSERT(found->unserializable.verdict.violation.has_value());
      encoder_.exclude(std::move(reason_));
      std::vector<TxnId> cycle;
      for (const TxnId t : involved_txns(found->history, *found->unserializable.verdict.violation))
        cycle.push_back(found->observed_txn[t.index]);
      std::sort(cycle.begin(), cycle.end());
      if (cycles.insert(std::move(cycle)).second) answer_.predictions.push_back(std::move(*found));
    }
    answer_.solving_seconds = seconds() - answer_.generation_seconds;
    answer_.literals = encoder_.num_literals();
    answer_.is_complete = answer_.limit.empty() && answer_.predictions.size() < options_.most;
    if (!answer_.predictions.empty()) {
      answer_.outcome = PredictOutcome::Predicted;
    } else if (answer_.limit.empty()) {
      answer_.outcome = PredictOutcome::None;
    }
    return std::move(answer_);
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // The next candidate that the level allows and no serial order explains, with at most so many
  // changed reads.
  std::optional<Prediction> next(std::optional<std::size_t> most_changed) {
    for (;;) {
      if (options_.progress)
        options_.progress(fmt::format("predicting: {} candidates so far", answer_.candidates), -1);
      const SatResult result = solver_.solve(fewest_.at_most(most_changed), budget_);
      if (result != SatResult::Sat) {
        if (result == SatResult::Unknown) answer_.limit = limit_reached();
        return std::nullopt;
      }
      ++answer_.candidates;
      const Chosen chosen = decode(facts_, encoder_, solver_, options_.boundary);
      if (chosen.ends == last_.ends && chosen.writer == last_.writer) {
        // An explanation that does not exclude what it explains: be content with the candidate.
        exclude_candidate(chosen);
        continue;
      }
      last_ = chosen;
      PredictedHistory made = make_history(facts_, chosen, false);
      CheckAnswer serial = check(made.history, serializable_level(), budget_);
      if (serial.verdict.outcome == Outcome::Unknown) return give_up();
      if (serial.verdict.outcome == Outcome::Consistent) {
        ISO_ASSERT(!encoder_.is_exact());
        exclude_serial_order(made, *serial.verdict.witness);
        continue;
      }
      std::optional<CheckAnswer> allowed = check_level(chosen, made);
      if (!allowed) {
        if (budget_.expired_now()) return give_up();
        continue;
      }
      if (options_.encoding == Encoding::Approx) {
        const Relation pco = pco_of(made.history, budget_);
        if (budget_.expired_now()) return give_up();
        if (pco.is_irreflexive()) {
          encoder_.require(facts_beyond(encoder_, facts_, made, chosen, pco));
          continue;
        }
      }
      reason_ = facts_of(encoder_, facts_, made, *serial.verdict.violation, {});
      return to_prediction(chosen, std::move(made), std::move(*allowed), std::move(serial));
    }
  }

  Prediction to_prediction(const Chosen& chosen, PredictedHistory made, CheckAnswer allowed,
                           CheckAnswer serial) {
    Prediction prediction{.history = std::move(made.history),
                          .observed_txn = std::move(made.observed_txn),
                          .changed = changed_reads(facts_, chosen),
                          .ends = chosen.ends,
                          .allowed = std::move(allowed),
                          .unserializable = std::move(serial)};
    std::vector<TxnId> changed;
    for (const TxnId t : prediction.history.txns()) {
      const bool is_changed = std::ranges::any_of(prediction.changed, [&](const ChangedRead& read) {
        return facts_.history().txn(read.read) == prediction.observed_txn[t.index];
      });
      if (is_changed) changed.push_back(t);
    }
    lead_through(prediction.history, changed, *prediction.unserializable.verdict.violation);
    return prediction;
  }

  std::optional<Prediction> give_up() {
    answer_.limit = limit_reached();
    return std::nullopt;
  }

  // The level's yes; or nothing, after what it says no to has been excluded.
  std::optional<CheckAnswer> check_level(const Chosen& chosen, const PredictedHistory& made) {
    const bool is_longer = options_.boundary == Boundary::StrictPlus ||
                           (options_.boundary == Boundary::Strict && looks_at_writers(level_));
    std::optional<PredictedHistory> longer;
    if (is_longer) longer = make_history(facts_, chosen, true);
    const PredictedHistory& judged = is_longer ? *longer : made;
    const auto assignment = assign_levels(judged.history, level_, levels_);
    ISO_ASSERT(assignment.ok());  // check_observed() has tried
    CheckAnswer answer = Checker(judged.history).check(*assignment, budget_);
    switch (answer.verdict.outcome) {
      case Outcome::Consistent:
        return answer;
      case Outcome::Unknown:
        return std::nullopt;
      case Outcome::Violated:
        break;
    }
    const Judged how{.all_writes_count = is_longer,
                     .by_text = !logic_of(level_) || judged.history.has_levels(),
                     .boundary = options_.boundary,
                     .ends = chosen.ends};
    switch (growth_of(*assignment, how.by_text)) {
      case Growth::Monotone:
        encoder_.exclude(facts_of(encoder_, facts_, judged, *answer.verdict.violation, how));
        break;
      case Growth::ByKey:
        encoder_.exclude(
            facts_of_keys(encoder_, facts_, judged, guilty_keys(judged.history, *assignment), how));
        break;
      case Growth::Arbitrary:
        exclude_candidate(chosen);
        break;
    }
    return std::nullopt;
  }

  // Keys of which the events alone violate the levels, none to be left out.
  std::vector<KeyId> guilty_keys(const History& h, const Assignment& levels) {
    return shrink_keys(h, [&](const History& part) {
      Checker checker(part, {.confirm = false});
      Assignment assignment{.base = levels.base, .own = {}};
      return checker.check(assignment, budget_).verdict.outcome == Outcome::Violated;
    });
  }

  void exclude_serial_order(const PredictedHistory& made, const Witness& witness) {
    std::vector<TxnId> order;
    for (const TxnId t : witness.order) {
      if (t != kInitialTxn) order.push_back(made.observed_txn[t.index]);
    }
    encoder_.exclude_order(order);
  }

  void exclude_candidate(const Chosen& chosen) {
    std::vector<Lit> all;
    for (std::uint32_t c = 0; c < chosen.writer.size(); ++c) {
      if (!chosen.writer[c].is_none()) all.push_back(encoder_.sees(c, chosen.writer[c]));
    }
    for (std::size_t s = 0; s < chosen.ends.size(); ++s) {
      const std::vector<TxnId>& session = facts_.sessions()[s];
      for (std::size_t i = 0; i < session.size(); ++i) {
        const bool is_kept = i < chosen.ends[s].kept;
        const bool is_bound = session[i] == chosen.ends[s].boundary;
        all.push_back(is_kept ? encoder_.kept(session[i]) : ~encoder_.kept(session[i]));
        all.push_back(is_bound ? encoder_.bound(session[i]) : ~encoder_.bound(session[i]));
      }
    }
    encoder_.exclude(std::move(all));
  }

  const Level& level_;
  const LevelSet& levels_;
  const PredictOptions& options_;
  Budget& budget_;
  Clock::time_point start_;
  Logic base_;
  ObservedFacts facts_;
  SatSolver solver_;
  Encoder encoder_;
  Fewest fewest_;
  PredictAnswer answer_;
  Chosen last_;
  std::vector<Lit> reason_;  // why the prediction found last is unserializable
};

}  // namespace

std::string_view name_of(Boundary boundary) {
  switch (boundary) {
    case Boundary::Strict:
      return "strict";
    case Boundary::StrictPlus:
      return "strict+";
    case Boundary::Relaxed:
      return "relaxed";
  }
  return {};
}

PredictAnswer predict(const History& observed, const Level& level, const LevelSet& levels,
                      const PredictOptions& options, Budget& budget) {
  if (options.boundary == Boundary::StrictPlus && options.most == 1) {
    // What is predicted under strict is so under strict+: nobody reads from its boundary
    // transactions, so that their later writes change nothing at rc, ra, cc and pc, and at the
    // others they count anyway. Under strict, levels are clauses, and the search is quicker.
    PredictOptions strict = options;
    strict.boundary = Boundary::Strict;
    PredictAnswer answer = Predictor(observed, level, levels, strict, budget).run();
    const bool is_best = !answer.predictions.empty() &&
                         (!options.minimal || answer.predictions.front().changed.size() == 1);
    if (is_best || answer.outcome == PredictOutcome::Unknown) return answer;
  }
  return Predictor(observed, level, levels, options, budget).run();
}

}  // namespace isoscope::predict
