#pragma once
// A finished run of a Machine as a history: statements with what they read and wrote.
//
// A cell is a key, `item[1].stock`, and so is the presence of a row, `item[1]`. A statement reads,
// of each row that met its WHERE, the cells that it mentions, from whoever changed them last; rows
// that did not match are not in it. Writers of one row conflict, whatever their columns.
#include "history/history.h"
#include "sql/server/machine.h"

namespace isoscope::sql::server {

Result<History> to_history(const Machine& machine, const State& state);

}  // namespace isoscope::sql::server
