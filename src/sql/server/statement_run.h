#pragma once
// One SQL statement as PostgreSQL runs it: on a snapshot, row by row, with locks that may wait.
//
//   SELECT                 the rows of the snapshot
//   SELECT … FOR UPDATE    the same, then each row is locked; at READ COMMITTED a row that was
//                          changed meanwhile is read again, and WHERE is asked again (EvalPlanQual)
//   UPDATE, DELETE         WHERE on the snapshot, then each row as above; a row that is gone is
//                          passed over, one that no longer matches stays locked
//   INSERT                 the row, then an entry in each unique key: one that a running
//                          transaction holds or frees is waited for, one that is taken is 23505
//   ON CONFLICT            looks at the named keys in the same way first; what is there is taken as
//                          it is now, in the snapshot or not
//   advisory locks         wait as row locks do, in a queue (advisory_locks.h)
//   FOREIGN KEY            after the statement: KEY SHARE on the row that is referred to; a row
//                          that goes must not be referred to any more
//
// Where a transaction keeps one snapshot (REPEATABLE READ, SERIALIZABLE) a row that was changed
// outside of it cannot be locked: 40001.
//
// A statement that must wait keeps what it has done, and goes on from there when it is asked again:
// all that it knows is in a `Running`, which is a value.
#include <string>

#include "sql/run/query.h"
#include "sql/server/digest.h"
#include "sql/server/storage.h"
#include "sql/sqlstates.h"

namespace isoscope::sql::server {

// An error of SQL, which ends the transaction.
struct Failure {
  std::string sqlstate;  // of MariaDB the number of the error; empty where we do not know it
  std::string message;

  // The server's doing, and none of the program: a retry may succeed.
  bool is_by_server() const { return is_worth_a_retry(sqlstate); }
  friend bool operator==(const Failure&, const Failure&) = default;
};

// A row version that a statement has read because it met its WHERE.
struct ReadVersion {
  RowId row;
  std::uint32_t version = 0;
  TxnNo creator = kInitialTxn;
};

// What a statement came to.
struct StatementResult {
  const Statement* statement = nullptr;
  std::vector<Value> variables = {};          // before it
  std::vector<std::vector<Value>> rows = {};  // of a query, or of RETURNING
  std::size_t num_rows = 0;
  std::vector<ReadVersion> reads = {};
  std::vector<RowId> writes = {};
  TxnNoSet snapshot = {};
  CommandNo command = {};
  bool has_waited = false;
  std::optional<Failure> failure = {};  // of a statement that an EXCEPTION block may catch
  Digest digest = {};                   // of what it read and returned; once it is done
  // Of a `.txn` program: rows that it locked without writing them, what it wrote, and where the
  // transaction stands behind it.
  std::vector<std::pair<RowId, Lock>> locks = {};
  std::vector<std::pair<RowId, std::int64_t>> written = {};
  std::vector<std::int64_t> after = {};
};

// How far a statement of a `.txn` program has come: key_statement.h.
struct KeyAccesses {
  std::vector<std::int64_t> at = {};  // where the transaction stands, behind its last access
  bool is_open = false;               // inside of stmt { … }
  std::vector<std::pair<RowId, std::int64_t>> writes = {};
  std::vector<std::pair<RowId, Lock>> taken = {};  // rows locked by this statement
};

// A statement on its way.
struct Running {
  StatementResult result;  // so far
  QueryNeeds needs = {};
  bool has_begun = false;
  bool has_rows = false;  // all rows are done; references are left
  // Rows that match on the snapshot, one for each source, in the order in which they are visited.
  std::vector<std::vector<Storage::Seen>> candidates = {};
  std::size_t next = 0;
  std::size_t skip = 0;  // rows of OFFSET still to pass over
  // What is being written: the row is there, entries in its unique keys follow.
  std::optional<RowId> placed = {};
  std::uint32_t next_key = 0;
  TableRow inserted = {};  // values of an INSERT, once they are known
  struct Reference {
    enum class Kind : std::uint8_t { Refers, IsReferred };
    Kind kind = Kind::Refers;
    TableId table = {};         // that declares the foreign key
    std::size_t foreign = 0;    // which one of it
    std::vector<Value> values;  // in its columns, or those that go
    bool restricts = false;     // refused even if another row has got the values
  };
  std::vector<Reference> references = {};  // to be checked behind the rows
  std::size_t next_reference = 0;
  std::optional<TxnNoSet> reference_snapshot = {};  // of the one that waits
  KeyAccesses keys = {};                            // of a `.txn` program
};

// Whose statement it is, and what it runs on.
struct StatementContext {
  const Application& app;
  Storage& storage;
  const TxnNoSet& committed;
  const TxnNoSet& running_txns;  // those that have begun and not ended
  TxnNo txn = {};
  bool keeps_snapshot = false;      // REPEATABLE READ, SERIALIZABLE
  const TxnNoSet& txn_snapshot;     // then, the one
  bool is_scalar_subquery = false;  // more than one row is an error
  bool passes_queue = false;        // of an advisory lock
  bool leaves_references = false;   // of an INSERT: more rows may follow
};

struct Attempt {
  enum class Kind : std::uint8_t { Done, Waits, Failed, Limit };
  Kind kind = Kind::Done;
  std::vector<TxnNo> blockers = {};  // of Waits
  std::vector<TxnNo> ahead = {};     // those of them that only stand before it in a queue
  Failure failure = {};              // of Failed
  Error fault = {};                  // of Limit: it cannot be run
};

// Goes on with the statement as far as it gets. After Failed the transaction must end.
Attempt go_on(const StatementContext& context, Running& running);

}  // namespace isoscope::sql::server
