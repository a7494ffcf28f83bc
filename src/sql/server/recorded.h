#pragma once
// A finished run of a Machine as a history: statements with what they read and wrote.
//
// A cell is a key, `item[1].stock`, and so is the presence of a row, `item[1]`. A statement reads,
// of each row that met its WHERE, the cells that it mentions, from their last writer; rows
// that did not match are not in it. Writers of one row conflict, whatever their columns.
//
// Of a `.txn` program the keys are its own, and locks that a statement took without writing are
// there, too.
#include "history/history.h"
#include "sql/server/machine.h"

namespace isoscope::sql::server {

// With plain names transactions are called alice_1, for formats whose names have no brackets.
Result<History> to_history(const Machine& machine, const State& state,
                           bool has_plain_names = false);

}  // namespace isoscope::sql::server
