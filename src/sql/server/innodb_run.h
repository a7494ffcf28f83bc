#pragma once
// Statements that lock or write, as InnoDB (MariaDB) runs them. Plain reads are on a snapshot, as
// on PostgreSQL: statement_run.h.
//
//   by the key       SELECT … FOR UPDATE, FOR SHARE (LOCK IN SHARE MODE there), UPDATE, DELETE lock
//                    the record and take the row as it is then, whatever the snapshot shows: there
//                    is no first updater who wins
//   no such record   at REPEATABLE READ the gap is locked: others cannot insert into it
//   no match         the lock stays, but for UPDATE and DELETE at READ COMMITTED, if they did not
//                    have to wait for it
//   INSERT           waits for gap locks of others; a record that is there is locked shared and is
//                    error 1062, or if it is deleted it is used again
//   UPDATE           that changes nothing locks and writes nothing; it counts as no row, and later
//                    columns of SET see the new values of earlier ones
//
// All of it was tried on MariaDB 10.11 (tests/sql/innodb_live_test.cpp).
#include "sql/server/statement_run.h"

namespace isoscope::sql::server {

// A query without locks.
bool is_plain_read(const Statement& statement);
// Does the query ask the storage at all? One whose WHERE is known to fail without a row takes no
// snapshot.
bool asks_storage(const Application& app, const Statement& statement,
                  std::span<const Value> variables);

// The expressions that WHERE says the columns of the primary key of source 0 are equal to, in the
// order of the key; nothing unless that is one for each column.
std::optional<std::vector<const Expr*>> key_of_where(const Table& table,
                                                     const std::optional<Expr>& where);

// Is a column that WHERE says to be equal to a value mentioned by another part of it? What the
// optimizer makes of that is not known.
bool repeats_known_column(const std::optional<Expr>& where);

// Requires: the statement is in the fragment (innodb_fragment.h).
Attempt go_on_innodb(const StatementContext& context, Running& running);

}  // namespace isoscope::sql::server
