#pragma once
// CHECK constraints of a row that is given by its values.
#include <vector>

#include "audit/symbols.h"

namespace isoscope::audit {

// No CHECK of the table is false of the row, and columns of an enum have its values. `values` has
// one for each column.
SmtTerm meets_checks(Symbols& symbols, sql::TableId table, const Row& row,
                     const std::vector<SymValue>& values);

}  // namespace isoscope::audit
