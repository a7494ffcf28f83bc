#pragma once
// What the builders of expressions share. Only their sources include this; others use
// expr_builder.h.
#include <string>
#include <vector>

#include "sql/read/expr_builder.h"

namespace isoscope::sql {

struct FoundColumn {
  std::uint32_t source = 0;
  ColumnId column = {};
};

// The column of that name, of the source `qualifier` unless that is empty.
std::vector<FoundColumn> find_columns(const Scope& scope, const std::string& qualifier,
                                      const std::string& name);
// The name of a table that the statement or a query around it reads stands for its whole row.
bool is_whole_row(const Scope& scope, const std::string& name);

// An argument of a function of the server. The name of a table of the query is its row.
Expr build_argument(Scope& scope, const Tree& arg);
// A call of an aggregate, where one may stand: expr_aggregates.cpp
Expr build_aggregate(Scope& scope, Aggregate aggregate, const Tree& call, Place place);

}  // namespace isoscope::sql
