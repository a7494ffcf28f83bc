#pragma once
// Runs a function on a database that the caller keeps: the semantics of SQL programs.
//
// A database is a set of locations: for each row of a table, by its primary key, whether it is
// there, and the value of each other column. The interpreter asks for and sets locations one by
// one, and asks for no more than the statement needs:
//
//   SELECT, UPDATE   whether the rows are there that meet what WHERE says about columns that never
//                    change; the other columns of WHERE and those that are used, of rows that are
//   MIN, MAX         the same, but of rows below the minimum (above the maximum) and at it only,
//                    where it is over a key column
//   DELETE by key    nothing but the other columns of WHERE; with FOUND or ROW_COUNT, whether the
//                    row is there
//   INSERT           whether the row is there (if so, the transaction aborts or does what ON
//                    CONFLICT says); UNIQUE and FOREIGN KEY look at what they must
//
// A row that is not bound by its key is looked for among Database::rows(), in ascending order, so
// runs are reproducible: without ORDER BY the first row is that of the smallest key. Errors that
// SQL raises while a statement runs (overflow, division by zero, a constraint) abort the
// transaction.
//
// Paper    [NagarJagannathan-CONCUR'18], Appendix B.
// Differs  A read of a row that is not there reads no columns (E-SELECT reads them all); a
//          transaction sees its own writes; NULL is SQL's.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql/application.h"
#include "support/budget.h"

namespace isoscope::sql {

using RowKey = std::vector<Value>;  // the primary key, in its order

class Database {
 public:
  virtual ~Database() = default;

  // Keys of all rows of the table that any transaction may have inserted, in ascending order.
  // Asking this reads nothing.
  virtual std::vector<RowKey> rows(TableId table) = 0;
  // Is the row there? A read.
  virtual bool is_present(TableId table, const RowKey& key) = 0;
  // A read of a column that is not in the primary key. Requires: the row is there.
  virtual Value read(TableId table, const RowKey& key, ColumnId column) = 0;
  virtual void set_present(TableId table, const RowKey& key, bool present) = 0;
  virtual void write(TableId table, const RowKey& key, ColumnId column, Value value) = 0;
  // The row is locked: FOR UPDATE, FOR SHARE, or KEY SHARE by a foreign key that looks at it.
  virtual void lock(TableId table, const RowKey& key, Lock mode) = 0;
  // The row meets the WHERE of a statement: what was read of it counts. No access.
  virtual void matched(TableId /*table*/, const RowKey& /*key*/) {}
  // For databases with a snapshot for each statement: a statement begins, control flow included; a
  // query of an expression comes before the statement that it is part of.
  virtual void begin(const Statement& /*statement*/) {}
  // A statement that changes or locks rows is about to look for them. True: the rows that match are
  // to be reported by matched() first, then end_search(); after it the statement looks again.
  virtual bool begin_search(TableId /*table*/) { return false; }
  virtual void end_search() {}
  // A foreign key looks at rows as they are by now, by a query of its own in the middle of the
  // statement: also at rows that the statement did not find.
  virtual void begin_reference_check() {}
  virtual void end_reference_check() {}
  // For databases that keep entries of UNIQUE constraints: another row with these values in the
  // columns of the constraint, or that there is none. Nothing: the interpreter looks at the rows.
  struct UniqueAnswer {
    std::optional<RowKey> row;
  };
  virtual std::optional<UniqueAnswer> find_unique(TableId /*table*/, UniqueId /*constraint*/,
                                                  std::span<const Value> /*values*/,
                                                  const std::optional<RowKey>& /*except*/) {
    return std::nullopt;
  }
  // The advisory lock on one number or two is taken, to the end of the transaction. False: the
  // database knows none.
  virtual bool take_advisory(const std::vector<Value>& /*numbers*/, const AdvisoryLock& /*lock*/) {
    return false;
  }
  // A value for a fresh column, different for every call of every transaction.
  virtual Value fresh(TableId table, ColumnId column) = 0;
  // nextval: a number that neither this nor fresh() gives again.
  virtual std::int64_t draw(SequenceId sequence) = 0;
  // Might the sequence give numbers that rows have, where those above are never taken?
  virtual bool may_meet_rows(SequenceId /*sequence*/) const { return false; }
};

struct CallResult {
  bool committed = true;
  std::string why_aborted = {};
  std::vector<Value> returned = {};  // one value for most; none for void; rows of RETURN NEXT
  std::string sqlstate = {};         // of an abort
};

// Runs one call. An Error is no outcome of SQL but a limit of ours: more than `max_steps`
// statements, or the budget is over.
Result<CallResult> run_call(const Application& app, const Function& function,
                            std::span<const Value> arguments, Database& database,
                            std::size_t max_steps = 100'000, Budget* budget = nullptr);

}  // namespace isoscope::sql
