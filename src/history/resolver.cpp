#include "history/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "history/txn_names.h"

namespace isoscope {

namespace {

constexpr std::size_t kBatch = 64;  // look-ups whose cache misses overlap
// From this size on, the writes of a transaction are sorted before one is looked for.
constexpr std::size_t kLargeTxn = 64;

}  // namespace

HistoryResolver::HistoryResolver(HistoryBuilder& builder, Budget* budget)
    : b_(builder),
      h_(builder.history_),
      budget_(budget),
      versions_(static_cast<std::size_t>(
          std::count_if(h_.event_flags_.begin(), h_.event_flags_.end(), [](std::uint8_t flags) {
            return static_cast<EventKind>(flags & 3U) != EventKind::Read;
          }))) {}

Result<History> HistoryResolver::resolve() {
  const auto expired = [] { return limit_error("resolving reads to writers"); };
  h_.event_writer_.assign(h_.num_events(), TxnId::none());
  chain_sessions();
  find_final_writes();
  enter_versions();
  if (is_over()) return expired();
  if (auto done = resolve_lists(); !done) return done.error();
  if (is_over()) return expired();
  settle_initial_values();
  if (auto done = resolve_names(); !done) return done.error();
  if (auto done = resolve_reads(); !done) return done.error();
  if (is_over()) return expired();
  settle_outcomes();
  index_writers();
  order_versions();
  if (is_over()) return expired();
  return std::move(h_);
}

void HistoryResolver::chain_sessions() {
  h_.session_begin_.assign(h_.num_sessions() + 1, 0);
  for (TxnId t : h_.txns()) {
    if (t != kInitialTxn) ++h_.session_begin_[h_.session(t).index + 1];
  }
  for (std::size_t s = 0; s < h_.num_sessions(); ++s)
    h_.session_begin_[s + 1] += h_.session_begin_[s];
  h_.session_txns_.resize(h_.num_txns() - 1);
  std::vector<std::uint32_t> next(h_.session_begin_.begin(), h_.session_begin_.end() - 1);
  for (TxnId t : h_.txns()) {
    if (t != kInitialTxn) h_.session_txns_[next[h_.session(t).index]++] = t;
    if (!is_unknown(t)) mark_present(t);
  }
}

// One stamp a key tells the last own write; it is this transaction's if it is not older than the
// transaction's first event.
void HistoryResolver::find_final_writes() {
  open_read_.assign(h_.num_events(), kSettled);
  for (const auto& read : b_.named_reads_) open_read_[read.event] = kByName;
  for (const auto& read : b_.list_reads_) open_read_[read.event] = kAsList;
  std::vector<std::uint32_t> last_write(h_.num_keys(), 0);  // event + 1
  for (TxnId t : h_.txns()) {
    if (is_late()) return;
    const std::uint32_t first = h_.txn_begin_[t.index];
    for (EventId e : h_.events(t)) {
      std::uint32_t& own = last_write[h_.key(e).index];
      if (h_.is_write(e)) {
        if (own > first)
          h_.event_flags_[own - 1] &= static_cast<std::uint8_t>(~History::kFinalWrite);
        h_.event_flags_[e.index] |= History::kFinalWrite;
        own = e.index + 1;
      } else if (open_read_[e.index] == kSettled) {
        if (own <= first) {
          open_read_[e.index] = kByValue;
        } else {
          h_.event_writer_[e.index] = t;
          if (h_.value(EventId{own - 1}) != h_.value(e))
            fault(FaultKind::OwnWriteViolation, e, EventId{own - 1});
        }
      }
    }
  }
}

void HistoryResolver::enter_versions() {
  const auto n = static_cast<std::uint32_t>(h_.num_events());
  std::uint64_t hashes[kBatch] = {};
  for (std::uint32_t begin = 0; begin < n; begin += kBatch) {
    if (is_late()) return;
    const std::uint32_t end = std::min<std::uint32_t>(n, begin + kBatch);
    for (EventId e : IdRange<EventId>(begin, end)) {
      if (!h_.is_write(e)) continue;
      versions_.prefetch(hashes[e.index - begin] = VersionTable::hash(h_.key(e), h_.value(e)));
    }
    for (EventId e : IdRange<EventId>(begin, end)) {
      if (!h_.is_write(e)) continue;
      auto& slot = versions_.find_slot(hashes[e.index - begin], h_.key(e), h_.value(e));
      if (!slot.is_fresh() && txn_of(slot.event()) != txn_of(e)) {
        auto& others = other_writes_[slot.event().index];
        if (!others.empty() && txn_of(others.back()) == txn_of(e)) others.pop_back();
        others.push_back(e);
      } else {
        versions_.fill(slot, h_.key(e), h_.value(e), e);  // of one transaction, the last counts
      }
    }
  }
}

void HistoryResolver::settle_initial_values() {
  h_.has_initial_.assign(h_.num_keys(), 0);
  h_.initial_values_.assign(h_.num_keys(), Value::nil());
  std::vector<std::uint8_t> asks_nil;
  if (b_.initial_ == InitialValues::ZeroOrNil) {
    asks_nil.assign(h_.num_keys(), 0);
    for (EventId e : h_.all_events()) {
      if (open_read_[e.index] == kByValue && h_.value(e).is_nil()) asks_nil[h_.key(e).index] = 1;
    }
  }
  const auto file_writes = [&](KeyId x, Value value) {
    return !versions_.find(VersionTable::hash(x, value), x, value).is_none();
  };
  for (KeyId x : h_.keys()) {
    if (const auto stated = b_.stated_initial_.find(x.index); stated != b_.stated_initial_.end()) {
      h_.has_initial_[x.index] = 3;
      h_.initial_values_[x.index] = stated->second.value;
      continue;
    }
    // A list begins empty whatever the format states, so that a read which shows nothing has a
    // writer.
    if (b_.initial_ == InitialValues::None && !h_.is_list(x)) continue;
    Value initial = b_.initial_ == InitialValues::Nil ? Value::nil() : Value::of(0);
    if (h_.is_list(x)) initial = Value::nil();
    if (!asks_nil.empty() && asks_nil[x.index] != 0 && !file_writes(x, Value::nil()))
      initial = Value::nil();
    h_.initial_values_[x.index] = initial;
    h_.has_initial_[x.index] = file_writes(x, initial) ? 0 : 1;
  }
}

Result<void> HistoryResolver::resolve_names() {
  if (b_.named_reads_.empty() && !b_.named_by_text_) return {};
  auto names = TxnNames::of(h_);
  if (!names) return names.error();
  for (const auto& read : b_.named_reads_) {
    if (is_late()) return {};
    const EventId e{read.event};
    const TxnId t = txn_of(e);
    const KeyId x = h_.key(e);
    const std::string_view name = h_.texts().text(read.writer);
    const auto writer = names->find(name);
    if (!writer)
      return Error{.where = h_.place(e),
                   .what = fmt::format("the read of '{}' names the writer '{}', which is no "
                                       "transaction of this history",
                                       h_.name(x), name),
                   .hint = "name a transaction of the file, or T0 for the initial state"};
    // The writer's last write of x, and the reader's own last write before the read.
    EventId write = EventId::none();
    EventId own = EventId::none();
    if (const auto writes = writes_of(*writer, x); !writes.empty()) write = writes.back();
    const auto of_reader = writes_of(t, x);
    const auto later = std::lower_bound(of_reader.begin(), of_reader.end(), e);
    if (later != of_reader.begin()) own = *std::prev(later);
    if (*writer == kInitialTxn) {
      h_.has_initial_[x.index] |= 1U;
    } else if (write.is_none()) {
      return Error{.where = h_.place(e),
                   .what = fmt::format("the read of '{}' names the writer '{}', which never writes "
                                       "that key",
                                       h_.name(x), name),
                   .hint = fmt::format("'{}' begins on {}", name, h_.show(h_.place(*writer)))};
    }
    if (*writer == t && !own.is_none()) write = own;  // what it wrote so far, not what it will
    const Value value = *writer == kInitialTxn ? h_.initial_values_[x.index] : h_.value(write);
    h_.event_value_[e.index] = value.bits;
    h_.event_flags_[e.index] |= static_cast<std::uint8_t>(static_cast<unsigned>(value.kind) << 2U);
    h_.event_writer_[e.index] = *writer;
    if (!own.is_none()) {
      if (*writer != t) fault(FaultKind::OwnWriteViolation, e, own);
      open_read_[e.index] = kSettled;
    }
  }
  return {};
}

Result<void> HistoryResolver::resolve_reads() {
  const auto n = static_cast<std::uint32_t>(h_.num_events());
  std::uint64_t hashes[kBatch] = {};
  const auto wants_table = [&](EventId e) {
    return open_read_[e.index] == kByValue && !is_unknown(txn_of(e));
  };
  for (std::uint32_t begin = 0; begin < n; begin += kBatch) {
    if (is_late()) return {};
    const std::uint32_t end = std::min<std::uint32_t>(n, begin + kBatch);
    for (EventId e : IdRange<EventId>(begin, end)) {
      if (!wants_table(e)) continue;
      versions_.prefetch(hashes[e.index - begin] = VersionTable::hash(h_.key(e), h_.value(e)));
    }
    for (EventId e : IdRange<EventId>(begin, end)) {
      if (wants_table(e)) {
        const EventId write = versions_.find(hashes[e.index - begin], h_.key(e), h_.value(e));
        if (auto done = resolve_read(e, write); !done) return done;
      } else if (open_read_[e.index] != kSettled && !is_unknown(txn_of(e))) {
        settle_read(e, EventId::none());
      }
    }
  }
  while (!newly_present_.empty()) {
    const TxnId t = newly_present_.back();
    newly_present_.pop_back();
    if (auto done = resolve_txn(t); !done) return done;
  }
  return settle_choices();
}

// After all others, when it is known which transactions of unknown outcome are there.
Result<void> HistoryResolver::settle_choices() {
  std::sort(ambiguous_reads_.begin(), ambiguous_reads_.end());
  for (EventId e : ambiguous_reads_) {
    const KeyId x = h_.key(e);
    const EventId first = write_of(x, h_.value(e));
    std::vector<EventId> writes = {first};
    if (const auto others = other_writes_.find(first.index); others != other_writes_.end())
      writes.insert(writes.end(), others->second.begin(), others->second.end());
    const bool initial = h_.has_explicit_initial(x) && h_.initial_value(x) == h_.value(e);
    if (auto done = settle_choice(e, writes, initial); !done) return done;
  }
  return {};
}

// No level excuses some of the writers, so that they can be left out as long as others are left.
Result<void> HistoryResolver::settle_choice(EventId e, std::span<const EventId> writes,
                                            bool initial) {
  ReadChoice choice{.read = e, .writers = {}};
  if (initial) choice.writers.push_back(kInitialTxn);
  for (EventId write : writes) {
    const TxnId u = txn_of(write);
    if (!h_.is_present(u)) {
      // Whether it is there would be part of the choice.
      Error error = ambiguous(e, writes[0], writes.size() > 1 ? writes[1] : EventId::none());
      error.hint =
          fmt::format("{} has an unknown outcome: name the writer of the read", h_.name(u));
      return error;
    }
    if (u != txn_of(e) && h_.status(u) != TxnStatus::Aborted && h_.is_final_write(write))
      choice.writers.push_back(u);
  }
  if (choice.writers.empty()) {
    h_.event_writer_[e.index] = txn_of(writes[0]);
    settle_read(e, writes[0]);
  } else if (choice.writers.size() == 1) {
    h_.event_writer_[e.index] = choice.writers[0];
    h_.event_flags_[e.index] |= History::kExternalRead;
  } else {
    std::sort(choice.writers.begin(), choice.writers.end());
    h_.choices_.push_back(std::move(choice));
  }
  return {};
}

std::span<const EventId> HistoryResolver::writes_of(TxnId t, KeyId x) {
  const auto events = h_.events(t);
  if (events.size() < kLargeTxn) {
    scratch_.clear();
    for (EventId e : events) {
      if (h_.is_write(e) && h_.key(e) == x) scratch_.push_back(e);
    }
    return scratch_;
  }
  const auto [entry, is_new] = sorted_writes_.try_emplace(t);
  std::vector<EventId>& all = entry->second;
  const auto by_key = [&](EventId a, EventId b) {
    return std::pair(h_.key(a), a) < std::pair(h_.key(b), b);
  };
  if (is_new) {
    std::copy_if(events.begin(), events.end(), std::back_inserter(all),
                 [&](EventId e) { return h_.is_write(e); });
    std::sort(all.begin(), all.end(), by_key);
  }
  const auto first =
      std::partition_point(all.begin(), all.end(), [&](EventId e) { return h_.key(e) < x; });
  const auto last =
      std::partition_point(first, all.end(), [&](EventId e) { return h_.key(e) == x; });
  return {first, last};
}

Result<void> HistoryResolver::resolve_txn(TxnId t) {
  for (EventId e : h_.events(t)) {
    if (open_read_[e.index] == kByValue) {
      const auto hash = VersionTable::hash(h_.key(e), h_.value(e));
      if (auto done = resolve_read(e, versions_.find(hash, h_.key(e), h_.value(e))); !done)
        return done;
    } else if (open_read_[e.index] != kSettled) {
      settle_read(e, EventId::none());
    }
  }
  return {};
}

Result<void> HistoryResolver::resolve_read(EventId e, EventId write) {
  const KeyId x = h_.key(e);
  const bool initial = h_.has_initial(x) && h_.initial_value(x) == h_.value(e);
  if (write.is_none()) {
    if (initial) {
      h_.event_writer_[e.index] = kInitialTxn;
      h_.event_flags_[e.index] |= History::kExternalRead;
    } else {
      fault(FaultKind::ThinAirRead, e, EventId::none());
    }
    return {};
  }
  if (other_writes_.contains(write.index) || (initial && h_.has_explicit_initial(x))) {
    ambiguous_reads_.push_back(e);
    return {};
  }
  h_.event_writer_[e.index] = txn_of(write);
  settle_read(e, write);
  return {};
}

// Judges an external candidate whose writer is known. `write` is what it saw, or none() if the
// read names only the transaction and so means its final write.
void HistoryResolver::settle_read(EventId e, EventId write) {
  const TxnId u = h_.writer(e);
  if (u.is_none()) return;  // a list read with a fault of its own
  if (write.is_none() && u != kInitialTxn) {
    if (!last_shown_.empty()) write = last_shown_[e.index];
    if (write.is_none()) {
      for (EventId w : writes_of(u, h_.key(e))) {
        if (h_.is_final_write(w)) write = w;
      }
    }
  }
  if (u == txn_of(e)) return fault(FaultKind::FutureRead, e, write);
  if (u != kInitialTxn) {
    if (h_.status(u) == TxnStatus::Aborted) return fault(FaultKind::AbortedRead, e, write);
    see(u);
    if (!h_.is_final_write(write)) return fault(FaultKind::IntermediateRead, e, write);
  }
  h_.event_flags_[e.index] |= History::kExternalRead;
  for (TxnId shown : h_.also_shown(e)) see(shown);
}

// Drops what absent transactions said, and hides the writes that do not count.
void HistoryResolver::settle_outcomes() {
  std::erase_if(h_.faults_, [&](const ReadFault& f) { return !h_.is_present(txn_of(f.read)); });
  std::sort(h_.faults_.begin(), h_.faults_.end(),
            [](const ReadFault& a, const ReadFault& b) { return a.read < b.read; });
  for (TxnId t : h_.txns()) {
    if (h_.is_committed(t)) continue;
    for (EventId e : h_.events(t))
      h_.event_flags_[e.index] &= static_cast<std::uint8_t>(~History::kFinalWrite);
  }
}

void HistoryResolver::index_writers() {
  auto& begin = h_.writers_begin_;
  begin.assign(h_.num_keys() + 1, 0);
  for (KeyId x : h_.keys()) begin[x.index + 1] = h_.has_initial(x) ? 1 : 0;
  for (EventId e : h_.all_events()) {
    if (h_.is_final_write(e)) ++begin[h_.key(e).index + 1];
  }
  for (std::size_t x = 0; x < h_.num_keys(); ++x) begin[x + 1] += begin[x];
  h_.writers_.resize(begin.back());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (KeyId x : h_.keys()) {
    if (h_.has_initial(x)) h_.writers_[next[x.index]++] = kInitialTxn;
  }
  for (EventId e : h_.all_events()) {
    if (h_.is_final_write(e)) h_.writers_[next[h_.key(e).index]++] = txn_of(e);
  }
}

Error HistoryResolver::ambiguous(EventId read, EventId first, EventId second) const {
  const auto writer = [&](EventId write) {
    if (write.is_none()) return std::string("the initial state");
    return fmt::format("{} ({})", h_.name(txn_of(write)), h_.show(h_.place(write)));
  };
  return Error{.where = h_.counts_records() ? Place{} : h_.place(read),
               .what = fmt::format("'{}' = {} is read here, but {} and {} both write it",
                                   h_.name(h_.key(read)), h_.show(h_.value(read)), writer(first),
                                   writer(second)),
               .hint = "make written values unique, or name the writer of the read"};
}

}  // namespace isoscope
