#pragma once
// What the builders of triggers share (trigger_builder.cpp, delete_triggers.cpp,
// statement_triggers.cpp).
#include <cstdint>
#include <memory>
#include <vector>

#include "sql/read/catalog.h"
#include "sql/read/expr_builder.h"
#include "sql/read/inliner.h"

namespace isoscope::sql {

// A column of the row, or of the row before (source 1).
Expr new_column(const Table& table, ColumnId column, SourceId source);

// Is it that column of the statement's own row, and nothing else?
inline bool is_column(const Expr& expr, ColumnId column) {
  return expr.op == ExprOp::Column && expr.source == SourceId{0} && expr.column == column;
}

// The function of a trigger, its NEW and OLD as parameters; null, and a finding, if that fails.
std::shared_ptr<const Function> function_of(const Trigger& trigger, WriteOp op, const Scope& scope,
                                            Place place);

// The trigger as a block of its own, behind what `given` assigns to its variables. FOUND stays as
// it is.
std::vector<Statement> trigger_block(Frame& frame, std::string name, std::vector<Statement> given,
                                     InlinedBody inlined, Place place);

// Which of NEW and OLD the trigger mentions, but for RETURN: NEW first, a flag a column.
std::vector<bool> used_columns(const Function& function);

}  // namespace isoscope::sql
