#include "history/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace isoscope {

TxnId History::txn(EventId e) const {
  const auto after = std::upper_bound(txn_begin_.begin(), txn_begin_.end(), e.index);
  return TxnId{static_cast<std::uint32_t>(after - txn_begin_.begin() - 1)};
}

Place History::place(EventId e) const {
  return {event_line_[e.index], event_column_.empty() ? 1 : event_column_[e.index]};
}

std::span<const RowLock> History::locks(TxnId t) const {
  const auto [first, last] =
      std::equal_range(locks_.begin(), locks_.end(), RowLock{.txn = t, .row = {}, .before = {}},
                       [](const RowLock& a, const RowLock& b) { return a.txn < b.txn; });
  return {first, last};
}

bool History::writes(TxnId t, KeyId x) const {
  const auto all = writers(x);
  return std::binary_search(all.begin(), all.end(), t);
}

std::vector<ReadFrom> History::reads_from() const {
  std::vector<ReadFrom> result;
  for (TxnId t3 : txns()) {
    for (EventId e : events(t3)) {
      if (is_external_read(e)) result.push_back({key(e), writer(e), t3});
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

History History::with_writers(std::span<const TxnId> writers) && {
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const std::uint32_t e = choices_[i].read.index;
    event_writer_[e] = writers[i];
    if (writers[i].is_none()) {
      event_flags_[e] &= static_cast<std::uint8_t>(~kExternalRead);
    } else {
      event_flags_[e] |= kExternalRead;
    }
  }
  return std::move(*this);
}

bool History::has_coarse_reads() const {
  return std::ranges::any_of(event_flags_,
                             [](std::uint8_t flags) { return (flags & kCoarse) != 0; });
}

History History::without_coarse_reads() && {
  for (std::size_t e = 0; e < event_flags_.size(); ++e) {
    if ((event_flags_[e] & kCoarse) == 0) continue;
    event_writer_[e] = TxnId::none();
    event_flags_[e] &= static_cast<std::uint8_t>(~kExternalRead);
  }
  return std::move(*this);
}

History History::without_session_order() && {
  std::vector<Value> names;
  session_txns_.clear();
  session_begin_.assign(1, 0);
  for (TxnId t : txns()) {
    if (t == kInitialTxn) continue;
    names.push_back(session_names_[txn_session_[t.index].index]);
    txn_session_[t.index] = SessionId{t.index - 1};
    session_txns_.push_back(t);
    session_begin_.push_back(static_cast<std::uint32_t>(session_txns_.size()));
  }
  session_names_ = std::move(names);
  return std::move(*this);
}

Error History::ambiguity() const {
  const ReadChoice& choice = choices_.front();
  const KeyId x = key(choice.read);
  const auto writer = [&](TxnId t) {
    if (t == kInitialTxn) return std::string("the initial state");
    EventId write = EventId::none();
    for (EventId e : events(t)) {
      if (is_write(e) && key(e) == x) write = e;
    }
    return fmt::format("{} ({})", name(t), show(place(write)));
  };
  return Error{.where = counts_records_ ? Place{} : place(choice.read),
               .what = fmt::format("'{}' = {} is read here, but {} and {} both write it", name(x),
                                   show(value(choice.read)), writer(choice.writers[0]),
                                   writer(choice.writers[1])),
               .hint = "make written values unique, or name the writer of the read"};
}

std::string History::initial_statement(KeyId x, Value value) const {
  if (has_explicit_initial(x)) return {};
  const std::string key = name(x);
  const std::string shown =
      value.is_text() ? fmt::format("\"{}\"", texts_.text(value)) : show(value);
  const auto is_word = [](std::string_view text) {
    const auto is_inner = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
           std::all_of(text.begin(), text.end(), is_inner);
  };
  switch (initial_syntax_) {
    case InitialSyntax::Words:
      return is_word(key) ? fmt::format("init {}={}", key, shown)
                          : fmt::format("init \"{}\"={}", key, shown);
    case InitialSyntax::Member:
      return key_name(x).is_int() ? fmt::format("\"init\":[[{},{}]]", key, shown)
                                  : fmt::format("\"init\":{{\"{}\":{}}}", key, shown);
    case InitialSyntax::None: break;
  }
  return {};
}

std::string History::show(Place place) const {
  if (counts_records_)
    return fmt::format("record {} at byte {}", place.line,
                       place.column == 0 ? 0 : place.column - 1);
  return place.column > 1 ? fmt::format("line {}:{}", place.line, place.column)
                          : fmt::format("line {}", place.line);
}

std::span<const EventId> History::version_order(KeyId x) const {
  const auto found = version_orders_.find(x);
  if (found == version_orders_.end()) return {};
  return found->second;
}

std::vector<Value> History::list(EventId e) const {
  if (const auto odd = odd_lists_.find(e); odd != odd_lists_.end()) return odd->second;
  std::vector<Value> elements;
  const Value last = value(e);
  if (last.is_nil()) return elements;
  for (EventId append : version_order(key(e))) {
    elements.push_back(value(append));
    if (elements.back() == last) break;
  }
  return elements;
}

Value History::last_foreign(EventId e) const {
  std::vector<Value> elements = list(e);
  const auto own = events(txn(e));
  const auto is_own = [&](Value element) {
    return std::any_of(own.begin(), own.end(), [&](EventId w) {
      return w < e && is_write(w) && key(w) == key(e) && value(w) == element;
    });
  };
  while (!elements.empty() && is_own(elements.back())) elements.pop_back();
  return elements.empty() ? Value::nil() : elements.back();
}

bool History::shows(EventId e, TxnId t) const {
  if (writer(e) == t) return true;
  const auto others = also_shown(e);
  return std::find(others.begin(), others.end(), t) != others.end();
}

std::string History::name(TxnId t) const {
  const Value given = given_name(t);
  if (given.is_int()) return fmt::format("t{}", given.bits);
  if (given.is_text()) return std::string(texts_.text(given));
  return fmt::format("T{}", t.index);
}

std::string History::name(SessionId s) const {
  if (s.is_none()) return "initial state";
  const Value given = given_name(s);
  if (given.is_int()) return fmt::format("s{}", given.bits);
  if (given.is_text()) return std::string(texts_.text(given));
  return fmt::format("s{}", s.index + 1);
}

std::string_view History::level(TxnId t) const {
  if (txn_levels_.empty() || txn_levels_[t.index] == 0) return {};
  return level_names_[txn_levels_[t.index] - 1U];
}

const TxnNote* History::note(TxnId t) const {
  const auto found = notes_.find(t);
  return found == notes_.end() ? nullptr : &found->second;
}

}  // namespace isoscope
