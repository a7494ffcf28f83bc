#pragma once
// Which statements of a transaction were undone by ROLLBACK TO, and by which.
#include <vector>

#include "record/run.h"

namespace isoscope::record {

// By statement: the ROLLBACK TO that undid it, by position, or the number of statements. Where it
// names a savepoint that was not seen, everything before it may be undone; `is_certain` is false
// then.
std::vector<std::size_t> undone_at(const RecordedTxn& txn, bool* is_certain = nullptr);

}  // namespace isoscope::record
