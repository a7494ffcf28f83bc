#pragma once
// INSERT, UPDATE and DELETE: what they read, what they write, which constraints they meet.
//
// A statement first decides about all its rows and what becomes of them, then changes them: it
// does not see its own changes.
#include <vector>

#include "sql/run/call_state.h"

namespace isoscope::sql {

struct Modified {
  std::size_t num_rows = 0;
  std::vector<std::vector<Value>> returning = {};  // of each row, if the statement has RETURNING
};

// `counts`: the number of rows is used. Without that, a DELETE by key does not
// look whether the row is there.
Result<Modified> run_modification(CallState& call, const Statement& statement, bool counts);

}  // namespace isoscope::sql
