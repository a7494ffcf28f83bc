#include "predict/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include "check/level_table.h"
#include "history/restrict.h"
#include "predict/decode.h"
#include "predict/encode.h"
#include "predict/excluded.h"
#include "predict/fewest.h"
#include "predict/observed.h"
#include "predict/parts.h"
#include "predict/pco.h"
#include "predict/quick.h"
#include "spec/serializable.h"
#include "support/assert.h"
#include "support/budget.h"
#include "verdict/involved.h"

namespace isoscope::predict {
namespace {

using Clock = std::chrono::steady_clock;

// The strongest of true, rc, ra, cc that is weaker than the level, as far as its text is known.
WeakLevel base_of(const History& h, const Level& level) {
  const auto logic = logic_of(level);
  return logic && !h.has_levels() ? weak_base(*logic) : WeakLevel::True;
}

// How many likely predictions are tried: few where clauses are quickly written, else about as many
// as take a second or two to check.
std::size_t num_tried(const History& h, std::size_t num_writers) {
  constexpr std::size_t kFewWriters = 100'000;
  constexpr std::size_t kEvents = 1'000'000;
  if (num_writers < kFewWriters) return 2;
  return std::clamp<std::size_t>(kEvents / (h.num_events() + 1), 8, 100);
}

// Beyond so many choices of writers, the proof that no fewer changed reads are enough is left out.
constexpr std::size_t kMostWritersToProve = 100'000;

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
        facts_(observed, base_ == WeakLevel::True || base_ == WeakLevel::Rc, budget) {
    answer_.reads = facts_.num_reads();
    answer_.choices = facts_.choices().size();
  }

  PredictAnswer run() {
    if (budget_.expired_now()) {
      answer_.limit = limit_reached();  // facts may be missing
    } else if (!facts_.choices().empty()) {
      search();
    }
    if (clauses_) answer_.literals = clauses_->encoder.num_literals();
    answer_.solving_seconds = seconds() - answer_.generation_seconds;
    answer_.is_complete = answer_.limit.empty() && answer_.predictions.size() < options_.most;
    if (!answer_.predictions.empty()) {
      answer_.outcome = PredictOutcome::Predicted;
    } else if (answer_.limit.empty()) {
      answer_.outcome = PredictOutcome::None;
    }
    return std::move(answer_);
  }

 private:
  // The solver, once it is needed.
  struct Clauses {
    Clauses(const ObservedFacts& facts, Boundary boundary, WeakLevel base, Budget& budget)
        : encoder(facts, boundary, base, solver, budget),
          fewest(encoder.changed(), solver, budget) {}
    SatSolver solver;
    Encoder encoder;
    Fewest fewest;
  };

  // What is wrong with a candidate, if anything.
  enum class Fate : std::uint8_t { Predicted, Serial, Forbidden, NotCyclic, Unknown };

  void tell() const {
    if (options_.progress)
      options_.progress(fmt::format("predicting: {} candidates so far", answer_.candidates), -1);
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  bool write_clauses() {
    if (clauses_) return true;
    const double begin = seconds();
    // Under strict+ what happens before what depends on the boundary, so that only the checker can
    // tell what a level forbids.
    clauses_ = std::make_unique<Clauses>(
        facts_, options_.boundary,
        options_.boundary == Boundary::StrictPlus ? WeakLevel::True : base_, budget_);
    answer_.generation_seconds += seconds() - begin;
    if (clauses_->encoder.is_expired()) {
      answer_.limit = limit_reached();
    } else if (clauses_->encoder.is_too_large()) {
      answer_.limit = fmt::format("the limit of {} million literals", kMaxLiterals / 1'000'000);
    }
    return answer_.limit.empty();
  }

  void search() {
    tell();
    std::optional<Prediction> found;
    if (options_.quick && options_.most == 1) found = quick_search();
    if (found && (found->changed.size() == 1 || !options_.minimal)) {
      found->is_fewest = found->changed.size() == 1;
      answer_.predictions.push_back(*std::move(found));
      return;
    }
    // The proof that no fewer changed reads are enough takes clauses, and all of them.
    const bool is_provable = (!found || num_writers() <= kMostWritersToProve) && write_clauses();
    if (is_provable && (!found || clauses_->encoder.is_exact())) {
      search_clauses(std::move(found));
      return;
    }
    if (!found && options_.quick && !budget_.expired_now()) found = quick_search();
    if (!found) return;
    found->is_fewest = found->changed.size() == 1;
    answer_.predictions.push_back(*std::move(found));
  }

  std::size_t num_writers() const {
    std::size_t sum = 0;
    for (const Choice& choice : facts_.choices()) sum += choice.writers.size();
    return sum;
  }

  // Requires: the clauses are written. `found` is what is already known.
  void search_clauses(std::optional<Prediction> found) {
    std::set<std::vector<TxnId>> cycles;
    while (answer_.limit.empty() && answer_.predictions.size() < options_.most) {
      last_ = {};
      if (!found) found = next(std::nullopt);
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
      clauses_->encoder.exclude(std::move(reason_));
      std::vector<TxnId> cycle;
      for (const TxnId t : involved_txns(found->history, *found->unserializable.verdict.violation))
        cycle.push_back(found->observed_txn[t.index]);
      std::sort(cycle.begin(), cycle.end());
      if (cycles.insert(std::move(cycle)).second) answer_.predictions.push_back(std::move(*found));
      found.reset();
    }
  }

  // One or two transactions that miss an update, before any clause is written.
  std::optional<Prediction> quick_search() {
    const PredictedHistory all = make_history(facts_, as_observed(facts_), {});
    const CheckAnswer serial = check(all.history, serializable_level(), budget_);
    if (serial.verdict.outcome != Outcome::Consistent) return std::nullopt;
    std::vector<TxnId> order;
    for (const TxnId t : serial.verdict.witness->order) order.push_back(all.observed_txn[t.index]);
    const QuickSearch quick(facts_, options_.boundary, base_, order, budget_);
    const std::size_t most = num_tried(facts_.history(), num_writers());
    std::optional<Prediction> found = try_all(quick, quick.single_changes(most));
    if (!found) found = try_all(quick, quick.missed_updates(most));
    return found;
  }

  std::optional<Prediction> try_all(const QuickSearch& quick,
                                    const std::vector<QuickSearch::Changes>& all) {
    for (const QuickSearch::Changes& changes : all) {
      if (budget_.expired_now()) return std::nullopt;
      Fate fate = Fate::Serial;
      if (const auto chosen = quick.before(changes)) {
        if (auto found = try_candidate(*chosen, fate)) return found;
      }
      // More transactions may leave no serial order.
      if (fate != Fate::Serial) continue;
      if (const auto chosen = quick.with_all(changes)) {
        if (auto found = try_candidate(*chosen, fate)) return found;
      }
    }
    return std::nullopt;
  }

  std::optional<Prediction> try_candidate(const Chosen& chosen, Fate& fate) {
    ++answer_.candidates;
    tell();
    PredictedHistory made = make_history(facts_, chosen, {});
    CheckAnswer serial = check(made.history, serializable_level(), budget_);
    fate = serial.verdict.outcome == Outcome::Unknown ? Fate::Unknown : Fate::Serial;
    if (serial.verdict.outcome != Outcome::Violated) return std::nullopt;
    LevelAnswer allowed = judge(chosen, made);
    fate = allowed.answer.verdict.outcome == Outcome::Unknown ? Fate::Unknown : Fate::Forbidden;
    if (allowed.answer.verdict.outcome != Outcome::Consistent) return std::nullopt;
    if (options_.encoding == Encoding::Approx && !is_pco_cyclic(made.history, budget_)) {
      fate = Fate::NotCyclic;
      return std::nullopt;
    }
    fate = Fate::Predicted;
    return to_prediction(chosen, std::move(made), std::move(allowed.answer), std::move(serial));
  }

  // The next candidate that the level allows and no serial order explains, with at most so many
  // changed reads.
  std::optional<Prediction> next(std::optional<std::size_t> most_changed) {
    Encoder& encoder = clauses_->encoder;
    for (;;) {
      tell();
      const SatResult result =
          clauses_->solver.solve(clauses_->fewest.at_most(most_changed), budget_);
      if (result != SatResult::Sat) {
        if (result == SatResult::Unknown) answer_.limit = limit_reached();
        return std::nullopt;
      }
      ++answer_.candidates;
      const Chosen chosen = decode(facts_, encoder, clauses_->solver, options_.boundary);
      if (chosen.ends == last_.ends && chosen.writer == last_.writer) {
        // An explanation that does not exclude what it explains: be content with the candidate.
        exclude_candidate(chosen);
        continue;
      }
      last_ = chosen;
      PredictedHistory made = make_history(facts_, chosen, {});
      CheckAnswer serial = check(made.history, serializable_level(), budget_);
      if (serial.verdict.outcome == Outcome::Unknown) return give_up(serial.verdict.limit);
      if (serial.verdict.outcome == Outcome::Consistent) {
        ISO_ASSERT(!encoder.is_exact());
        exclude_serial_order(made, *serial.verdict.witness);
        if (encoder.is_too_large())
          return give_up(fmt::format("the limit of {} million literals", kMaxLiterals / 1'000'000));
        continue;
      }
      LevelAnswer allowed = judge(chosen, made);
      if (allowed.answer.verdict.outcome == Outcome::Unknown)
        return give_up(allowed.answer.verdict.limit);
      if (allowed.answer.verdict.outcome == Outcome::Violated) {
        exclude_forbidden(chosen, made, allowed);
        continue;
      }
      if (options_.encoding == Encoding::Approx) {
        const Relation pco = pco_of(made.history, budget_);
        if (budget_.expired_now()) return give_up(limit_reached());
        if (pco.is_irreflexive()) {
          encoder.require(facts_beyond(encoder, facts_, made, chosen, pco));
          continue;
        }
      }
      reason_ = facts_of(encoder, facts_, made, *serial.verdict.violation, {});
      return to_prediction(chosen, std::move(made), std::move(allowed.answer), std::move(serial));
    }
  }

  Prediction to_prediction(const Chosen& chosen, PredictedHistory made, CheckAnswer allowed,
                           CheckAnswer serial) {
    Prediction prediction{.history = std::move(made.history),
                          .observed_txn = std::move(made.observed_txn),
                          .changed = changed_reads(facts_, chosen),
                          .ends = chosen.ends,
                          .allowed = std::move(allowed),
                          .unserializable = std::move(serial),
                          .by_event = base_ == WeakLevel::True || base_ == WeakLevel::Rc};
    lead_through_changes(facts_.history(), prediction);
    return prediction;
  }

  std::optional<Prediction> give_up(std::string limit) {
    answer_.limit = std::move(limit);
    return std::nullopt;
  }

  // What the level says, and of which history if not of the candidate itself.
  struct LevelAnswer {
    CheckAnswer answer;
    std::optional<PredictedHistory> longer;
  };

  LevelAnswer judge(const Chosen& chosen, const PredictedHistory& made) {
    const Extent extent = judged_extent(level_, options_.boundary);
    LevelAnswer result;
    if (extent.later_writes || extent.own_reads)
      result.longer = make_history(facts_, chosen, extent);
    const History& judged = result.longer ? result.longer->history : made.history;
    const auto assignment = assign_levels(judged, level_, levels_);
    ISO_ASSERT(assignment.ok());  // check_observed() has tried
    result.answer = Checker(judged).check(*assignment, budget_);
    return result;
  }

  // The level says no: excludes as much as its reason allows.
  void exclude_forbidden(const Chosen& chosen, const PredictedHistory& made,
                         const LevelAnswer& no) {
    Encoder& encoder = clauses_->encoder;
    const PredictedHistory& judged = no.longer ? *no.longer : made;
    const auto assignment = assign_levels(judged.history, level_, levels_);
    ISO_ASSERT(assignment.ok());
    const Judged how{.all_writes_count = judged_extent(level_, options_.boundary).later_writes,
                     .by_text = !logic_of(level_) || judged.history.has_levels(),
                     .boundary = options_.boundary,
                     .ends = chosen.ends};
    switch (growth_of(*assignment, how.by_text)) {
      case Growth::Monotone:
        if (level_.framework == Framework::CoSnap) {
          exclude_core(chosen, judged, *no.answer.verdict.violation, how);
        } else {
          encoder.exclude(facts_of(encoder, facts_, judged, *no.answer.verdict.violation, how));
        }
        break;
      case Growth::ByKey:
        encoder.exclude(
            facts_of_keys(encoder, facts_, judged, guilty_keys(judged.history, *assignment), how));
        break;
      case Growth::Arbitrary: exclude_candidate(chosen); break;
    }
  }

  // An edge between snapshots may rest on any statement of its transactions, so all that they do
  // counts, and what they read from. Whether that is enough is asked again.
  void exclude_core(const Chosen& chosen, const PredictedHistory& judged,
                    const Violation& violation, const Judged& how) {
    const History& h = judged.history;
    std::vector<TxnId> core = involved_txns(h, violation);
    for (std::size_t i = 0, size = core.size(); i < size; ++i) {
      for (const EventId e : h.events(core[i])) {
        if (h.is_read(e) && h.is_external_read(e)) core.push_back(h.writer(e));
      }
    }
    std::sort(core.begin(), core.end());
    core.erase(std::unique(core.begin(), core.end()), core.end());
    const History part = restrict_to(h, core);
    const auto assignment = assign_levels(part, level_, levels_);
    const bool is_enough =
        assignment.ok() &&
        Checker(part, {.confirm = false}).check(*assignment, budget_).verdict.outcome ==
            Outcome::Violated;
    if (is_enough) {
      clauses_->encoder.exclude(facts_of_txns(clauses_->encoder, facts_, judged, core, how));
    } else {
      exclude_candidate(chosen);
    }
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
    clauses_->encoder.exclude_order(order);
  }

  void exclude_candidate(const Chosen& chosen) {
    Encoder& encoder = clauses_->encoder;
    std::vector<Lit> all;
    for (const ChoiceId c : chosen.writer.ids()) {
      if (!chosen.writer[c].is_none()) all.push_back(encoder.sees(c, chosen.writer[c]));
    }
    for (std::size_t s = 0; s < chosen.ends.size(); ++s) {
      const std::vector<TxnId>& session = facts_.sessions()[s];
      for (std::size_t i = 0; i < session.size(); ++i) {
        const bool is_kept = i < chosen.ends[s].kept;
        const bool is_bound = session[i] == chosen.ends[s].boundary;
        all.push_back(is_kept ? encoder.kept(session[i]) : ~encoder.kept(session[i]));
        all.push_back(is_bound ? encoder.bound(session[i]) : ~encoder.bound(session[i]));
      }
    }
    encoder.exclude(std::move(all));
  }

  const Level& level_;
  const LevelSet& levels_;
  const PredictOptions& options_;
  Budget& budget_;
  Clock::time_point start_;
  WeakLevel base_;
  ObservedFacts facts_;
  std::unique_ptr<Clauses> clauses_;
  PredictAnswer answer_;
  Chosen last_ = {};
  std::vector<Lit> reason_;  // why the prediction found last is unserializable
};

}  // namespace

std::string_view name_of(Boundary boundary) {
  switch (boundary) {
    case Boundary::Strict: return "strict";
    case Boundary::StrictPlus: return "strict+";
    case Boundary::Relaxed: return "relaxed";
  }
  return {};
}

PredictAnswer count_choices(const History& observed, const Level& level, Budget& budget) {
  const WeakLevel base = base_of(observed, level);
  const ObservedFacts facts(observed, base == WeakLevel::True || base == WeakLevel::Rc, budget);
  PredictAnswer answer;
  answer.reads = facts.num_reads();
  answer.choices = facts.choices().size();
  return answer;
}

PredictAnswer predict_whole(const History& observed, const Level& level, const LevelSet& levels,
                            const PredictOptions& options, Budget& budget) {
  if (options.boundary == Boundary::StrictPlus && options.most == 1) {
    // What is predicted under strict is so under strict+: no read is from its boundary
    // transactions, so that their later writes change nothing at rc, ra, cc and pc, and at the
    // others they count anyway. Under strict, levels are clauses, and the search is quicker.
    PredictOptions strict = options;
    strict.boundary = Boundary::Strict;
    PredictAnswer answer = Predictor(observed, level, levels, strict, budget).run();
    const bool is_best = !answer.predictions.empty() &&
                         (!options.minimal || answer.predictions.front().changed.size() == 1 ||
                          !answer.predictions.front().is_fewest);
    if (is_best || answer.outcome == PredictOutcome::Unknown) return answer;
    PredictAnswer wider = Predictor(observed, level, levels, options, budget).run();
    if (wider.outcome != PredictOutcome::Unknown || answer.predictions.empty()) return wider;
    answer.limit = wider.limit;
    answer.is_complete = false;
    answer.predictions.front().is_fewest = false;
    return answer;
  }
  return Predictor(observed, level, levels, options, budget).run();
}

}  // namespace isoscope::predict
