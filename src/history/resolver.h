#pragma once
// The second half of building a history: who wrote what was read? Used by HistoryBuilder only.
//
// Passes, in order: session chains; final writes and internal reads (one stamp a key); the table
// of versions; names; lists and their version orders; initial values; external reads, batched so
// that the table's cache misses overlap; transactions of unknown outcome, from those that are
// read from; reads of values with several writers; writers and version orders by key.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "history/builder.h"
#include "history/version_table.h"

namespace isoscope {

class HistoryResolver {
 public:
  static constexpr std::size_t kMaxEvents = std::size_t{1} << 30U;

  HistoryResolver(HistoryBuilder& builder, Budget* budget);
  Result<History> resolve();

 private:
  // How a read is still to be resolved.
  enum ReadState : std::uint8_t {
    kSettled,  // not at all: a write, an internal read, or a fault
    kByValue,  // an external candidate that states a value
    kByName,   // names its writer
    kAsList,   // an external candidate that shows a list
  };
  using ListRead = HistoryBuilder::ListRead;

  void chain_sessions();
  void find_final_writes();
  void enter_versions();
  Result<void> resolve_names();
  Result<void> resolve_lists();
  void settle_initial_values();
  Result<void> resolve_reads();
  void settle_outcomes();
  void index_writers();
  void order_versions();
  void order_versions_of_lists();
  // A transaction that commits later writes the later version of each key: a store that numbers its
  // commits installs versions in their order. What a recorded run says about who changed what holds
  // for this order only.
  void order_versions_by_commits();

  void find_unknown_readers();
  std::uint32_t telling_size(const ListRead& read);
  Result<void> resolve_list_key(KeyId x, std::span<const ListRead> reads);
  Result<void> order_elements(KeyId x, const ListRead& longest, std::uint32_t& first_writer);
  void resolve_list(KeyId x, const ListRead& read, const ListRead* longest,
                    std::uint32_t first_writer);
  std::optional<ReadFault> fault_of_list(const ListRead& read, std::span<const EventId> writes,
                                         const ListRead* longest);
  EventId skipped_append(TxnId reader, std::span<const EventId> writes) const;
  std::span<const Value> elements(const ListRead& read) const {
    return std::span<const Value>(b_.list_elements_).subspan(read.begin, read.size);
  }
  EventId write_of(KeyId x, Value v) { return versions_.find(VersionTable::hash(x, v), x, v); }
  Result<void> resolve_txn(TxnId t);
  // The writes of x by t, in order. Valid until the next call.
  std::span<const EventId> writes_of(TxnId t, KeyId x);
  Result<void> resolve_read(EventId e, EventId write);
  void settle_read(EventId e, EventId write);
  Result<void> settle_choices();
  Result<void> settle_choice(EventId e, std::span<const EventId> writes, bool initial);
  // `second` is none() for the initial state.
  Error ambiguous(EventId read, EventId first, EventId second) const;

  // Is the time over? The second looks at the clock only now and then.
  bool is_over() { return budget_ != nullptr && budget_->expired_now(); }
  bool is_late() { return budget_ != nullptr && budget_->expired(); }
  bool is_unknown(TxnId t) const { return h_.status(t) == TxnStatus::Unknown; }
  void mark_present(TxnId t) { h_.txn_flags_[t.index] |= History::kPresent; }
  // Some transaction reads what it wrote: if its outcome is unknown, it committed.
  void see(TxnId t) {
    if (h_.is_present(t)) return;
    mark_present(t);
    newly_present_.push_back(t);
  }
  TxnId txn_of(EventId e) const { return b_.event_txn_[e.index]; }
  void fault(FaultKind kind, EventId read, EventId other) {
    h_.faults_.push_back({kind, read, other});
  }

  HistoryBuilder& b_;
  History& h_;
  Budget* budget_;  // may be null; a pass that it ends is left half done
  VersionTable versions_;
  // Of a value, by its first event: the last writes of it in other transactions.
  std::unordered_map<std::uint32_t, std::vector<EventId>> other_writes_;
  std::vector<EventId> ambiguous_reads_;
  std::vector<ReadState> open_read_;  // by event
  std::vector<TxnId> newly_present_;  // unknown transactions that a read is from
  std::unordered_map<TxnId, std::vector<EventId>> sorted_writes_;  // by key, of large transactions
  std::vector<EventId> scratch_;                                   // of writes_of()
  // By transaction, if one of unknown outcome shows lists: does it count? See
  // find_unknown_readers().
  std::vector<std::uint8_t> is_counted_;
  // By event, if there are lists: the append that a list read reads.
  std::vector<EventId> last_shown_;
};

}  // namespace isoscope
