#include "history/real_time.h"

#include <algorithm>

namespace isoscope {

RealTimeHistory::RealTimeHistory(const History& h) : h_(h) {
  find_points();
  place_points();
  copy_transactions();
  copy_keys();
  copy_lists();
  copy_sessions();
  made_.rows_ = std::make_shared<RowTable>();
}

void RealTimeHistory::find_points() {
  std::vector<TxnId> starts;
  for (TxnId t : h_.txns()) {
    const auto times = h_.times(t);
    if (!times || !h_.is_present(t)) continue;
    starts.push_back(t);
    if (times->end != TxnTimes::kOpen) ends_.push_back(t);
  }
  const auto start = [&](TxnId t) { return h_.times(t)->start; };
  const auto end = [&](TxnId t) { return h_.times(t)->end; };
  std::stable_sort(starts.begin(), starts.end(),
                   [&](TxnId a, TxnId b) { return start(a) < start(b); });
  std::stable_sort(ends_.begin(), ends_.end(), [&](TxnId a, TxnId b) { return end(a) < end(b); });
  reads_point_.assign(h_.num_txns(), kNone);
  std::uint32_t ended = 0;
  for (TxnId t : starts) {
    while (ended < ends_.size() && end(ends_[ended]) < start(t)) ++ended;
    if (ended == 0) continue;
    if (point_ends_.empty() || point_ends_.back() != ended) point_ends_.push_back(ended);
    reads_point_[t.index] = static_cast<std::uint32_t>(point_ends_.size() - 1);
  }
  ends_.resize(point_ends_.empty() ? 0 : point_ends_.back());
  end_of_.assign(h_.num_txns(), kNone);
  for (std::uint32_t i = 0; i < ends_.size(); ++i) end_of_[ends_[i].index] = i;
}

// Before the first transaction of the file that comes after the point: files are mostly in an order
// of commits, and the one that is made is then in one, too.
void RealTimeHistory::place_points() {
  place_.assign(point_ends_.size(), TxnId::none());
  for (TxnId t : h_.txns()) {
    const std::uint32_t point = reads_point_[t.index];
    if (point != kNone) place_[point] = std::min(place_[point], t);
  }
  for (std::size_t p = place_.size(); p-- > 1;) place_[p - 1] = std::min(place_[p - 1], place_[p]);
}

KeyId RealTimeHistory::point_key(std::uint32_t point) const {
  return KeyId{static_cast<std::uint32_t>(h_.num_keys() + point)};
}

KeyId RealTimeHistory::end_key(std::size_t end) const {
  return KeyId{static_cast<std::uint32_t>(h_.num_keys() + point_ends_.size() + end)};
}

TxnId RealTimeHistory::begin(SessionId session, std::uint8_t flags, TxnId original) {
  const TxnId made{static_cast<std::uint32_t>(made_.txn_session_.size())};
  made_.txn_session_.push_back(session);
  made_.txn_flags_.push_back(flags);
  made_.txn_begin_.push_back(static_cast<std::uint32_t>(made_.event_key_.size()));
  originals_.push_back(original);
  return made;
}

void RealTimeHistory::add_event(EventKind kind, std::uint8_t flags, KeyId x, TxnId writer) {
  made_.event_flags_.push_back(static_cast<std::uint8_t>(
      static_cast<unsigned>(kind) | static_cast<unsigned>(ValueKind::Int) << 2U | flags));
  made_.event_key_.push_back(x);
  made_.event_value_.push_back(1);
  made_.event_writer_.push_back(writer);
  made_.event_line_.push_back(0);
}

void RealTimeHistory::add_point(std::uint32_t point) {
  const std::uint8_t present = static_cast<std::uint8_t>(TxnStatus::Committed) | History::kPresent;
  points_.push_back(begin(clock_, present, TxnId::none()));
  const std::uint32_t first = point == 0 ? 0 : point_ends_[point - 1];
  for (std::uint32_t i = first; i < point_ends_[point]; ++i)
    add_event(EventKind::Read, History::kExternalRead, end_key(i), ends_[i]);  // mapped later
  add_event(EventKind::Write, History::kFinalWrite, point_key(point), TxnId::none());
}

void RealTimeHistory::copy_events(TxnId t) {
  for (EventId e : h_.events(t)) {
    made_.event_flags_.push_back(h_.event_flags_[e.index]);
    made_.event_key_.push_back(h_.event_key_[e.index]);
    made_.event_value_.push_back(h_.event_value_[e.index]);
    made_.event_writer_.push_back(h_.event_writer_[e.index]);
    made_.event_line_.push_back(h_.event_line_[e.index]);
  }
}

void RealTimeHistory::copy_transactions() {
  clock_ = SessionId{static_cast<std::uint32_t>(h_.num_sessions())};
  made_for_.resize(h_.num_txns());
  writer_for_.resize(h_.num_txns());
  first_event_.resize(h_.num_txns());
  std::uint32_t next_point = 0;
  for (TxnId t : h_.txns()) {
    for (; next_point < place_.size() && place_[next_point] == t; ++next_point)
      add_point(next_point);
    const TxnId made = begin(h_.session(t), h_.txn_flags_[t.index], t);
    made_for_[t.index] = writer_for_[t.index] = made;
    const std::uint32_t point = reads_point_[t.index];
    // The point itself may come later: its id is put in when all are known.
    if (point != kNone)
      add_event(EventKind::Read, History::kExternalRead, point_key(point), TxnId::none());
    first_event_[t.index] = static_cast<std::uint32_t>(made_.event_key_.size());
    copy_events(t);
    if (end_of_[t.index] == kNone) continue;
    if (!h_.is_committed(t)) {
      const std::uint8_t present =
          static_cast<std::uint8_t>(TxnStatus::Committed) | History::kPresent;
      writer_for_[t.index] = begin(h_.session(t), present, TxnId::none());
    }
    add_event(EventKind::Write, History::kFinalWrite, end_key(end_of_[t.index]), TxnId::none());
  }
  made_.txn_begin_.push_back(static_cast<std::uint32_t>(made_.event_key_.size()));
  made_.txn_place_.resize(made_.txn_session_.size());
  for (std::size_t e = 0; e < made_.event_key_.size(); ++e) {
    const std::uint32_t x = made_.event_key_[e].index;
    TxnId& writer = made_.event_writer_[e];
    if (!made_.is_read(EventId{static_cast<std::uint32_t>(e)})) continue;
    if (x < h_.num_keys()) {
      if (!writer.is_none()) writer = made_for_[writer.index];
    } else if (x < h_.num_keys() + point_ends_.size()) {
      writer = points_[x - h_.num_keys()];
    } else {
      writer = writer_for_[writer.index];
    }
  }
}

void RealTimeHistory::copy_keys() {
  const std::size_t fresh = point_ends_.size() + ends_.size();
  made_.key_names_.assign(h_.num_keys() + fresh, Value::of(0));
  made_.has_initial_ = h_.has_initial_;
  made_.has_initial_.resize(h_.num_keys() + fresh, 0);
  made_.initial_values_ = h_.initial_values_;
  made_.initial_values_.resize(h_.num_keys() + fresh);
  made_.writers_begin_ = h_.writers_begin_;
  made_.writers_.reserve(h_.writers_.size() + fresh);
  for (TxnId t : h_.writers_) made_.writers_.push_back(made_for_[t.index]);
  const auto add = [&](TxnId writer) {
    made_.writers_.push_back(writer);
    made_.writers_begin_.push_back(static_cast<std::uint32_t>(made_.writers_.size()));
  };
  for (TxnId point : points_) add(point);
  for (TxnId t : ends_) add(writer_for_[t.index]);
}

void RealTimeHistory::copy_lists() {
  for (const VersionEdge& edge : h_.version_edges_)
    made_.version_edges_.push_back(
        {made_for_[edge.before.index], made_for_[edge.after.index], edge.key});
  if (!h_.has_lists()) return;
  const auto event = [&](EventId e) {
    const TxnId t = h_.txn(e);
    return EventId{first_event_[t.index] + e.index - h_.events(t).front().index};
  };
  made_.list_keys_ = h_.list_keys_;
  made_.list_keys_.resize(made_.num_keys(), 0);
  for (const auto& [x, order] : h_.version_orders_) {
    for (EventId append : order) made_.version_orders_[x].push_back(event(append));
  }
  for (const auto& [read, elements] : h_.odd_lists_) made_.odd_lists_[event(read)] = elements;
  made_.shown_writers_.reserve(h_.shown_writers_.size());
  for (TxnId t : h_.shown_writers_)
    made_.shown_writers_.push_back(t.is_none() ? t : made_for_[t.index]);
  if (h_.shown_.empty()) return;
  made_.shown_.resize(made_.num_events());
  for (TxnId t : h_.txns()) {
    const auto events = h_.events(t);
    for (EventId e : events)
      made_.shown_[first_event_[t.index] + e.index - events.front().index] = h_.shown_[e.index];
  }
}

void RealTimeHistory::copy_sessions() {
  const std::size_t n = h_.num_sessions() + 1;
  made_.session_names_.assign(n, Value::nil());
  made_.session_begin_.assign(n + 1, 0);
  for (TxnId t : made_.txns()) {
    if (t != made_for_[0]) ++made_.session_begin_[made_.session(t).index + 1];
  }
  for (std::size_t s = 0; s < n; ++s) made_.session_begin_[s + 1] += made_.session_begin_[s];
  made_.session_txns_.resize(made_.num_txns() - 1);
  std::vector<std::uint32_t> next(made_.session_begin_.begin(), made_.session_begin_.end() - 1);
  for (TxnId t : made_.txns()) {
    if (t != made_for_[0]) made_.session_txns_[next[made_.session(t).index]++] = t;
  }
}

EventId RealTimeHistory::original(EventId made) const {
  const TxnId t = original(made_.txn(made));
  if (t.is_none()) return EventId::none();
  const auto events = h_.events(t);
  const std::uint32_t place = made.index - first_event_[t.index];
  return place < events.size() ? EventId{events.front().index + place} : EventId::none();
}

std::vector<TxnId> RealTimeHistory::with_auxiliary(const std::vector<TxnId>& order) const {
  std::vector<std::uint32_t> left(points_.size());  // by point: how many are to come before it
  for (std::size_t p = 0; p < points_.size(); ++p)
    left[p] = point_ends_[p] - (p == 0 ? 0 : point_ends_[p - 1]);
  std::vector<std::uint32_t> point_of(ends_.size());
  for (std::uint32_t p = 0, i = 0; i < ends_.size(); ++i) {
    while (point_ends_[p] <= i) ++p;
    point_of[i] = p;
  }
  std::vector<TxnId> whole;
  whole.reserve(made_.num_txns());
  std::size_t next = 0;
  for (TxnId t : order) {
    whole.push_back(made_for_[t.index]);
    const std::uint32_t end = end_of_[t.index];
    if (end == kNone) continue;
    if (writer_for_[t.index] != made_for_[t.index]) whole.push_back(writer_for_[t.index]);
    --left[point_of[end]];
    for (; next < points_.size() && left[next] == 0; ++next) whole.push_back(points_[next]);
  }
  for (; next < points_.size(); ++next) whole.push_back(points_[next]);
  return whole;
}

}  // namespace isoscope
