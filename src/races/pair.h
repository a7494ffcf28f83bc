#pragma once
// Two transactions of a recorded run, run again side by side by the rules of PostgreSQL.
//
// The run is kept up to the earlier one, A; then A and B interleave, statement by statement, in
// every way that differs in what they see or wait for. Transactions that the run has between them
// are there only if B needs them: before A where they do not conflict with it, else right after A's
// commit. The rest of the run comes later and is left out.
//
//     … T4 T5   A.1  B.1  A.2  A commits  (T7)  B.2  B commits
//
// Each statement is run again against the versions that it sees there. At READ COMMITTED it sees
// what had been committed when it began; UPDATE, DELETE and locking reads wait for the other one's
// end where it holds the row, and then take the current version if their condition still matches;
// at REPEATABLE READ a row that was changed since the snapshot ends the transaction (40001). A
// condition that no longer matches changes nothing: its statement was guarded, and what the
// application does then is not in the recording. Such interleavings are no predictions.
//
// What the application computes from changed reads is not known either. A prediction assumes that
// it goes on as it did, and says so.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "races/run.h"

namespace isoscope::races {

using sql::server::PgLevel;

// Why an interleaving does not come to its end, or is none.
enum class Guard : std::uint8_t {
  LockedRead,    // FOR UPDATE, FOR SHARE: the other one waits
  LockedWrite,   // an UPDATE or DELETE waits for the other's end, and takes the current row
  Condition,     // a WHERE that no longer matches
  UniqueKey,     // 23505
  ForeignKey,    // 23503: the row that it refers to is not there
  FirstUpdater,  // 40001
  Serializable,  // 40001 of SERIALIZABLE
  Deadlock,      // 40P01
  FurtherRows,   // a condition would match rows that it did not match: not in the recording
  FewerRows,     // one would not match rows that it matched, though nothing guards them
  OtherWay,      // ON CONFLICT would find a row where it found none, or the reverse
  OtherAnswer,   // the application would be told something else: what it does then is not either
  CoarseRead,    // one of the two may depend on the other, or not
  OtherLocks,    // both hold advisory locks, or locks of tables
  Caught,        // a statement fails behind a savepoint: the application may go on from there
};

// What it says of the statement of that shape; `both_lock`: for OtherLocks, that both of the pair
// do.
std::string guard_text(Guard guard, const std::string& shape, bool both_lock);
// Would the statement find other rows than in the recording? No reason in a pair that is decided.
bool is_about_rows(Guard guard);

struct Step {
  RunTxn txn = kT0;
  std::size_t statement = 0;  // counted from 0; the number of its statements: commit
};

struct ChangedVersion {
  RunTxn txn = kT0;
  std::size_t statement = 0;
  KeyId key = {};
  RunTxn observed = kT0;
  RunTxn predicted = kT0;
};

// One end of a dependency: a statement, and the key that it reads or writes.
struct Dependency {
  enum class Kind : std::uint8_t { Wr, Ww, Rw };
  Kind kind = Kind::Rw;
  RunTxn from = kT0;
  RunTxn to = kT0;
  std::size_t from_statement = 0;
  std::size_t to_statement = 0;
  KeyId key = {};
  bool is_coarse = false;  // rests on a coarse read only
};

// An interleaving that neither order of the two explains.
struct Interleaving {
  std::vector<Step> steps;
  std::vector<ChangedVersion> changed = {};
  Dependency forth;  // from A to B
  Dependency back;   // from B to A
  // By transaction, statement and position: whom each read of A and B sees.
  std::map<RunTxn, std::vector<std::vector<RunTxn>>> reads = {};
  bool first_commits_last = false;  // B commits before A
  std::size_t switches = 0;
};

struct PairAnswer {
  std::optional<Interleaving> race;     // with the fewest changed reads, then the fewest switches
  std::map<Guard, std::size_t> guards;  // what stopped others, and how often
  std::map<Guard, Step> guarded_at;     // an example of each
  std::size_t interleavings = 0;
  bool is_cut = false;   // too many interleavings: not all were tried
  bool is_open = false;  // some ended where the recording does not know how to go on
};

struct PairOptions {
  PgLevel level = PgLevel::ReadCommitted;  // at least; a transaction may declare a stronger
  bool sessions_are_connections = true;
  std::size_t most = 4'000;  // interleavings
};

class Pair {
 public:
  // Requires: a < b, neither is T0.
  Pair(const Run& run, RunTxn a, RunTxn b, const PairOptions& options);

  // False: B cannot run beside A (in its session, or it needs what only comes after A).
  bool may_overlap() const { return may_overlap_; }
  PairAnswer explore();
  // Those between A and B that are there: before A, and after A's commit.
  const std::set<RunTxn>& before() const { return before_; }
  const std::set<RunTxn>& after() const { return after_; }

 private:
  struct Side;
  struct State;

  void find_needed();
  bool conflicts(RunTxn t, RunTxn u) const;
  void find_relevant();
  RunTxn visible(KeyId key, bool is_second, bool sees_other) const;
  enum class Done : std::uint8_t { Yes, Waits, Ends };
  Done run_statement(State& state, bool is_second);
  Done take_rows(State& state, bool is_second, const Statement& statement, bool sees_other);
  std::optional<Guard> unmatched(const State& state, bool is_second, bool sees_other,
                                 bool only_locked) const;
  std::optional<Guard> refused(const Statement& statement, bool is_second, bool sees_other) const;
  std::optional<Guard> lost_meanwhile(const Statement& statement, bool is_second) const;
  bool looks_for_stale_row(const State& state, bool is_second, bool sees_other) const;
  bool awaits_other(RunTxn writer, bool is_second, bool sees_other) const;
  bool blocked_by(const State& state, bool is_second, const Statement& statement,
                  bool& is_explicit) const;
  void stop(const State& state, bool is_second, Guard guard);
  bool leaves_way_open(RunTxn t, Guard guard) const;
  void advance(State state);
  void finish(const State& state);
  bool has_serial_order(const State& state) const;
  std::optional<Step> told_otherwise(const State& state) const;
  bool touches_rows_of(const Statement& statement, RunTxn t) const;
  std::optional<Dependency> dependency(const State& state, bool from_second) const;
  PgLevel level_of(RunTxn t) const;
  bool is_kept() const;

  const Run& run_;
  RunTxn txns_[2];
  PairOptions options_;
  bool may_overlap_ = true;
  std::set<RunTxn> before_;
  std::set<RunTxn> after_;
  bool is_one_row_ = false;        // each is one statement, and all they touch is one row
  bool writes_meet_ = false;       // there is a key that both write
  std::vector<bool> relevant_[2];  // statements that meet the other transaction
  PairAnswer answer_;
};

// Is there a key that both touch, and one of them writes; or a row that both lock?
bool may_conflict(const Run& run, RunTxn t, RunTxn u);

}  // namespace isoscope::races
