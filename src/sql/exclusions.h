#pragma once
// EXCLUDE constraints: rows of one table that cannot be there together.
#include <vector>

#include "sql/schema.h"
#include "sql/value.h"
#include "support/result.h"

namespace isoscope::sql {

// What a row has in the parts of the constraint; nothing at all if it is none of its rows. An Error
// is one that SQL raises: a range whose ends are the wrong way round.
struct ExclusionValue {
  Value low;
  Value high;  // of a range
};
Result<std::vector<ExclusionValue>> values_of(const Exclusion& exclusion, const TableRow& row);

// Do two rows with these values exclude each other?
bool conflict(const Exclusion& exclusion, const std::vector<ExclusionValue>& a,
              const std::vector<ExclusionValue>& b);

// Does the constraint look at a column?
bool mentions(const Exclusion& exclusion, ColumnId column);

}  // namespace isoscope::sql
