#pragma once
// A history: the recorded facts of one run, ⟨T, so, wr⟩, and nothing that an analysis adds.
//
//     session s1   T1 [ r(x) from T0   w(x) ]   T3 [ … ]
//     session s2   T2 [ r(x) from T1   w(y) ]
//
// Sessions are sequences of transactions, transactions are sequences of events. T0, the initial
// transaction, precedes everything in so and writes the initial values. Reads name the
// transaction that they read from. Only two kinds of events are visible to the axioms:
//
//   external read   not preceded by an own write to the key; its writer is committed. A list read
//                   after own appends is one too: it reads what stands before them
//   final write     the last write to its key in a committed transaction
//
// A read that no axiom can excuse (no write of its value, its writer aborted, …) is no external
// read but a ReadFault. Aborted transactions stay as readers and write nothing. A transaction of
// unknown outcome counts as committed if a transaction that counts reads from it; otherwise it is
// absent: its events are here to be printed, but it is no member of T.
//
// A file may state more than so and wr. Events may be grouped into statements, statements may lock
// rows, transactions may have times and numbers in the order of commits. A lock is no event: who
// walks over the events of a history sees reads and writes only.
//
// Built by HistoryBuilder, then only read. Dense tables, one array an attribute: 21 bytes an
// event, 4 a final write (writers by key), 13 to 29 a transaction.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "history/ids.h"
#include "history/rows.h"
#include "history/value.h"
#include "support/error.h"

namespace isoscope {

enum class EventKind : std::uint8_t { Read, Write, Append };  // a delete is a write of nil
enum class TxnStatus : std::uint8_t { Committed, Aborted, Unknown };

// Why a read is inexcusable at every level.
enum class FaultKind : std::uint8_t {
  ThinAirRead,        // no event wrote the value
  AbortedRead,        // its writer aborted
  IntermediateRead,   // its writer overwrote it before committing
  FutureRead,         // its own transaction writes it only later
  OwnWriteViolation,  // its own transaction wrote the key before, and something else
  IncompatibleOrder,  // two list reads of which neither continues the other
};

struct ReadFault {
  FaultKind kind = FaultKind::ThinAirRead;
  EventId read = EventId::none();
  EventId other = EventId::none();  // the write it saw or should have seen, or the other list read
};

// Transaction t3 reads key x from transaction t1 (through one or more external reads).
struct ReadFrom {
  KeyId x;
  TxnId t1;
  TxnId t3;
  friend auto operator<=>(const ReadFrom&, const ReadFrom&) = default;
};

// How a file states initial values.
enum class InitialSyntax : std::uint8_t {
  None,    // not at all
  Words,   // init x=1
  Member,  // "init":{"x":1}
};

// A read whose value several transactions wrote: it may be any of them that it reads from.
struct ReadChoice {
  EventId read;
  std::vector<TxnId> writers;  // two or more, ascending; each would be an external read's writer
};

// Writer `before` is known to precede writer `after` in the version order of `key`.
struct VersionEdge {
  TxnId before;
  TxnId after;
  KeyId key;
  friend auto operator<=>(const VersionEdge&, const VersionEdge&) = default;
};

// How a statement locks a row. Shared locks go together with each other; a key share (the check
// of a foreign key) goes together with all but locks of the key itself.
enum class LockMode : std::uint8_t { KeyShare, Share, Exclusive };

struct RowLock {
  TxnId txn;
  std::uint32_t statement = 0;  // as of History::statement()
  RowId row;
  LockMode mode = LockMode::Exclusive;
  // Stands before this event of its transaction; at its end, one past the last event.
  EventId before;
  Place place = {};
};

// When a transaction began and ended, in whatever unit the file has; equal times are concurrent.
struct TxnTimes {
  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();
  std::int64_t start = 0;
  std::int64_t end = kOpen;  // kOpen: it may have ended at any time after its start
  friend auto operator<=>(const TxnTimes&, const TxnTimes&) = default;
};

// What a native file may state about a transaction besides its events.
struct StatementParameter {
  enum class Kind : std::uint8_t { Null, Text, Hex };
  Kind kind = Kind::Null;
  std::string text = {};
  friend bool operator==(const StatementParameter&, const StatementParameter&) = default;
};
struct StatementNote {
  std::string sql = {};
  std::string at = {};
  std::string error = {};  // its SQLSTATE if it failed
  std::optional<std::vector<StatementParameter>> params = {};
  friend bool operator==(const StatementNote&, const StatementNote&) = default;
};
// Something about a transaction that the recording does not know.
struct GapNote {
  std::uint64_t stmt = 0;  // counted from 1; 0: the transaction as a whole
  std::string why = {};
  friend bool operator==(const GapNote&, const GapNote&) = default;
};
struct TxnNote {
  std::string sql = {};
  std::string at = {};
  std::string error = {};                 // the SQLSTATE that ended it
  std::string isolation = {};             // the level that the client declared
  std::vector<StatementNote> stmts = {};  // in the order of statements
  std::vector<GapNote> gaps = {};
  friend bool operator==(const TxnNote&, const TxnNote&) = default;
};

// What the header of a recorded run says.
struct RunHeader {
  std::string source = {};     // who recorded it
  std::string conflicts = {};  // "row": writers of one row conflict; "column"; empty: not said
  friend bool operator==(const RunHeader&, const RunHeader&) = default;
};

class History {
 public:
  History(History&&) = default;
  History& operator=(History&&) = default;
  // The same facts once more; too large to be copied by accident.
  History copy() const { return {*this}; }

  // Sizes. T0 counts as a transaction; its writes are no events.
  std::size_t num_sessions() const { return session_names_.size(); }
  std::size_t num_txns() const { return txn_session_.size(); }
  std::size_t num_events() const { return event_key_.size(); }
  std::size_t num_keys() const { return key_names_.size(); }

  IdRange<TxnId> txns() const { return {0, static_cast<std::uint32_t>(num_txns())}; }  // with T0
  IdRange<SessionId> sessions() const { return {0, static_cast<std::uint32_t>(num_sessions())}; }
  IdRange<KeyId> keys() const { return {0, static_cast<std::uint32_t>(num_keys())}; }
  IdRange<EventId> all_events() const { return {0, static_cast<std::uint32_t>(num_events())}; }

  // Transactions.
  TxnStatus status(TxnId t) const { return static_cast<TxnStatus>(txn_flags_[t.index] & 3U); }
  // Is it a member of T: T0, committed, aborted, or unknown but read from?
  bool is_present(TxnId t) const { return (txn_flags_[t.index] & kPresent) != 0; }
  // Do its writes count?
  bool is_committed(TxnId t) const { return is_present(t) && status(t) != TxnStatus::Aborted; }
  SessionId session(TxnId t) const { return txn_session_[t.index]; }  // none() for T0
  // Transactions of a session in session order, absent ones included; their ids ascend.
  std::span<const TxnId> session_txns(SessionId s) const {
    return span_of(session_txns_, session_begin_, s.index);
  }
  // Is (a, b) in session order?
  bool so(TxnId a, TxnId b) const {
    if (a == kInitialTxn) return b != kInitialTxn;
    return session(a) == session(b) && a < b;
  }
  IdRange<EventId> events(TxnId t) const { return {txn_begin_[t.index], txn_begin_[t.index + 1]}; }

  // Events.
  EventKind kind(EventId e) const { return static_cast<EventKind>(event_flags_[e.index] & 3U); }
  bool is_read(EventId e) const { return kind(e) == EventKind::Read; }
  bool is_write(EventId e) const { return !is_read(e); }
  KeyId key(EventId e) const { return event_key_[e.index]; }
  // The value written or read; of a list read its last element, or nil when empty.
  Value value(EventId e) const {
    return {static_cast<ValueKind>((event_flags_[e.index] >> 2U) & 3U), event_value_[e.index]};
  }
  bool is_external_read(EventId e) const { return (event_flags_[e.index] & kExternalRead) != 0; }
  bool is_final_write(EventId e) const { return (event_flags_[e.index] & kFinalWrite) != 0; }
  // Whom the read names as its writer: the own transaction for an internal read, none() if
  // no event wrote the value. Requires: is_read(e).
  TxnId writer(EventId e) const { return event_writer_[e.index]; }
  TxnId txn(EventId e) const;  // binary search
  Place place(EventId e) const;

  // Statements. Where the file does not group events, each is a statement of its own.
  bool has_statements() const { return !txn_statements_.empty(); }
  // The number of its statement within its transaction, from 0.
  std::uint32_t statement(EventId e) const {
    if (has_statements()) return event_statement_[e.index];
    return e.index - txn_begin_[txn(e).index];
  }
  // With those that have no events, at the end of the transaction too.
  std::uint32_t num_statements(TxnId t) const {
    if (has_statements()) return txn_statements_[t.index];
    return static_cast<std::uint32_t>(events(t).size());
  }
  // Of a read in a recorded run: may its statement not depend on it (docs/record.md)? Then what
  // rests on it is not certain.
  bool is_coarse(EventId e) const { return (event_flags_[e.index] & kCoarse) != 0; }
  bool has_coarse_reads() const;
  // The same without its coarse reads.
  History without_coarse_reads() &&;
  bool is_insert(EventId e) const { return (event_flags_[e.index] & kInsert) != 0; }  // a write
  // Locks in order of their transactions, of one transaction in program order.
  std::span<const RowLock> locks() const { return locks_; }
  std::span<const RowLock> locks(TxnId t) const;

  // Rows. The row of a key is the key up to its last ']'; a key without is its own row. Asked for
  // the first time, O(keys).
  RowId row(KeyId x) const { return row_table().row(x); }
  bool is_row(KeyId x) const { return row_table().is_row(x); }  // and not a column of one
  std::size_t num_rows() const { return row_table().size(); }
  std::string name(RowId r) const { return row_table().name(r); }
  const RowTable& row_table() const { return rows_->filled(key_names_, texts_); }

  // Times. A transaction without times is concurrent with all.
  bool has_times() const { return !txn_times_.empty(); }
  std::optional<TxnTimes> times(TxnId t) const {
    if (!has_times() || txn_times_[t.index].start == TxnTimes::kOpen) return {};
    return txn_times_[t.index];
  }
  // Did a end before b began? T0 has no times.
  bool rt(TxnId a, TxnId b) const {
    return has_times() && txn_times_[a.index].end < txn_times_[b.index].start &&
           txn_times_[b.index].start != TxnTimes::kOpen;
  }
  // Its number in the order of commits.
  bool has_commit_numbers() const { return !txn_commits_.empty(); }
  std::optional<std::int64_t> commit_number(TxnId t) const {
    if (txn_commits_.empty() || txn_commits_[t.index] == kNoCommit) return {};
    return txn_commits_[t.index];
  }

  // Keys.
  // Committed writers of x in ascending order, T0 among them unless the file forbids it.
  std::span<const TxnId> writers(KeyId x) const {
    return span_of(writers_, writers_begin_, x.index);
  }
  bool writes(TxnId t, KeyId x) const;  // binary search among the writers
  bool has_initial(KeyId x) const { return has_initial_[x.index] != 0; }
  Value initial_value(KeyId x) const { return initial_values_[x.index]; }

  // Reads with several possible writers, in order of the events. They are no external reads and
  // have no writer until one is chosen: a history with choices stands for as many histories as
  // there are ways to choose. Readers of files hand out such histories only to those who ask.
  std::span<const ReadChoice> choices() const { return choices_; }
  // The history in which the i-th of the choices reads from writers[i]; can be asked again, to
  // choose anew. Requires: writers[i] is one of its possible writers, or none() to leave it open.
  History with_writers(std::span<const TxnId> writers) &&;
  // The same transactions, each in a session of its own: so says nothing but that T0 comes first.
  History without_session_order() &&;
  // The first choice, as the error that it is for those who cannot choose. Requires: there is one.
  Error ambiguity() const;

  // Inexcusable reads, in order of the events; empty in a history that axioms can judge.
  std::span<const ReadFault> faults() const { return faults_; }
  // All (x, t1, t3), each once, sorted. Computed anew: O(events log events).
  std::vector<ReadFrom> reads_from() const;

  // Lists. The appends to x in the order in which reads show them; empty where none is known.
  bool has_lists() const { return !list_keys_.empty(); }
  bool is_list(KeyId x) const { return has_lists() && list_keys_[x.index] != 0; }
  std::span<const EventId> version_order(KeyId x) const;
  // What lists and numbers of commits say about transactions: every co and ar contains these. Of
  // lists also the steps from T0 and to appends that no read shows.
  std::span<const VersionEdge> version_edges() const { return version_edges_; }
  // The elements that a list read shows. Requires: is_list(key(e)) and is_read(e).
  std::vector<Value> list(EventId e) const;
  // The last element of the list that another transaction appended; nil if there is none.
  // Requires: the same.
  Value last_foreign(EventId e) const;
  // A list shows all its elements, not only the one of writer(e): the transactions that appended
  // those before it, in the order of the list, perhaps more than once. Empty unless `e` is an
  // external read of a list.
  std::span<const TxnId> also_shown(EventId e) const {
    if (shown_.empty() || !is_external_read(e)) return {};
    return {shown_writers_.data() + shown_[e.index].begin, shown_[e.index].count};
  }
  // Does the external read show something of t: is t its writer, or one of also_shown()?
  bool shows(EventId e, TxnId t) const;

  // Names, as people know them.
  std::string name(TxnId t) const;      // T0, T7, t7 (numbered by the file), or a given name
  std::string name(SessionId s) const;  // s1, or a given name
  std::string name(KeyId x) const { return texts_.show(key_names_[x.index]); }
  std::string show(Value value) const { return texts_.show(value); }
  Value key_name(KeyId x) const { return key_names_[x.index]; }
  // What the file calls it: nil if it gives no name, a number, or a text.
  Value given_name(TxnId t) const { return txn_names_.empty() ? Value{} : txn_names_[t.index]; }
  Value given_name(SessionId s) const { return session_names_[s.index]; }
  const TextPool& texts() const { return texts_; }
  Place place(TxnId t) const { return txn_place_[t.index]; }
  // Do places count records and bytes, as in binary formats, instead of lines and columns?
  bool counts_records() const { return counts_records_; }
  // "line 3:7", "record 12 at byte 396".
  std::string show(Place place) const;
  // How the file could have stated this initial value; empty if its format cannot.
  std::string initial_statement(KeyId x, Value value) const;
  // The level that the file assigns to the transaction; empty if none.
  std::string_view level(TxnId t) const;
  bool has_levels() const { return !txn_levels_.empty(); }
  const TxnNote* note(TxnId t) const;  // null if there is none
  const RunHeader& header() const { return header_; }
  bool has_explicit_initial(KeyId x) const { return (has_initial_[x.index] & 2U) != 0; }

 private:
  friend class HistoryBuilder;
  friend class HistoryResolver;
  friend class RealTimeHistory;

  static constexpr std::uint8_t kPresent = 4;        // of a transaction
  static constexpr std::uint8_t kExternalRead = 16;  // of an event
  static constexpr std::uint8_t kFinalWrite = 32;
  static constexpr std::uint8_t kInsert = 64;
  static constexpr std::uint8_t kCoarse = 128;
  static constexpr std::int64_t kNoCommit = std::numeric_limits<std::int64_t>::min();

  History() = default;
  History(const History&) = default;

  template <class T>
  static std::span<const T> span_of(const std::vector<T>& items,
                                    const std::vector<std::uint32_t>& begin, std::uint32_t i) {
    return {items.data() + begin[i], items.data() + begin[i + 1]};
  }

  // By transaction.
  std::vector<SessionId> txn_session_;
  std::vector<std::uint8_t> txn_flags_;
  std::vector<std::uint32_t> txn_begin_;  // first event; one more at the end
  std::vector<Place> txn_place_;
  std::vector<Value> txn_names_;           // empty if none is named
  std::vector<std::uint16_t> txn_levels_;  // 0 is no level; empty if none has one
  std::vector<std::string> level_names_;
  std::map<TxnId, TxnNote> notes_;
  std::vector<std::uint32_t> txn_statements_;  // how many; empty if events are not grouped
  std::vector<TxnTimes> txn_times_;            // start kOpen: none; empty if none has times
  std::vector<std::int64_t> txn_commits_;      // kNoCommit: none; empty if none has one
  // By session.
  std::vector<Value> session_names_;
  std::vector<std::uint32_t> session_begin_;
  std::vector<TxnId> session_txns_;
  // By event.
  std::vector<std::uint8_t> event_flags_;  // kind, kind of value << 2, kExternalRead, …
  std::vector<KeyId> event_key_;
  std::vector<std::int64_t> event_value_;
  std::vector<TxnId> event_writer_;  // of reads
  std::vector<std::uint32_t> event_line_;
  std::vector<std::uint32_t> event_column_;     // empty if every event starts its line
  std::vector<std::uint32_t> event_statement_;  // empty if events are not grouped
  std::vector<RowLock> locks_;
  // By key.
  std::vector<Value> key_names_;
  std::vector<std::uint32_t> writers_begin_;
  std::vector<TxnId> writers_;
  std::vector<std::uint8_t> has_initial_;  // 0 no, 1 implied, 3 said in the file
  std::vector<Value> initial_values_;
  // Lists.
  std::vector<std::uint8_t> list_keys_;  // empty if the history has none
  std::map<KeyId, std::vector<EventId>> version_orders_;
  std::vector<VersionEdge> version_edges_;
  std::map<EventId, std::vector<Value>> odd_lists_;  // reads that do not follow the version order
  struct ShownRange {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };
  std::vector<ShownRange> shown_;     // by event, in shown_writers_; empty if there are no lists
  std::vector<TxnId> shown_writers_;  // of version orders, and of lists that do not follow them

  std::shared_ptr<RowTable> rows_;  // of the same keys, so copies share it

  RunHeader header_;
  std::vector<ReadFault> faults_;
  std::vector<ReadChoice> choices_;
  bool counts_records_ = false;
  InitialSyntax initial_syntax_ = InitialSyntax::None;
  TextPool texts_;
};

}  // namespace isoscope
