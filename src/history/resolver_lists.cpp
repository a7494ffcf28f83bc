// List-append histories: reads show whole lists, from which the version order of a key follows.
//
// The longest list that is shown is the version order, and every other list must be a prefix of it.
// Who aborted has read, too: its lists count up to its own appends, which are in no other list. The
// lists of a transaction of unknown outcome count if some transaction reads from it. An append that
// no read shows comes after all that are shown (Elle's convention). Every element that a list shows
// was read: the last one that another transaction appended tells the version, the others that their
// transactions are seen.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "history/resolver.h"
#include "history/txn_names.h"

namespace isoscope {

Result<void> HistoryResolver::resolve_lists() {
  const auto is_append = [&](EventId e) { return h_.kind(e) == EventKind::Append; };
  const auto all = h_.all_events();
  if (b_.list_reads_.empty() && std::none_of(all.begin(), all.end(), is_append)) return {};

  h_.list_keys_.assign(h_.num_keys(), 0);
  for (const auto& read : b_.list_reads_) h_.list_keys_[h_.event_key_[read.event].index] = 1;
  for (EventId e : all) {
    if (is_append(e)) h_.list_keys_[h_.key(e).index] = 1;
  }
  for (EventId e : all) {
    // A read of nil shows the empty list.
    const bool as_register = h_.kind(e) == EventKind::Write || open_read_[e.index] == kByName ||
                             (open_read_[e.index] == kByValue && !h_.value(e).is_nil());
    if (as_register && h_.is_list(h_.key(e)))
      return Error{.where = h_.place(e),
                   .what = fmt::format("'{}' is used as a register here and as a list elsewhere",
                                       h_.name(h_.key(e))),
                   .hint = "use either writes or appends on one key"};
  }

  find_unknown_readers();
  h_.shown_.resize(h_.num_events());
  last_shown_.assign(h_.num_events(), EventId::none());
  auto reads = b_.list_reads_;
  std::sort(reads.begin(), reads.end(), [&](const ListRead& a, const ListRead& b) {
    return std::pair(h_.event_key_[a.event], a.event) < std::pair(h_.event_key_[b.event], b.event);
  });
  for (std::size_t i = 0; i < reads.size();) {
    const KeyId x = h_.event_key_[reads[i].event];
    std::size_t j = i;
    while (j < reads.size() && h_.event_key_[reads[j].event] == x) ++j;
    if (auto done = resolve_list_key(x, std::span(reads).subspan(i, j - i)); !done) return done;
    i = j;
  }
  return {};
}

// Which transactions of unknown outcome that show lists does some transaction read from? settle_*()
// finds all of them, but only after the version orders, which depend on it.
void HistoryResolver::find_unknown_readers() {
  if (std::ranges::none_of(b_.list_reads_, [&](const ListRead& read) {
        return is_unknown(txn_of(EventId{read.event}));
      }))
    return;
  is_counted_.assign(h_.num_txns(), 0);
  for (TxnId t : h_.txns()) is_counted_[t.index] = is_unknown(t) ? 0 : 1;
  bool has_grown = false;
  const auto count_txn = [&](TxnId writer) {
    has_grown = has_grown || is_counted_[writer.index] == 0;
    is_counted_[writer.index] = 1;
  };
  const auto count = [&](EventId write) {
    if (!write.is_none()) count_txn(txn_of(write));
  };
  // A name that stands twice, or for no transaction, is refused when the names are resolved.
  const auto names = b_.named_reads_.empty() ? Result<TxnNames>(Error{}) : TxnNames::of(h_);
  do {  // one round per step of a chain of unknown outcomes
    has_grown = false;
    for (const ListRead& read : b_.list_reads_) {
      const EventId e{read.event};
      if (is_counted_[txn_of(e).index] == 0) continue;
      for (Value v : elements(read)) count(write_of(h_.key(e), v));
    }
    for (EventId e : h_.all_events()) {
      if (open_read_[e.index] == kByValue && is_counted_[txn_of(e).index] != 0)
        count(write_of(h_.key(e), h_.value(e)));
    }
    for (const auto& read : b_.named_reads_) {
      if (!names || is_counted_[txn_of(EventId{read.event}).index] == 0) continue;
      if (const auto writer = names->find(h_.texts().text(read.writer))) count_txn(*writer);
    }
  } while (has_grown && !is_over());
}

// How much of a list tells the version order: all of it, nothing, or what stands before the appends
// of a reader that aborted. A list that no level excuses tells nothing.
std::uint32_t HistoryResolver::telling_size(const ListRead& read) {
  const TxnId t = txn_of(EventId{read.event});
  const KeyId x = h_.key(EventId{read.event});
  switch (h_.status(t)) {
    case TxnStatus::Committed: return read.size;
    case TxnStatus::Unknown: return is_counted_[t.index] != 0 ? read.size : 0;
    case TxnStatus::Aborted: break;
  }
  const auto shown = elements(read);
  auto size = static_cast<std::uint32_t>(shown.size());
  const auto writer = [&](Value v) {
    const EventId write = write_of(x, v);
    return write.is_none() ? TxnId::none() : txn_of(write);
  };
  while (size > 0 && writer(shown[size - 1]) == t) --size;
  const bool is_sound = std::all_of(shown.begin(), shown.begin() + size, [&](Value v) {
    const TxnId u = writer(v);
    return !u.is_none() && h_.status(u) != TxnStatus::Aborted;
  });
  return is_sound ? size : 0;
}

// Writers of known order, then the appends that no read shows.
void HistoryResolver::order_versions() {
  if (h_.has_lists()) order_versions_of_lists();
  if (h_.has_commit_numbers()) order_versions_by_commits();
  auto& edges = h_.version_edges_;
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

void HistoryResolver::order_versions_by_commits() {
  std::vector<std::pair<std::int64_t, TxnId>> writers;
  for (KeyId x : h_.keys()) {
    if (h_.is_list(x)) continue;
    writers.clear();
    for (TxnId t : h_.writers(x)) {
      if (const auto number = h_.commit_number(t); number && h_.is_committed(t))
        writers.emplace_back(*number, t);
    }
    std::sort(writers.begin(), writers.end());
    for (std::size_t i = 1; i < writers.size(); ++i)
      h_.version_edges_.push_back({writers[i - 1].second, writers[i].second, x});
  }
}

void HistoryResolver::order_versions_of_lists() {
  std::vector<std::pair<KeyId, TxnId>> appends;
  for (EventId e : h_.all_events()) {
    if (h_.kind(e) == EventKind::Append && h_.is_committed(txn_of(e)))
      appends.emplace_back(h_.key(e), txn_of(e));
  }
  std::sort(appends.begin(), appends.end());
  auto& edges = h_.version_edges_;
  auto append = appends.begin();
  for (KeyId x : h_.keys()) {
    if (!h_.is_list(x)) continue;
    TxnId last = kInitialTxn;
    std::vector<TxnId> shown;
    for (EventId e : h_.version_order(x)) {
      const TxnId t = txn_of(e);
      if (!h_.is_committed(t)) continue;  // its readers are aborted reads
      if (t != last) edges.push_back({last, t, x});
      shown.push_back(last = t);
    }
    std::sort(shown.begin(), shown.end());
    for (; append != appends.end() && append->first == x; ++append) {
      const TxnId t = append->second;
      if (!std::binary_search(shown.begin(), shown.end(), t)) edges.push_back({last, t, x});
    }
  }
}

Result<void> HistoryResolver::resolve_list_key(KeyId x, std::span<const ListRead> reads) {
  std::optional<ListRead> longest;  // as far as it tells the version order
  for (const ListRead& read : reads) {
    // Where a committed transaction shows as much, it is the one to be named.
    const bool is_committed = h_.status(txn_of(EventId{read.event})) == TxnStatus::Committed;
    const std::uint32_t size = telling_size(read);
    if (size == 0 && !is_committed) continue;
    const auto is_longer = [&] {
      if (size != longest->size) return size > longest->size;
      return is_committed && h_.status(txn_of(EventId{longest->event})) != TxnStatus::Committed;
    };
    if (!longest || is_longer())
      longest = ListRead{.event = read.event, .begin = read.begin, .size = size};
  }
  std::uint32_t first_writer = 0;
  h_.version_orders_[x];  // even if no element is known
  if (longest) {
    if (auto done = order_elements(x, *longest, first_writer); !done) return done;
  }
  for (const ListRead& read : reads) {
    if (is_over()) return {};  // a read may show a million elements
    resolve_list(x, read, longest ? &*longest : nullptr, first_writer);
  }
  return {};
}

// The version order of x is what its longest list shows. `first_writer` is where the writers of
// its elements begin in shown_writers_.
Result<void> HistoryResolver::order_elements(KeyId x, const ListRead& longest,
                                             std::uint32_t& first_writer) {
  auto& version_order = h_.version_orders_[x];
  first_writer = static_cast<std::uint32_t>(h_.shown_writers_.size());
  std::unordered_set<std::uint32_t> placed;
  for (Value element : elements(longest)) {
    const EventId write = write_of(x, element);
    if (write.is_none()) continue;  // reported below, as the reads that show it are looked at
    if (const auto others = other_writes_.find(write.index); others != other_writes_.end())
      return ambiguous(EventId{longest.event}, write, others->second.front());
    if (placed.insert(write.index).second) {
      version_order.push_back(write);
      h_.shown_writers_.push_back(txn_of(write));
      see(txn_of(write));  // a list shows all its elements, not only the last
    } else {
      fault(FaultKind::IncompatibleOrder, EventId{longest.event}, write);
    }
  }
  return {};
}

// What is inexcusable about a list by itself, before its writers' outcomes are known. `writes` are
// the appends of its elements.
std::optional<ReadFault> HistoryResolver::fault_of_list(const ListRead& read,
                                                        std::span<const EventId> writes,
                                                        const ListRead* longest) {
  const EventId e{read.event};
  const TxnId t = txn_of(e);
  const auto shown = elements(read);
  const auto order = longest == nullptr ? std::span<const Value>{} : elements(*longest);
  if (std::find(writes.begin(), writes.end(), EventId::none()) != writes.end())
    return ReadFault{FaultKind::ThinAirRead, e, EventId::none()};
  // What a transaction that did not commit appended itself is in no list of others.
  std::size_t foreign = shown.size();
  while (h_.status(t) != TxnStatus::Committed && foreign > 0 && txn_of(writes[foreign - 1]) == t &&
         std::find(order.begin(), order.end(), shown[foreign - 1]) == order.end())
    --foreign;
  const std::size_t common = std::min(foreign, order.size());
  const bool agrees =
      std::equal(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(common), order.begin());
  // What a transaction of unknown outcome saw, from which none reads, may go on from there.
  if (!agrees || (shown.size() > order.size() && h_.status(t) == TxnStatus::Committed))
    return ReadFault{FaultKind::IncompatibleOrder, e, EventId{longest->event}};
  // An aborted append inside the list was read as much as one at its end.
  EventId future = EventId::none();
  for (EventId w : writes) {
    const TxnId u = txn_of(w);
    if (u != t && h_.status(u) == TxnStatus::Aborted)
      return ReadFault{FaultKind::AbortedRead, e, w};
    if (u == t && w > e && future.is_none()) future = w;
  }
  if (!future.is_none()) return ReadFault{FaultKind::FutureRead, e, future};
  // A list that is a part of the longest one has its holes, too, and needs no report of its own.
  const bool is_longest = longest != nullptr && longest->event == read.event;
  if (!is_longest && agrees && shown.size() <= order.size()) return {};
  if (const EventId skipped = skipped_append(t, writes); !skipped.is_none())
    return ReadFault{FaultKind::IncompatibleOrder, e, skipped};
  return {};
}

// Appends of one transaction stand together, in its order: the first one that is missing before a
// later one of its transaction, or between an earlier one and another transaction's. `reader` knows
// its own; an append that is missing at the end, or before those of the reader, makes an
// intermediate read.
EventId HistoryResolver::skipped_append(TxnId reader, std::span<const EventId> writes) const {
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const TxnId u = txn_of(writes[i]);
    if (u == reader) continue;
    EventId before = EventId::none();
    EventId after = EventId::none();
    for (EventId w : h_.events(u)) {
      if (h_.kind(w) != EventKind::Append || h_.key(w) != h_.key(writes[i])) continue;
      if (w < writes[i]) before = w;
      if (w > writes[i] && after.is_none()) after = w;
    }
    if (!before.is_none() && (i == 0 || writes[i - 1] != before)) return before;
    const bool goes_on = i + 1 < writes.size() && txn_of(writes[i + 1]) != reader;
    if (!after.is_none() && goes_on && writes[i + 1] != after) return after;
  }
  return EventId::none();
}

void HistoryResolver::resolve_list(KeyId x, const ListRead& read, const ListRead* longest,
                                   std::uint32_t first_writer) {
  const EventId e{read.event};
  const TxnId t = txn_of(e);
  auto shown = elements(read);
  const auto order = longest == nullptr ? std::span<const Value>{} : elements(*longest);
  const std::span<const EventId> versions = h_.version_orders_[x];
  const bool is_prefix = versions.size() == order.size() && shown.size() <= order.size() &&
                         std::equal(shown.begin(), shown.end(), order.begin());
  std::vector<EventId> odd;
  if (!is_prefix) {
    h_.odd_lists_[e] = {shown.begin(), shown.end()};
    for (Value v : shown) odd.push_back(write_of(x, v));
  }
  const std::span<const EventId> appends = is_prefix ? versions.first(shown.size()) : odd;
  const auto found = fault_of_list(read, appends, longest);
  open_read_[e.index] = kSettled;  // settled, unless it turns out to be an external read
  if (found) return h_.faults_.push_back(*found);

  // After own appends the list must end with them. What stands before them is read from others.
  std::size_t own = 0;
  EventId last_own = EventId::none();
  bool ends_with_own = true;
  const auto writes = writes_of(t, x);
  for (auto w = writes.rbegin(); w != writes.rend(); ++w) {
    if (*w > e) continue;
    if (last_own.is_none()) last_own = *w;
    ++own;
    ends_with_own =
        ends_with_own && own <= shown.size() && shown[shown.size() - own] == h_.value(*w);
  }
  if (!ends_with_own) {
    h_.event_writer_[e.index] = t;
    return fault(FaultKind::OwnWriteViolation, e, last_own);
  }
  shown = shown.first(shown.size() - own);
  open_read_[e.index] = kAsList;
  if (shown.empty()) {
    h_.event_writer_[e.index] = kInitialTxn;
    return;
  }
  const EventId last = appends[shown.size() - 1];
  last_shown_[e.index] = last;
  h_.event_writer_[e.index] = txn_of(last);
  if (!is_prefix) {
    first_writer = static_cast<std::uint32_t>(h_.shown_writers_.size());
    for (EventId w : appends.first(shown.size())) h_.shown_writers_.push_back(txn_of(w));
  }
  h_.shown_[e.index] = {first_writer, static_cast<std::uint32_t>(shown.size() - 1)};
}

}  // namespace isoscope
