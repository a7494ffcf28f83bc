#include "predict/validate.h"

#include <algorithm>
#include <deque>
#include <map>

#include "history/restrict.h"
#include "predict/decode.h"
#include "spec/serializable.h"
#include "store/directed_policy.h"
#include "store/level_plan.h"
#include "support/budget.h"
#include "support/rng.h"

namespace isoscope::predict {
namespace {

// Whom an attempt that aborts reads from proves nothing.
History committed_part(const History& h) {
  std::vector<TxnId> committed;
  for (const TxnId t : h.txns()) {
    if (h.status(t) == TxnStatus::Committed) committed.push_back(t);
  }
  return restrict_to(h, committed);
}

// Those with changed reads, and others from which nothing is read; of the predicted history.
std::vector<TxnId> boundary_txns(const Prediction& prediction) {
  std::vector<TxnId> found;
  for (const TxnId t : prediction.history.txns()) {
    if (t == kInitialTxn) continue;
    const TxnId observed = prediction.observed_txn[t.index];
    if (std::ranges::any_of(prediction.ends,
                            [&](const SessionEnd& end) { return end.boundary == observed; }))
      found.push_back(t);
  }
  return found;
}

// What the run wrote where the history has a write: the n-th of a key where that is the n-th.
std::vector<std::optional<std::int64_t>> written_by(const Executable& program,
                                                    const store::Script& script, const History& h,
                                                    const store::Recording& recording) {
  std::vector<std::optional<std::int64_t>> written(h.num_events());
  for (const store::ScriptedCall& scripted : script.calls) {
    if (scripted.txn.is_none() || !recording.txns.contains(scripted.call)) continue;
    const store::RecordedTxn& txn = recording.txns[scripted.call];
    if (!txn.is_committed) continue;
    std::map<std::string, std::deque<std::int64_t>> by_key;
    for (const store::Access& access : txn.accesses) {
      if (!access.is_read)
        by_key[store::plain_key(program.keys().name(access.key))].push_back(access.value);
    }
    for (const EventId e : h.events(scripted.txn)) {
      if (h.is_read(e)) continue;
      const auto found = by_key.find(store::plain_key(h.name(h.key(e))));
      if (found == by_key.end() || found->second.empty()) continue;
      written[e.index] = found->second.front();
      found->second.pop_front();
    }
  }
  return written;
}

// Runs the script, and judges what happened.
Result<Validation> follow_script(const Executable& program, const History& predicted,
                                 const store::Script& script, const store::LevelPlan& plan,
                                 Budget& budget) {
  auto replayed = store::replay(program, script, &plan, budget);
  if (!replayed) return replayed.error();
  History history = committed_part(store::to_history(program, replayed->recording));
  CheckAnswer serial = check(history, serializable_level(), budget);
  const bool is_violated = serial.verdict.outcome == Outcome::Violated;
  Validation validation{.is_validated = is_violated,
                        .divergences = std::move(replayed->divergences),
                        .history = std::move(history),
                        .serial = std::move(serial),
                        .reason = {},
                        .has_failed_assertion = replayed->recording.has_failed_assertion(),
                        .written = written_by(program, script, predicted, replayed->recording)};
  if (replayed->is_expired || validation.serial.verdict.outcome == Outcome::Unknown) {
    validation.reason = limit_reached();
  } else if (!validation.is_validated) {
    // A run that does all that was predicted, and perhaps more, is as unserializable.
    validation.reason = validation.divergences.empty()
                            ? "what happened is serializable"
                            : "the run diverges, and what happened instead is serializable";
  }
  return validation;
}

// Another order of the boundary transactions at the end of the script, if none of them reads from
// another; and other versions for what they read after their stops.
void vary(store::Script& script, std::uint64_t seed) {
  Rng rng(seed);
  std::size_t first = script.calls.size();
  while (first > 0 && script.calls[first - 1].direction == store::Direction::Prefix) --first;
  const std::span<store::ScriptedCall> calls = std::span(script.calls).subspan(first);
  const bool is_free = std::ranges::none_of(calls, [&](const store::ScriptedCall& reader) {
    return std::ranges::any_of(reader.reads, [&](const store::WantedRead& read) {
      return std::ranges::any_of(
          calls, [&](const store::ScriptedCall& writer) { return read.writer == writer.call; });
    });
  });
  for (std::size_t i = calls.size(); is_free && i > 1; --i)
    std::swap(calls[i - 1], calls[rng.below(i)]);
  for (store::ScriptedCall& scripted : calls) scripted.seed = rng.next();
}

}  // namespace

History with_values(const Prediction& prediction, const Validation& validation) {
  const History& h = prediction.history;
  std::vector<std::optional<std::int64_t>> values(h.num_events());
  for (const EventId e : h.all_events()) {
    const Value value = h.value(e);
    if (!h.is_read(e) && value.is_text() && h.texts().text(value) == kUnknownValue)
      values[e.index] = validation.written[e.index];
  }
  return with_written(h, values);
}

Result<Validation> validate(const Executable& program, const Prediction& prediction,
                            const Level& level, const LevelSet& levels, Boundary boundary,
                            Budget& budget) {
  // What a boundary transaction reads after its stop is open, but may stand in the way of the
  // others. So many ways are tried until one does all that was predicted.
  constexpr std::uint64_t kWays = 32;
  auto plan = store::plan_levels(program, level, levels);
  if (!plan) return plan.error();
  // Boundary transactions run last: what they do after a changed read was not predicted, and shall
  // not come between the kept ones.
  const std::vector<TxnId> last = boundary_txns(prediction);
  auto script = store::script_of(program, prediction.history, budget, last);
  if (!script) return script.error();
  const History& h = prediction.history;
  if (boundary == Boundary::Relaxed) return follow_script(program, h, *script, *plan, budget);
  for (store::ScriptedCall& scripted : script->calls) {
    if (std::ranges::find(last, scripted.txn) != last.end())
      scripted.direction = store::Direction::Prefix;
  }
  auto best = follow_script(program, h, *script, *plan, budget);
  for (std::uint64_t way = 1; way < kWays && best && !best->divergences.empty(); ++way) {
    if (budget.expired_now()) break;
    vary(*script, way);
    auto other = follow_script(program, h, *script, *plan, budget);
    if (!other || !other->is_validated) continue;
    if (!best->is_validated || other->divergences.size() < best->divergences.size())
      best = std::move(other);
  }
  return best;
}

}  // namespace isoscope::predict
