#pragma once
// Operators of SQL, and what abbreviates them: comparisons, BETWEEN, IN, ANY, NULLIF, rows.
#include <cstddef>

#include "sql/read/expr_builder.h"

namespace isoscope::sql {

// An A_Expr.
Expr build_operator(Scope& scope, const Tree& node, Place place);

Expr not_of(Expr condition);
// left op right, where a constant takes the type of its partner.
Expr compare(Scope& scope, ExprOp op, Expr left, Expr right, Place place);

// What BETWEEN, IN and the like abbreviate repeats an operand. In each other they repeat what is
// repeated already: a short text can stand for more than fits into any memory. False if it is too
// much.
bool repeats(Scope& scope, const Expr& operand, std::size_t times, Place place);

}  // namespace isoscope::sql
