#pragma once
// EXCLUDE constraints: rows of one table that exclude each other.
#include <vector>

#include "sql/schema.h"
#include "sql/value.h"
#include "support/result.h"

namespace isoscope::sql {

struct ExclusionValue {
  Value low;
  Value high;  // of a range
};
// The values of the row in the parts of the constraint; none if the constraint does not apply to
// the row. An Error is one that SQL raises: the ends of a range are in the wrong order.
Result<std::vector<ExclusionValue>> values_of(const Exclusion& exclusion, const TableRow& row);

// Do two rows with these values exclude each other?
bool conflict(const Exclusion& exclusion, const std::vector<ExclusionValue>& a,
              const std::vector<ExclusionValue>& b);

// Does the constraint look at a column?
bool mentions(const Exclusion& exclusion, ColumnId column);

}  // namespace isoscope::sql
