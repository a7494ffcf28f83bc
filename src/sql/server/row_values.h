#pragma once
// The values of rows that statements write, and the constraints on them.
#include "sql/server/statement_run.h"

namespace isoscope::sql::server {

// The row of an INSERT: what it gives, fresh values and defaults.
Result<TableRow> inserted_row(const StatementContext& context, const Insert& insert,
                              std::span<const Value> variables);

// NOT NULL and CHECK: what the row breaks.
struct BrokenConstraint {
  enum class Kind : std::uint8_t { NotNull, Check, Error };
  Kind kind = Kind::NotNull;
  std::string message = {};
  Error error = {};  // of Error
};
std::optional<BrokenConstraint> broken_constraint(const Table& table, const TableRow& row);

}  // namespace isoscope::sql::server
