#pragma once
// SELECT, INSERT, UPDATE and DELETE of libpg_query's trees as statements.
#include <string>
#include <vector>

#include "sql/read/expr_builder.h"
#include "sql/statement.h"

namespace isoscope::sql {

struct ResultColumn {
  std::string name;
  Type type = Type::Integer;
  bool is_array = false;
  std::uint8_t bits = 64;  // as of an Expr
};
// The same as columns of something in FROM.
std::vector<Source::Column> source_columns(const std::vector<ResultColumn>& results);

// A query and what its rows are called. Where an output computes with an aggregate, as in
// max(id) + 1, the query fills hidden variables and `computed` makes the results of them.
struct BuiltQuery {
  Query query;
  std::vector<ResultColumn> columns;
  std::vector<VarId> hidden = {};
  std::vector<Expr> computed = {};
};

// A SelectStmt. `scope` gives all but the sources.
BuiltQuery build_query(const Scope& scope, const Tree& select);

// The variables that get the results of the query: those given, one a column; a record, whose
// fields are made as needed.
std::vector<VarId> bind_targets(const Scope& scope, const std::vector<ResultColumn>& columns,
                                const std::vector<std::size_t>& named, Place place);

// Marks what subqueries and the statement that uses them come to as one SQL statement: all but the
// first continue it.
void make_one_statement(Frame& frame, std::vector<Statement>& before, std::vector<Statement>& made);
// Does any of them go to the database?
bool has_sql(std::span<const Statement> body);
// Adds: the query into the targets, the first row. `like` says what the rest of the Select is.
void add_select(std::vector<Statement>& to, const Scope& scope, BuiltQuery query,
                const std::vector<VarId>& targets, Select like, const Statement& model);
// The loop over the rows of the query; its body starts with what computes the results.
Statement make_loop(const Scope& scope, BuiltQuery query, const std::vector<VarId>& targets,
                    const Statement& model);

// InsertStmt, UpdateStmt, DeleteStmt, with RETURNING into `named` variables, none for none.
// `model` gives place and text.
void add_write(std::vector<Statement>& to, const Scope& scope, const std::string& kind,
               const Tree& node, const std::vector<std::size_t>& named, bool strict,
               const Statement& model);
// The same, with all rows of RETURNING added to a row set, and what its columns are.
void add_write_rows(std::vector<Statement>& to, const Scope& scope, const std::string& kind,
                    const Tree& node, VarId rows, std::vector<ResultColumn>& columns,
                    const Statement& model);

}  // namespace isoscope::sql
