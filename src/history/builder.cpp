#include "history/builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "history/resolver.h"
#include "history/txn_names.h"

namespace isoscope {

namespace {

constexpr std::int64_t kSmallKeys = std::int64_t{1} << 22;

// Reorders `items` so that position `to[i]` receives what was at i.
template <class T>
void scatter(std::vector<T>& items, const std::vector<std::uint32_t>& to) {
  if (items.empty()) return;
  std::vector<T> moved(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) moved[to[i]] = items[i];
  items = std::move(moved);
}

}  // namespace

HistoryBuilder::HistoryBuilder(InitialValues initial) : initial_(initial) {
  history_.txn_session_.push_back(SessionId::none());
  history_.txn_flags_.push_back(static_cast<std::uint8_t>(TxnStatus::Committed));
  history_.txn_place_.push_back({});
}

SessionId HistoryBuilder::add_session(Value name) {
  const SessionId id{static_cast<std::uint32_t>(history_.session_names_.size())};
  history_.session_names_.push_back(name);
  return id;
}

SessionId HistoryBuilder::session(std::string_view name) {
  const Value text = history_.texts_.intern(name);
  const auto [entry, fresh] = text_sessions_.try_emplace(text.bits);
  if (fresh) entry->second = add_session(text);
  return entry->second;
}

SessionId HistoryBuilder::session(std::int64_t number) {
  const auto [entry, fresh] = number_sessions_.try_emplace(number);
  if (fresh) entry->second = add_session(Value::of(number));
  return entry->second;
}

SessionId HistoryBuilder::unnamed_session() { return add_session(Value::nil()); }

KeyId HistoryBuilder::add_key(Value name) {
  const KeyId id{static_cast<std::uint32_t>(history_.key_names_.size())};
  history_.key_names_.push_back(name);
  return id;
}

KeyId HistoryBuilder::key(std::string_view name) {
  const Value text = history_.texts_.intern(name);
  const auto slot = static_cast<std::size_t>(text.bits);
  if (slot >= text_keys_.size())
    text_keys_.resize(std::max(slot + 1, text_keys_.size() * 2), KeyId::none());
  if (text_keys_[slot].is_none()) text_keys_[slot] = add_key(text);
  return text_keys_[slot];
}

KeyId HistoryBuilder::key(std::int64_t number) {
  if (number >= 0 && number < kSmallKeys) {
    const auto slot = static_cast<std::size_t>(number);
    if (slot >= small_number_keys_.size())
      small_number_keys_.resize(std::max(slot + 1, small_number_keys_.size() * 2), KeyId::none());
    if (small_number_keys_[slot].is_none()) small_number_keys_[slot] = add_key(Value::of(number));
    return small_number_keys_[slot];
  }
  const auto [entry, fresh] = number_keys_.try_emplace(number);
  if (fresh) entry->second = add_key(Value::of(number));
  return entry->second;
}

TxnId HistoryBuilder::begin(SessionId s, TxnStatus status, Place place) {
  const TxnId id{static_cast<std::uint32_t>(num_txns())};
  history_.txn_session_.push_back(s);
  history_.txn_flags_.push_back(static_cast<std::uint8_t>(status));
  history_.txn_place_.push_back(place);
  return id;
}

void HistoryBuilder::name_txn(TxnId t, Value name) {
  if (history_.txn_names_.size() < num_txns()) history_.txn_names_.resize(num_txns());
  history_.txn_names_[t.index] = name;
}

void HistoryBuilder::set_name(TxnId t, std::string_view name) {
  named_by_text_ = true;
  // Names that follow from the position, or are a number, cost no text: what `convert` writes
  // for a million transactions reads back in a few bytes each.
  if (const auto position = numbered(name, 'T'); position == static_cast<std::int64_t>(t.index))
    return;
  if (const auto number = numbered(name, 't')) return name_txn(t, Value::of(*number));
  name_txn(t, history_.texts_.intern(name));
}

void HistoryBuilder::set_name(TxnId t, std::int64_t number) { name_txn(t, Value::of(number)); }

void HistoryBuilder::set_status(TxnId t, TxnStatus status) {
  history_.txn_flags_[t.index] = static_cast<std::uint8_t>(status);
}

void HistoryBuilder::set_level(TxnId t, std::string_view level) {
  auto& names = history_.level_names_;
  auto found = std::find(names.begin(), names.end(), level);
  if (found == names.end()) found = names.insert(names.end(), std::string(level));
  history_.txn_levels_.resize(num_txns());
  history_.txn_levels_[t.index] = static_cast<std::uint16_t>(found - names.begin() + 1);
}

void HistoryBuilder::set_note(TxnId t, TxnNote note) { history_.notes_[t] = std::move(note); }

void HistoryBuilder::add(TxnId t, EventKind kind, KeyId x, Value value, Place place) {
  if (!event_txn_.empty() && t < event_txn_.back()) grouped_ = false;
  event_txn_.push_back(t);
  history_.event_flags_.push_back(static_cast<std::uint8_t>(
      static_cast<unsigned>(kind) | static_cast<unsigned>(value.kind) << 2U));
  history_.event_key_.push_back(x);
  history_.event_value_.push_back(value.bits);
  history_.event_line_.push_back(place.line);
  auto& columns = history_.event_column_;
  if (place.column > 1 && columns.empty()) columns.resize(event_txn_.size() - 1, 1);
  if (place.column > 1 || !columns.empty()) columns.push_back(place.column);
  if (!in_statement_.empty()) history_.event_statement_.push_back(statement_of_next(t));
}

// Until the first statement or lock comes, nothing is written down about statements: most
// histories have none.
void HistoryBuilder::count_statements() {
  auto& counts = history_.txn_statements_;
  if (!in_statement_.empty()) {
    counts.resize(num_txns());
    in_statement_.resize(num_txns());
    return;
  }
  in_statement_.resize(num_txns());
  counts.resize(num_txns());
  history_.event_statement_.reserve(num_events());
  for (TxnId t : event_txn_) history_.event_statement_.push_back(counts[t.index]++);
}

std::uint32_t HistoryBuilder::statement_of_next(TxnId t) {
  count_statements();
  if (in_statement_[t.index] == 0) ++history_.txn_statements_[t.index];
  return history_.txn_statements_[t.index] - 1;
}

void HistoryBuilder::begin_statement(TxnId t) {
  count_statements();
  ++history_.txn_statements_[t.index];
  in_statement_[t.index] = 1;
}

void HistoryBuilder::end_statement(TxnId t) {
  count_statements();
  in_statement_[t.index] = 0;
}

void HistoryBuilder::lock(TxnId t, Value key, LockMode mode, Place place) {
  const auto arrival = static_cast<std::uint32_t>(num_events());
  waiting_locks_.push_back({t, statement_of_next(t), key, mode, place, arrival});
}

void HistoryBuilder::set_times(TxnId t, TxnTimes times) {
  history_.txn_times_.resize(num_txns(), {.start = TxnTimes::kOpen, .end = TxnTimes::kOpen});
  history_.txn_times_[t.index] = times;
}

void HistoryBuilder::set_commit_number(TxnId t, std::int64_t number) {
  history_.txn_commits_.resize(num_txns(), History::kNoCommit);
  history_.txn_commits_[t.index] = number;
}

void HistoryBuilder::read_from(TxnId t, KeyId x, std::string_view writer, Place place,
                               bool is_coarse) {
  named_reads_.push_back(
      {static_cast<std::uint32_t>(num_events()), history_.texts_.intern(writer)});
  add(t, EventKind::Read, x, Value::nil(), place);
  if (is_coarse) history_.event_flags_.back() |= History::kCoarse;
}

void HistoryBuilder::read_list(TxnId t, KeyId x, std::span<const Value> elements, Place place) {
  list_reads_.push_back({static_cast<std::uint32_t>(num_events()),
                         static_cast<std::uint32_t>(list_elements_.size()),
                         static_cast<std::uint32_t>(elements.size())});
  list_elements_.insert(list_elements_.end(), elements.begin(), elements.end());
  add(t, EventKind::Read, x, elements.empty() ? Value::nil() : elements.back(), place);
}

void HistoryBuilder::set_initial(KeyId x, Value value, Place place) {
  const auto [entry, fresh] = stated_initial_.try_emplace(x.index, StatedInitial{value, place});
  if (fresh || entry->second.value == value || !first_error_.what.empty()) return;
  first_error_ =
      Error{.where = place,
            .what = fmt::format("key '{}' has two initial values, {} and {}", history_.name(x),
                                history_.show(entry->second.value), history_.show(value)),
            .hint = fmt::format("the first one is on {}", history_.show(entry->second.place))};
}

// Events of a transaction must be neighbours. Files that interleave transactions pay one
// counting sort; the others nothing.
void HistoryBuilder::group_events_by_txn() {
  std::vector<std::uint32_t> begin(num_txns() + 1, 0);
  for (TxnId t : event_txn_) ++begin[t.index + 1];
  for (std::size_t t = 0; t < num_txns(); ++t) begin[t + 1] += begin[t];
  history_.txn_begin_ = begin;
  settle_locks();
  if (grouped_) return;

  std::vector<std::uint32_t> to(num_events());
  for (std::size_t e = 0; e < num_events(); ++e) to[e] = begin[event_txn_[e].index]++;
  scatter(event_txn_, to);
  scatter(history_.event_flags_, to);
  scatter(history_.event_key_, to);
  scatter(history_.event_value_, to);
  scatter(history_.event_line_, to);
  scatter(history_.event_column_, to);
  scatter(history_.event_statement_, to);
  for (NamedRead& read : named_reads_) read.event = to[read.event];
  for (ListRead& read : list_reads_) read.event = to[read.event];
}

// Events are still in the order of their arrival: a lock stands before the next one of its
// transaction, of which `seen` tells the position.
void HistoryBuilder::settle_locks() {
  if (waiting_locks_.empty()) return;
  std::vector<std::uint32_t> seen(history_.txn_begin_.begin(), history_.txn_begin_.end() - 1);
  RowTable& rows = *history_.rows_;
  rows.filled(history_.key_names_, history_.texts_);
  auto next = waiting_locks_.begin();
  for (std::uint32_t e = 0; e <= num_events(); ++e) {
    for (; next != waiting_locks_.end() && next->arrival == e; ++next) {
      history_.locks_.push_back({.txn = next->txn,
                                 .statement = next->statement,
                                 .row = rows.add(next->key, history_.texts_),
                                 .mode = next->mode,
                                 .before = EventId{seen[next->txn.index]},
                                 .place = next->place});
    }
    if (e < num_events()) ++seen[event_txn_[e].index];
  }
  std::stable_sort(history_.locks_.begin(), history_.locks_.end(),
                   [](const RowLock& a, const RowLock& b) { return a.txn < b.txn; });
}

// Groups of one event each say nothing.
void HistoryBuilder::drop_default_statements() {
  if (in_statement_.empty()) return;
  history_.txn_statements_.resize(num_txns());
  if (!history_.locks_.empty()) return;
  for (TxnId t : history_.txns()) {
    const auto events = history_.events(t);
    if (history_.txn_statements_[t.index] != events.size()) return;
    for (EventId e : events) {
      if (history_.event_statement_[e.index] != e.index - events.front().index) return;
    }
  }
  history_.txn_statements_ = {};
  history_.event_statement_ = {};
}

Result<void> HistoryBuilder::check_times() const {
  for (TxnId t : history_.txns()) {
    const auto times = history_.times(t);
    if (!times || times->start <= times->end) continue;
    return Error{.where = history_.place(t),
                 .what = fmt::format("{} ends at {}, before it starts at {}", history_.name(t),
                                     times->end, times->start)};
  }
  return {};
}

Result<void> HistoryBuilder::check_commit_numbers() const {
  if (!history_.has_commit_numbers()) return {};
  std::vector<TxnId> numbered;
  for (TxnId t : history_.txns()) {
    if (history_.commit_number(t)) numbered.push_back(t);
  }
  const auto number = [&](TxnId t) { return *history_.commit_number(t); };
  std::stable_sort(numbered.begin(), numbered.end(),
                   [&](TxnId a, TxnId b) { return number(a) < number(b); });
  for (std::size_t i = 1; i < numbered.size(); ++i) {
    const TxnId a = numbered[i - 1];
    const TxnId b = numbered[i];
    if (number(a) != number(b)) continue;
    return Error{.where = history_.place(b),
                 .what = fmt::format("{} and {} both are number {} in the order of commits",
                                     history_.name(a), history_.name(b), number(b)),
                 .hint = fmt::format("the first one is on {}", history_.show(history_.place(a)))};
  }
  return {};
}

Result<History> HistoryBuilder::build(Budget* budget) && {
  auto history = std::move(*this).build_open(budget);
  if (history && !history->choices().empty()) return history->ambiguity();
  return history;
}

Result<History> HistoryBuilder::build_open(Budget* budget) && {
  if (!first_error_.what.empty()) return first_error_;
  if (num_events() >= HistoryResolver::kMaxEvents)
    return Error{.what = "the history has more than 2^30 events",
                 .hint = "split it: sessions that share no key can be checked apart"};
  small_number_keys_ = {};
  text_keys_ = {};
  if (!history_.txn_names_.empty()) history_.txn_names_.resize(num_txns());
  if (!history_.txn_levels_.empty()) history_.txn_levels_.resize(num_txns());
  if (!history_.txn_times_.empty()) set_times(kInitialTxn, {.start = TxnTimes::kOpen});
  if (!history_.txn_commits_.empty()) set_commit_number(kInitialTxn, History::kNoCommit);
  history_.rows_ = std::make_shared<RowTable>();
  group_events_by_txn();
  drop_default_statements();
  if (auto done = check_times(); !done) return done.error();
  if (auto done = check_commit_numbers(); !done) return done.error();
  return HistoryResolver(*this, budget).resolve();
}

}  // namespace isoscope
