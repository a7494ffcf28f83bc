#pragma once
// Builds a History from what a file says, event by event, and finds out who wrote what was read.
//
//     HistoryBuilder b(InitialValues::Zero);
//     SessionId s1 = b.session("s1");
//     TxnId t = b.begin(s1, TxnStatus::Committed, {1, 1});
//     b.write(t, b.key("x"), Value::of(1), {1, 6});
//     Result<History> h = std::move(b).build();
//
// Transactions may interleave: an event names the transaction it belongs to. Ids follow the order
// of the calls, so a session's transactions are in session order. A read says either the value,
// from which build() infers the writer, or the writer's name.
//
// build() reports as an Error, with both places where there are two: a value that some read asks
// for and two transactions wrote (unless build_open() is asked); a writer by name that does not
// exist or never wrote the key; two transactions of one name; a key used both as a register and as
// a list; more than 2^30 events. Reads that are possible to understand but impossible to excuse
// become ReadFaults.
//
// Cost  Amortised O(1) an event; one hash table of all writes during build(), 16 bytes a slot.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "history/history.h"
#include "support/budget.h"
#include "support/result.h"

namespace isoscope {

// What T0 writes to a key for which the file states no initial value. Whatever it is, T0 does not
// write it where the file itself writes that value to the key.
enum class InitialValues : std::uint8_t {
  None,       // nothing
  Zero,       // 0
  Nil,        // nil
  ZeroOrNil,  // nil if a read of the key asks for nil, else 0
};

class HistoryBuilder {
 public:
  explicit HistoryBuilder(InitialValues initial);

  // Finds or makes. A key or session called by number is another than one called by text.
  SessionId session(std::string_view name);
  SessionId session(std::int64_t number);
  KeyId key(std::string_view name);
  KeyId key(std::int64_t number);
  Value text(std::string_view value) { return history_.texts_.intern(value); }

  // A session that the file does not name (s1, s2, … by position).
  SessionId unnamed_session();

  // A new transaction at the end of its session. Without a name it is called T1, T2, … by
  // position; a number n makes it tn.
  TxnId begin(SessionId s, TxnStatus status, Place place);
  void set_name(TxnId t, std::string_view name);
  void set_name(TxnId t, std::int64_t number);
  void set_status(TxnId t, TxnStatus status);
  void set_level(TxnId t, std::string_view level);
  void set_note(TxnId t, TxnNote note);

  // Registers. A delete writes nil; absence is read as nil.
  void read(TxnId t, KeyId x, Value value, Place place) {
    add(t, EventKind::Read, x, value, place);
  }
  void write(TxnId t, KeyId x, Value value, Place place) {
    add(t, EventKind::Write, x, value, place);
  }
  // A write by INSERT.
  void insert(TxnId t, KeyId x, Value value, Place place) {
    add(t, EventKind::Write, x, value, place);
    history_.event_flags_.back() |= History::kInsert;
  }
  // A read that names its writer ("T0" is the initial transaction) instead of a value.
  // `is_coarse`: History::is_coarse().
  void read_from(TxnId t, KeyId x, std::string_view writer, Place place, bool is_coarse = false);
  // States the initial value of x. A second, different statement is an error of build().
  void set_initial(KeyId x, Value value, Place place);

  // Statements. What is added to t after begin_statement() belongs to one statement, up to the
  // next of these two calls; what is added outside of statements is one of its own each.
  void begin_statement(TxnId t);
  void end_statement(TxnId t);
  // Locks the row of a key, which need not be a key of the history: a number, or a text().
  void lock(TxnId t, Value key, LockMode mode, Place place);

  // An end before the start is an error of build(), as is a second commit of one number.
  void set_times(TxnId t, TxnTimes times);
  void set_commit_number(TxnId t, std::int64_t number);
  void set_header(RunHeader header) { history_.header_ = std::move(header); }

  // Lists.
  void append(TxnId t, KeyId x, Value element, Place place) {
    add(t, EventKind::Append, x, element, place);
  }
  void read_list(TxnId t, KeyId x, std::span<const Value> elements, Place place);

  std::size_t num_txns() const { return history_.txn_session_.size(); }  // with T0
  std::size_t num_events() const { return event_txn_.size(); }

  // With a budget, a limit_error if it expires on the way.
  Result<History> build(Budget* budget = nullptr) &&;
  // The same, but a value that several transactions wrote gives its reads a choice of writers
  // (History::choices) where build() has an error.
  Result<History> build_open(Budget* budget = nullptr) &&;
  // How the file that is read could state initial values, for those who advise.
  void set_initial_syntax(InitialSyntax syntax) { history_.initial_syntax_ = syntax; }
  // Places count records from 1, and bytes from 1, instead of lines and columns.
  void count_records() { history_.counts_records_ = true; }

 private:
  friend class HistoryResolver;

  struct NamedRead {
    std::uint32_t event;
    Value writer;
  };
  struct ListRead {
    std::uint32_t event;
    std::uint32_t begin;  // in list_elements_
    std::uint32_t size;
  };
  struct WaitingLock {
    TxnId txn;
    std::uint32_t statement;
    Value key;  // as key_names_ has it
    LockMode mode;
    Place place;
    std::uint32_t arrival;  // how many events came before it
  };
  struct StatedInitial {
    Value value;
    Place place;
  };

  void add(TxnId t, EventKind kind, KeyId x, Value value, Place place);
  KeyId add_key(Value name);
  SessionId add_session(Value name);
  void name_txn(TxnId t, Value name);
  void group_events_by_txn();
  void count_statements();
  std::uint32_t statement_of_next(TxnId t);
  void settle_locks();
  void drop_default_statements();
  Result<void> check_times() const;
  Result<void> check_commit_numbers() const;

  InitialValues initial_;
  History history_;               // filled as far as the calls go
  std::vector<TxnId> event_txn_;  // in order of arrival until build() groups the events
  bool grouped_ = true;           // do events arrive grouped by transaction?
  bool named_by_text_ = false;    // are there names that may collide?
  std::vector<NamedRead> named_reads_;
  std::vector<ListRead> list_reads_;
  std::vector<Value> list_elements_;
  std::unordered_map<std::uint32_t, StatedInitial> stated_initial_;  // by key
  std::unordered_map<std::int64_t, KeyId> number_keys_;
  std::vector<KeyId> text_keys_;          // by the text's number in the pool
  std::vector<KeyId> small_number_keys_;  // direct access for the numbers 0 … kSmallKeys-1
  std::unordered_map<std::int64_t, SessionId> number_sessions_;
  std::unordered_map<std::int64_t, SessionId> text_sessions_;
  std::vector<std::uint8_t> in_statement_;  // by transaction; empty until there is a statement
  std::vector<WaitingLock> waiting_locks_;
  Error first_error_;  // of a call that could not report; empty `what` if there is none
};

}  // namespace isoscope
