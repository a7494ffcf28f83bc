#pragma once
// What happens where a number has no Decimal (decimal.h).
#include <string>

#include "sql/decimal.h"
#include "support/error.h"

namespace isoscope::sql {

// A limit of ours, and no error of SQL: the server goes on, so that no handler catches it, and
// nothing is known of how the call ends.
inline Error too_many_digits() { return {.what = std::string(kTooManyDigits), .is_limit = true}; }

}  // namespace isoscope::sql
