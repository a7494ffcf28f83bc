#include "history/history.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoscope {

TxnId History::txn(EventId e) const {
  const auto after = std::upper_bound(txn_begin_.begin(), txn_begin_.end(), e.index);
  return TxnId{static_cast<std::uint32_t>(after - txn_begin_.begin() - 1)};
}

Place History::place(EventId e) const {
  return {event_line_[e.index], event_column_.empty() ? 1 : event_column_[e.index]};
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
