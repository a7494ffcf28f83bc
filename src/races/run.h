#pragma once
// A recorded run (docs/record.md) as its statements tell it: who read which version of what, with
// the text of each statement and the values that were written.
//
// The history model keeps what axioms look at; here is what is needed to run a statement once more
// against other versions: its shape, the rows that it locks, and the answers of rows to its
// condition, which are values of keys like `t[7]{where qty >= 3}`.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "history/history.h"
#include "sql/server/level.h"
#include "support/by_id.h"

namespace isoscope::races {

using RunTxn = Id<struct RunTxnTag>;  // of Run::txns
inline constexpr RunTxn kT0 = {0};

inline constexpr std::size_t kNothing = static_cast<std::size_t>(-1);  // no statement

enum class KeyKind : std::uint8_t { Row, Cell, Answer };  // t[7], t[7].v, t[7]{where v < 5}

struct Key {
  std::string name;
  KeyKind kind = KeyKind::Row;
  RowId row = {};                             // the row it belongs to, in Run::rows
  std::string initial = {};                   // what T0 wrote; empty if it is not told, or nil
  std::vector<RunTxn> writers = {};           // in the order of versions, T0 left out
  std::map<RunTxn, std::string> values = {};  // what each wrote; "" is nil
};

struct Read {
  KeyId key = {};
  RunTxn writer = kT0;
  bool is_coarse = false;  // its statement may not depend on it (docs/record.md)
};

struct Write {
  KeyId key = {};
  bool inserts = false;  // by INSERT: no lock is taken on a row that was there
};

// What PostgreSQL's row locks exclude; in ascending strength.
enum class LockMode : std::uint8_t { KeyShare, Share, NoKeyUpdate, Update };

struct Lock {
  RowId row = {};
  LockMode mode = LockMode::Update;
  bool is_explicit = false;      // FOR UPDATE, …: not by a write
  std::size_t until = kNothing;  // the ROLLBACK TO that gives it back; else it is held to the end
};

// The locking clauses of a statement, wherever they stand in it.
struct LockClauses {
  bool update = false;  // FOR UPDATE
  bool no_key_update = false;
  bool share = false;
  bool key_share = false;
  bool any() const { return update || no_key_update || share || key_share; }
};

enum class StatementKind : std::uint8_t { Select, Insert, Update, Delete, Other };

struct Statement {
  std::string sql;
  std::string shape;  // without constants and comments
  std::string place;  // in the code, where a comment states it
  StatementKind kind = StatementKind::Other;
  bool tells_rows = false;       // SELECT, or RETURNING: the application learns what it read
  bool takes_conflicts = false;  // ON CONFLICT: a key that is there does not end it
  LockClauses clauses = {};
  // Behind a SAVEPOINT: if it fails, the application may go back and go on from there.
  bool is_behind_savepoint = false;
  std::vector<Read> reads = {};
  std::vector<Write> writes = {};
  std::vector<Lock> locks = {};
  std::string gap = {};  // why it was not understood; empty if it was
};

struct Txn {
  std::string name;
  std::string session = {};
  std::string isolation = {};                      // as declared, for people: "read committed"
  std::optional<sql::server::PgLevel> level = {};  // the same, if it is known
  std::string gap = {};  // of the transaction as a whole, or of one of its statements
  // It holds locks that are no row's: advisory ones, or of whole tables. The recording does not say
  // which.
  bool holds_other_locks = false;
  bool tries_locks = false;      // pg_try_advisory_…: who does not get one goes on otherwise
  std::string table_locks = {};  // the texts of LOCK TABLE
  // Deleted, or given another key, and made anew: who has waited for the old row does not find the
  // new one.
  std::set<RowId> recreated = {};
  std::uint64_t commit = 0;
  std::size_t shape = 0;  // transactions of one shape have the same number
  std::vector<Statement> statements = {};
};

struct Run {
  ById<RunTxn, Txn> txns;  // committed ones, T0 first, then in the order of their ends
  // By the ids of the history.
  ById<KeyId, Key> keys;
  ById<RowId, std::string> rows;
  std::size_t shapes = 0;  // of transactions
  std::size_t statements = 0;
  std::size_t gaps = 0;
  std::size_t rolled_back = 0;  // transactions that read something and that the server did not end
  std::map<std::string, std::size_t> reasons = {};  // of gaps

  // The value of a key as a transaction left it.
  const std::string& value(KeyId key, RunTxn writer) const;
};

// Only committed transactions; aborted ones are none of a prediction's business.
Run run_of(const History& h);

// A statement without constants, comments and line breaks.
std::string shape_of(std::string_view sql);
// "shop.py:12 in buy": what a comment in the style of sqlcommenter tells; empty if there is none.
std::string code_place(std::string_view sql);

}  // namespace isoscope::races
