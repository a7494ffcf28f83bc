#pragma once
// The locks that the statements of a recorded transaction hold, and for how long.
//
// A recording has the locks of locking reads and foreign keys. The rest follows from what the
// statements write: UPDATE and DELETE hold the rows that they change, and ROLLBACK TO gives back
// what was taken since its savepoint.
#include "races/run.h"

namespace isoscope::races {

// Adds the locks to the statements of the transaction, and tells which statements come behind a
// savepoint. Requires: its reads, writes and recorded locks, and the keys' values up to it.
void complete_locks(const Run& run, RunTxn t, Txn& txn);

// What an exclusive lock of a locking read excludes, by the clauses of its statement.
LockMode lock_mode(const Statement& statement);
// SELECT … FOR UPDATE, …: it holds what it finds.
bool holds_found(const Statement& statement);

// May locks that are no row's keep the two apart? Both hold some, or one has locked a table whose
// rows the other touches.
bool may_exclude_otherwise(const Run& run, RunTxn t, RunTxn u);

}  // namespace isoscope::races
