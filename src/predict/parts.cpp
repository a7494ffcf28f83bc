#include "predict/parts.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "history/restrict.h"
#include "predict/decode.h"
#include "predict/observed.h"
#include "spec/serializable.h"
#include "support/assert.h"
#include "verdict/logic.h"

namespace isoscope::predict {
namespace {

class Disjoint {
 public:
  explicit Disjoint(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t root(std::uint32_t a) {
    while (parent_[a] != a) a = parent_[a] = parent_[parent_[a]];
    return a;
  }
  void unite(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

// A part as a history of its own, and whose ids its ids are.
struct Part {
  History history;
  std::vector<TxnId> txn;      // by transaction of the part
  std::vector<EventId> event;  // by event
  std::vector<SessionId> session;
};

Part extract(const History& h, const std::vector<SessionId>& sessions) {
  std::vector<TxnId> txns;
  for (const SessionId s : sessions) {
    for (const TxnId t : h.session_txns(s)) {
      if (h.is_committed(t)) txns.push_back(t);
    }
  }
  std::sort(txns.begin(), txns.end());
  Part part{restrict_to(h, txns), {kInitialTxn}, {}, {}};
  part.txn.insert(part.txn.end(), txns.begin(), txns.end());
  part.event.resize(part.history.num_events(), EventId::none());
  part.session.resize(part.history.num_sessions());
  for (std::size_t i = 1; i < part.txn.size(); ++i) {
    const TxnId copy{static_cast<std::uint32_t>(i)};
    part.session[part.history.session(copy).index] = h.session(part.txn[i]);
    const auto events = h.events(part.txn[i]);
    const auto copies = part.history.events(copy);
    ISO_ASSERT(events.size() == copies.size());
    auto event = events.begin();
    for (const EventId e : copies) {
      part.event[e.index] = *event;
      ++event;
    }
  }
  return part;
}

// The prediction of a part as one of the whole, with all other sessions as observed. Nothing if the
// time is over before that has been checked.
std::optional<Prediction> widen(const History& observed, const Part& part, const Prediction& found,
                                Boundary boundary, const Level& level, const LevelSet& levels,
                                Budget& budget) {
  std::vector<SessionEnd> ends;
  std::map<EventId, TxnId> changed;
  std::vector<ChangedRead> reads;
  const auto txn = [&](TxnId t) { return t.is_none() ? t : part.txn[t.index]; };
  for (const SessionEnd& end : found.ends) {
    ends.push_back({.session = part.session[end.session.index],
                    .kept = end.kept,
                    .boundary = txn(end.boundary),
                    .stop = end.stop.is_none() ? end.stop : part.event[end.stop.index]});
  }
  for (const SessionId s : observed.sessions()) {
    const auto txns = observed.session_txns(s);
    const auto num_committed =
        std::ranges::count_if(txns, [&](TxnId t) { return observed.is_committed(t); });
    const bool is_known =
        std::ranges::any_of(ends, [&](const SessionEnd& end) { return end.session == s; });
    if (!is_known && num_committed > 0)
      ends.push_back({.session = s, .kept = static_cast<std::size_t>(num_committed)});
  }
  std::ranges::sort(ends, {}, &SessionEnd::session);
  // A changed read stands for all reads of its key and version in its transaction, where levels see
  // one version of a key.
  const bool by_event = found.by_event;
  for (const ChangedRead& read : found.changed) {
    const EventId e = part.event[read.read.index];
    reads.push_back({e, txn(read.observed), txn(read.predicted)});
    changed.emplace(e, txn(read.predicted));
    for (const EventId other : observed.events(observed.txn(e))) {
      if (!by_event && observed.is_read(other) && observed.is_external_read(other) &&
          observed.key(other) == observed.key(e) && observed.writer(other) == observed.writer(e))
        changed.emplace(other, txn(read.predicted));
    }
  }
  const auto writer = [&](EventId e) {
    const auto other = changed.find(e);
    return other == changed.end() ? observed.writer(e) : other->second;
  };
  PredictedHistory made = make_history(observed, ends, writer, {});
  CheckAnswer serial = check(made.history, serializable_level(), budget);
  const bool is_longer = later_writes_count(level, boundary);
  std::optional<PredictedHistory> longer;
  if (is_longer) longer = make_history(observed, ends, writer, {.later_writes = true});
  const History& judged = is_longer ? longer->history : made.history;
  const auto assignment = assign_levels(judged, level, levels);
  ISO_ASSERT(assignment.ok());
  CheckAnswer allowed = Checker(judged).check(*assignment, budget);
  if (serial.verdict.outcome == Outcome::Unknown || allowed.verdict.outcome == Outcome::Unknown)
    return std::nullopt;
  ISO_ASSERT(serial.verdict.outcome == Outcome::Violated);
  ISO_ASSERT(allowed.verdict.outcome == Outcome::Consistent);
  Prediction prediction{.history = std::move(made.history),
                        .observed_txn = std::move(made.observed_txn),
                        .changed = std::move(reads),
                        .ends = std::move(ends),
                        .allowed = std::move(allowed),
                        .unserializable = std::move(serial),
                        .is_fewest = found.is_fewest,
                        .by_event = by_event};
  lead_through_changes(observed, prediction);
  return prediction;
}

bool have_logics(const Assignment& levels) {
  return logic_of(*levels.base).has_value() &&
         std::ranges::all_of(levels.own, [](const Level* own) {
           return own == nullptr || logic_of(*own).has_value();
         });
}

PredictAnswer predict_parts(const History& observed,
                            const std::vector<std::vector<SessionId>>& sessions, const Level& level,
                            const LevelSet& levels, const PredictOptions& options, Budget& budget) {
  std::vector<Part> parts;
  for (const std::vector<SessionId>& some : sessions) {
    if (budget.expired_now()) break;
    parts.push_back(extract(observed, some));
    // Sessions are copied by their names: two of one name must stay apart.
    if (parts.back().history.num_sessions() != some.size())
      return predict_whole(observed, level, levels, options, budget);
  }
  // Small ones first: they are decided at once, and may be all that is needed.
  std::ranges::stable_sort(parts, {}, [](const Part& part) { return part.history.num_events(); });
  PredictAnswer answer;
  bool is_complete = parts.size() == sessions.size();
  bool is_enough = false;
  for (const Part& part : parts) {
    // What is found is enough, but how much there is to choose from is told of the whole.
    PredictAnswer of_part = is_enough ? count_choices(part.history, level, budget)
                                      : predict_whole(part.history, level, levels, options, budget);
    answer.reads += of_part.reads;
    answer.choices += of_part.choices;
    answer.literals += of_part.literals;
    answer.candidates += of_part.candidates;
    answer.generation_seconds += of_part.generation_seconds;
    answer.solving_seconds += of_part.solving_seconds;
    if (is_enough) continue;
    is_complete = is_complete && of_part.is_complete;
    if (!of_part.limit.empty()) answer.limit = of_part.limit;
    for (const Prediction& found : of_part.predictions) {
      auto whole = widen(observed, part, found, options.boundary, level, levels, budget);
      if (whole) answer.predictions.push_back(*std::move(whole));
    }
    if (budget.expired_now()) {
      is_complete = false;
      answer.limit = limit_reached();
      break;
    }
    is_enough = options.most == 1 && !answer.predictions.empty() &&
                (!options.minimal || answer.predictions.back().changed.size() == 1);
    if (is_enough) answer.limit.clear();
  }
  std::ranges::stable_sort(answer.predictions, {},
                           [](const Prediction& prediction) { return prediction.changed.size(); });
  if (answer.predictions.size() >= options.most) {
    is_complete = false;
    while (answer.predictions.size() > options.most) answer.predictions.pop_back();
  }
  if (!answer.limit.empty()) {
    for (Prediction& prediction : answer.predictions)
      prediction.is_fewest = prediction.changed.size() == 1;
  }
  answer.is_complete = is_complete;
  if (!answer.predictions.empty()) {
    answer.outcome = PredictOutcome::Predicted;
  } else if (answer.limit.empty()) {
    answer.outcome = PredictOutcome::None;
  }
  return answer;
}

}  // namespace

std::vector<std::vector<SessionId>> parts_of(const History& h) {
  Disjoint together(h.num_sessions());
  // By key: the sessions that use it, if one of them writes it.
  std::vector<SessionId> user(h.num_keys(), SessionId::none());
  const auto is_used = [&](EventId e) {
    if (h.is_write(e)) return true;
    if (!h.is_external_read(e)) return false;
    const auto writers = h.writers(h.key(e));
    return std::ranges::any_of(writers, [](TxnId w) { return w != kInitialTxn; });
  };
  for (const TxnId t : h.txns()) {
    if (t == kInitialTxn || !h.is_committed(t)) continue;
    const SessionId s = h.session(t);
    for (const EventId e : h.events(t)) {
      if (!is_used(e)) continue;
      SessionId& other = user[h.key(e).index];
      if (other.is_none()) other = s;
      together.unite(other.index, s.index);
    }
  }
  std::map<std::uint32_t, std::vector<SessionId>> parts;
  for (const SessionId s : h.sessions()) {
    const auto txns = h.session_txns(s);
    if (std::ranges::any_of(txns, [&](TxnId t) { return h.is_committed(t); }))
      parts[together.root(s.index)].push_back(s);
  }
  std::vector<std::vector<SessionId>> all;
  for (auto& [root, sessions] : parts) all.push_back(std::move(sessions));
  return all;
}

PredictAnswer predict(const History& observed, const Level& level, const LevelSet& levels,
                      const PredictOptions& options, Budget& budget) {
  const auto assignment = assign_levels(observed, level, levels);
  ISO_ASSERT(assignment.ok());  // check_observed() has tried
  if (options.by_parts && have_logics(*assignment)) {
    auto parts = parts_of(observed);
    if (parts.size() > 1) return predict_parts(observed, parts, level, levels, options, budget);
  }
  return predict_whole(observed, level, levels, options, budget);
}

}  // namespace isoscope::predict
