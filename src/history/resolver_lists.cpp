// List-append histories: reads show whole lists, from which the version order of a key follows.
//
// The longest list that a committed transaction shows is the version order; every other list must
// be a prefix of it, or continue it if its reader may not have committed. An append that no read
// shows comes after all that are shown (the convention of Elle).
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "history/resolver.h"

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

// Writers of known order, then the appends that nobody shows.
void HistoryResolver::order_versions() {
  if (!h_.has_lists()) return;
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
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

Result<void> HistoryResolver::resolve_list_key(KeyId x, std::span<const ListRead> reads) {
  const auto elements = [&](const ListRead& read) {
    return std::span<const Value>(b_.list_elements_).subspan(read.begin, read.size);
  };
  const auto write_of = [&](Value v) { return versions_.find(VersionTable::hash(x, v), x, v); };

  const ListRead* longest = nullptr;
  for (const ListRead& read : reads) {
    const TxnStatus status = h_.status(txn_of(EventId{read.event}));
    if (status == TxnStatus::Committed && (longest == nullptr || read.size > longest->size))
      longest = &read;
  }
  const auto order = longest == nullptr ? std::span<const Value>{} : elements(*longest);
  auto& version_order = h_.version_orders_[x];
  std::unordered_set<std::uint32_t> placed;
  for (Value element : order) {
    const EventId write = write_of(element);
    if (write.is_none()) continue;  // reported below, as the reads that show it are looked at
    if (const auto second = second_write_.find(write.index); second != second_write_.end())
      return ambiguous(EventId{longest->event}, write, second->second);
    if (placed.insert(write.index).second) {
      version_order.push_back(write);
      see(txn_of(write));  // a list shows all its elements, not only the last
    } else {
      fault(FaultKind::IncompatibleOrder, EventId{longest->event}, write);
    }
  }

  for (const ListRead& read : reads) {
    if (is_over()) return {};  // a read may show a million elements
    const EventId e{read.event};
    const auto shown = elements(read);
    const auto thin_air =
        std::find_if(shown.begin(), shown.end(), [&](Value v) { return write_of(v).is_none(); });
    const bool is_prefix =
        shown.size() <= order.size() && std::equal(shown.begin(), shown.end(), order.begin());
    // What only transactions that may not have committed saw may go on from there.
    const bool follows =
        is_prefix || (h_.status(txn_of(e)) != TxnStatus::Committed && order.size() < shown.size() &&
                      std::equal(order.begin(), order.end(), shown.begin()));
    if (!is_prefix || thin_air != shown.end() || version_order.size() != order.size())
      h_.odd_lists_[e] = {shown.begin(), shown.end()};
    open_read_[e.index] = kSettled;  // settled, unless it turns out to be an external read
    if (thin_air != shown.end()) {
      fault(FaultKind::ThinAirRead, e, EventId::none());
      continue;
    }
    if (!follows) {
      fault(FaultKind::IncompatibleOrder, e, EventId{longest->event});
      continue;
    }
    // An aborted append inside the list was read as much as one at its end.
    const auto aborted = std::find_if(shown.begin(), shown.end(), [&](Value v) {
      const TxnId u = txn_of(write_of(v));
      return u != txn_of(e) && h_.status(u) == TxnStatus::Aborted;
    });
    if (aborted != shown.end()) {
      fault(FaultKind::AbortedRead, e, write_of(*aborted));
      continue;
    }

    // After own appends the list must end with them; then it is an internal read.
    std::vector<Value> own;
    EventId last_own = EventId::none();
    for (EventId w : writes_of(txn_of(e), x)) {
      if (w < e && h_.kind(w) == EventKind::Append) {
        own.push_back(h_.value(w));
        last_own = w;
      }
    }
    if (!own.empty()) {
      h_.event_writer_[e.index] = txn_of(e);
      const bool ends_with_own =
          own.size() <= shown.size() && std::equal(own.rbegin(), own.rend(), shown.rbegin());
      if (!ends_with_own) fault(FaultKind::OwnWriteViolation, e, last_own);
    } else {
      open_read_[e.index] = kAsList;
      h_.event_writer_[e.index] = shown.empty() ? kInitialTxn : txn_of(write_of(shown.back()));
    }
  }
  return {};
}

}  // namespace isoscope
