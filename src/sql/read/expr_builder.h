#pragma once
// Expressions of libpg_query's trees as Expr: names resolved, types checked.
//
// A subquery becomes a Select into a hidden variable, put into Scope::before; an aggregate, where
// one may stand, a hidden variable that the query fills.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sql/read/catalog.h"
#include "sql/read/findings.h"
#include "sql/read/frame.h"
#include "sql/read/source_text.h"
#include "sql/read/tree.h"
#include "sql/statement.h"

namespace isoscope::sql {

// A row of a loop around, whose columns are variables. They are made when they are first used.
struct BoundRow {
  std::vector<std::pair<ColumnId, VarId>> columns;  // by column of the source
  std::optional<VarId> find(ColumnId column) const;
};

// Something in FROM, under the name that the statement gives it: a table, or what has named columns
// like one.
struct Source {
  TableId table = TableId::none();
  std::string name;
  std::vector<std::string> merged = {};  // columns of USING: the same as those of a source before
  std::uint32_t joins_from = 0;          // the first source of the join that merges them
  bool is_shown_first = false;           // of RIGHT JOIN: * has it before that source
  SourceId number = {};                  // in the Query, for a table
  // Of what is no table: its columns. With a value each, unless the row is bound.
  struct Column {
    std::string name;
    Type type = Type::Integer;
    bool is_array = false;
    std::uint8_t bits = 64;  // as of an Expr
    std::optional<Expr> value = {};
  };
  using Columns = ById<ColumnId, Column>;
  std::optional<Columns> columns = {};
  std::shared_ptr<BoundRow> bound = {};
};

// A query of WITH that has been asked, and the row set with its rows.
struct NamedRows {
  std::string name;
  VarId rows;
  std::vector<Source::Column> columns;
};

// An aggregate in a list of outputs, and the hidden variable that gets its value.
struct AggregateCall {
  Output output;
  VarId var;
  std::vector<OrderBy> order = {};  // in which the rows come
};

// What an expression may use, and where the effects of its translation go.
struct Scope {
  Catalog& catalog;
  Findings& findings;
  Frame* frame = nullptr;  // none in a schema
  Locator where = {};
  std::vector<Source> sources = {};
  // As in PL/pgSQL: a name that is a column and a variable fails (42702).
  bool names_may_clash = false;
  // Unqualified columns are those of the first source: of the row that is there in ON CONFLICT.
  bool first_source_only = false;
  const Scope* outer = nullptr;  // of the query around a subquery
  // Set when a subquery uses a column of this scope, which must be a variable then.
  bool* is_used_inside = nullptr;
  ById<SourceId, TableId>* tables = nullptr;  // sources of the query so far
  std::vector<NamedRows> with = {};
  std::vector<Statement>* before = nullptr;          // none where no subquery may stand
  std::vector<AggregateCall>* aggregates = nullptr;  // none where no aggregate may stand
  bool discards = false;                             // PERFORM: the values are thrown away
  // What is built may stay unevaluated (CASE, AND, a query with WHERE), or is evaluated elsewhere.
  bool may_not_run = false;
  // It is a part of CASE, AND, OR or COALESCE.
  bool in_lazy_part = false;
  // A query built here is a part of a statement: the server asks it only for the rows that it
  // needs, or not at all …
  bool is_subquery = false;
  // … but this one (a SelectStmt) it surely asks for all of them: whole_queries.h.
  const Tree* runs_whole = nullptr;
  // NULL counts as false where this expression stands, as in WHERE: IN need not distinguish them.
  bool null_is_false = false;
  std::string text = {};  // of the statement around, for the Selects of its subqueries
  int depth = 0;

  Place place(const Tree& node) const { return where.place(number_of(node, "location")); }
  const Table& table(std::uint32_t source) const { return catalog.table(sources[source].table); }
};

// The columns of a source, hidden ones left out: name and number.
struct ColumnName {
  std::string_view name;
  ColumnId number = {};
};
std::vector<ColumnName> columns_of_source(const Scope& scope, std::uint32_t source);
std::optional<ColumnId> find_source_column(const Scope& scope, std::uint32_t source,
                                           std::string_view name);

Expr build_expr(Scope& scope, const Tree& node);
// One that is true, false or NULL.
Expr build_condition(Scope& scope, const Tree& node);
// One of WHERE or of an inner join, where NULL counts as false.
Expr build_filter(Scope& scope, const Tree& node);
// The value as one of the type that the place where it goes has: constants are converted, NULL
// fits anywhere, and what does not fit fails. `what` names the place. What has no type of its own,
// such as '1', gets `bits`; numbers keep theirs.
Expr adapt(Scope& scope, Expr value, Type type, bool is_array, std::string_view what,
           std::uint8_t bits = 64);
// The value as it is stored in a column or variable: as above, and a numeric is rounded to the
// scale that is declared, or to a whole number where one is declared.
Expr assigned(Scope& scope, Expr value, Type type, bool is_array, std::string_view what,
              const Width& width);
// A cast between types of whole numbers.
Expr cast_number(Expr value, std::uint8_t bits);
// Casts between whole numbers and numerics.
Expr to_numeric(Expr value);
Expr to_integer(Expr value, std::uint8_t bits);
// x::numeric(p, s). Its value is what it was if that surely has no more digits behind the point.
Expr round_to(Expr value, const Width& width);
// A text that becomes a uuid is another text then, if the server writes it in another way.
void note_uuid(Scope& scope, const Expr& value, const Width& width);
// varchar(n) as of a column or variable: blanks at the end that find no room are cut off.
Expr cut_to(const Scope& scope, Expr value, const Width& width);
// As it is declared; nothing for what is computed, and for columns of queries.
std::optional<Width> declared_width(const Scope& scope, const Expr& expr);
// For a variable, which shows its digits whatever it is given: a column or variable of just as
// many stands there as it is.
Expr without_idle_rounding(Expr value);
// 1.5 and 1.50 are equal, and so they are to whoever proves something; a text that is made of one,
// or a quotient, tells them apart.
void note_scale(Scope& scope, std::span<const Expr> args, Place place);
// The type of what an operator makes of these: a numeric if one of them is.
Type type_of_numbers(const Expr& a, const Expr& b);

// Functions that these call run on the server by another snapshot, or perhaps not at all
// (Statement::is_rough).
void mark_calls_as_rough(std::span<Statement> statements);

// A constant that is written without a type, such as '1' or NULL: it gets that of its place.
bool has_no_type(const Expr& expr);
// x::type, CAST(x AS type): cast_builder.cpp
Expr build_cast(Scope& scope, const Tree& cast, Place place);
// Notes an order of its values that is not the server's.
void note_order(Scope& scope, const Expr& expr, Place place);
// A function call that is no aggregate: the known ones as what they are, others as Opaque.
Expr build_call(Scope& scope, const Tree& call, Place place);
// A name: a column of the sources, else a variable.
Expr build_name(Scope& scope, const Tree& column_ref, Place place);
// pg_advisory_xact_lock and others, which become a statement before: advisory_builder.cpp. Nothing
// for other names.
std::optional<Expr> build_advisory_lock(Scope& scope, const std::string& name,
                                        std::vector<Expr>& args, Place place);
// Is a call of a function that does something made once, and surely? Else fails.
// advisory_builder.cpp
bool stands_alone(Scope& scope, const std::string& name, std::span<const Expr> args, Place place);
// IS NULL, or IS NOT NULL, of a record: of all its fields. Nothing if the value is none.
std::optional<Expr> build_record_test(Scope& scope, const Tree& value, bool is_null, Place place);
// EXISTS (…), (SELECT …), x IN (SELECT …); defined with the queries.
Expr build_subquery(Scope& scope, const Tree& sublink, Place place);

// Is it a call of an aggregate that we know; or of one that we do not?
std::optional<Aggregate> aggregate_of(const Tree& call);
bool is_unknown_aggregate(const std::string& name);
// Is there an aggregate anywhere in the expression, subqueries aside?
bool contains_aggregate(const Tree& node);

// Arguments of an expression, moved into it; the elements of an initializer list would be copied,
// again at each level of the tree.
struct Args {
  Args() = default;
  Args(Expr a) { add(std::move(a)); }
  Args(Expr a, Expr b) {
    add(std::move(a));
    add(std::move(b));
  }
  Args(Expr a, Expr b, Expr c) {
    add(std::move(a));
    add(std::move(b));
    add(std::move(c));
  }
  Args(std::vector<Expr> all) : list(std::move(all)) {}

  std::vector<Expr> list;

 private:
  void add(Expr expr) { list.push_back(std::move(expr)); }
};

// Makers of common expressions. Computed integers have the widest type of their operands.
Expr make(ExprOp op, Type type, Args args, Place place);
Expr make_null(Type type, Place place);
Expr make_integer(std::int64_t number, Place place);
Expr make_decimal(const Decimal& number, Place place);
Expr make_text(std::string text, Place place);
Expr make_boolean(bool truth, Place place);
Expr make_variable(const Frame& frame, VarId var, Place place);
Expr make_column(const Scope& scope, std::uint32_t source, ColumnId column, Place place);
// Both conditions, either of which may be missing.
std::optional<Expr> both(std::optional<Expr> left, std::optional<Expr> right);
// Does it use a column of any source?
bool uses_column(const Expr& expr);

// Does the server have a function of this name, to which we give a meaning? A call without a schema
// is one of it, whatever the program declares.
bool is_of_server(std::string_view name);

}  // namespace isoscope::sql
