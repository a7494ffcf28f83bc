#pragma once
// A BEFORE UPDATE trigger that asks the database nothing, as expressions over the row: they are
// computed again if the row was changed meanwhile, which statements would not be.
#include <cstdint>
#include <map>
#include <vector>

#include "sql/read/expr_builder.h"

namespace isoscope::sql {

// What the variables of the function are: first those of NEW and then those of OLD, one for each
// column.
using RowValues = std::map<VarId, Expr>;

struct RowOutcome {
  RowValues env;  // what NEW becomes
  Expr skips;     // is the row left as it is?
  Expr fails;     // does the statement fail?
  Expr state;     // the SQLSTATE with which it fails
};

// Fails in `scope` if the body does more than compute.
RowOutcome run_on_row(const Scope& scope, const std::vector<Statement>& body,
                      std::uint32_t num_columns, RowValues env, Place place);

}  // namespace isoscope::sql
