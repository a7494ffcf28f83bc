// WITH, UNION and VALUES: queries that put their rows into row sets.
#include <fmt/format.h>

#include <algorithm>

#include "sql/read/query_parts.h"
#include "sql/read/whole_queries.h"

namespace isoscope::sql {
namespace {

void rename(std::vector<Source::Column>& columns, const Tree& names) {
  for (std::size_t i = 0; i < columns.size() && i < names.size(); ++i)
    columns[i].name = string_node(names[i]);
}

// How often a table is named.
std::size_t uses_of(const Tree& node, const std::string& name) {
  std::size_t uses = 0;
  if (node.is_array()) {
    for (const Tree& each : node) uses += uses_of(each, name);
  } else if (node.is_object()) {
    uses += text_of(node, "relname") == name ? 1 : 0;
    for (const auto& [key, value] : node.items()) uses += uses_of(value, name);
  }
  return uses;
}

// All parts of a statement see a table as it was before. The server's levels do so (they have
// commands); others who execute part after part do not.
void note_change(const Scope& scope, const Tree& part, const Tree& around, Place place) {
  const std::string table = text_of(child(part, "relation"), "relname");
  if (uses_of(around, table) > 1)
    scope.findings.note(
        place,
        fmt::format("parts of one statement change and use '{}': they are run one by one", table),
        NoteKind::Gap);
}

// What a part of a statement writes.
struct Written {
  WriteOp op = WriteOp::Insert;
  std::optional<TableId> table;
  const Tree* targets = nullptr;

  bool sets(const Catalog& catalog, const std::vector<ColumnId>& columns) const {
    return op == WriteOp::Update && std::ranges::any_of(*targets, [&](const Tree& target) {
             const auto column =
                 find_column(catalog.table(*table), text_of(inside(target), "name"));
             return column && std::ranges::find(columns, *column) != columns.end();
           });
  }
};

Written written_by(const Catalog& catalog, const std::string& kind, const Tree& node) {
  Written written{.table = catalog.find_table(text_of(child(node, "relation"), "relname")),
                  .targets = &child(node, "targetList")};
  if (kind == "DeleteStmt") written.op = WriteOp::Delete;
  if (kind == "UpdateStmt") written.op = WriteOp::Update;
  return written;
}

// INSERT has `override` in any case, and DELETE sets nothing.
std::string kind_of_write(const Tree& node) {
  if (!has(node, "relation")) return "SelectStmt";
  if (has(node, "override")) return "InsertStmt";
  return has(node, "targetList") ? "UpdateStmt" : "DeleteStmt";
}

// Might the server, which looks at foreign keys when the whole statement has run, take what is
// refused where each part is looked at by itself?
bool mends_reference(const Catalog& catalog, const Written& first, const Written& then) {
  if (!first.table || !then.table) return false;
  const auto links = [&](const ForeignKey& key) {
    return key.target == *then.table &&
           (first.op == WriteOp::Insert || first.sets(catalog, key.columns)) &&
           (then.op == WriteOp::Insert || then.sets(catalog, key.target_columns));
  };
  const auto frees = [&](const ForeignKey& key) {
    return key.target == *first.table &&
           (first.op == WriteOp::Delete || first.sets(catalog, key.target_columns)) &&
           (then.op == WriteOp::Delete || then.sets(catalog, key.columns));
  };
  return std::ranges::any_of(catalog.table(*first.table).foreign_keys, links) ||
         std::ranges::any_of(catalog.table(*then.table).foreign_keys, frees);
}

// Notes a part of WITH that refers to a row which a later part might add, or takes one away to
// which a later part might refer no more.
void note_early_references(const Scope& scope, const Tree& around, std::size_t part, Place place) {
  const Catalog& catalog = scope.catalog;
  const Tree& parts = child(child(around, "withClause"), "ctes");
  const auto written = [&](std::size_t i) {
    const Tree& query = child(inside(parts[i]), "ctequery");
    return written_by(catalog, kind_of(query), inside(query));
  };
  const Written first = written(part);
  const std::string kind = kind_of_write(around);
  bool is_mended =
      kind != "SelectStmt" && mends_reference(catalog, first, written_by(catalog, kind, around));
  for (std::size_t i = part + 1; i < parts.size(); ++i) {
    if (kind_of(child(inside(parts[i]), "ctequery")) != "SelectStmt")
      is_mended = is_mended || mends_reference(catalog, first, written(i));
  }
  if (is_mended)
    scope.findings.note(
        place, "foreign keys between parts of one statement are looked at too early, after each",
        NoteKind::Gap);
}

// Adds each row of one side to the rows of both.
void add_side(const Scope& scope, BuiltQuery side, const std::vector<Source::Column>& columns,
              VarId rows, Place place) {
  if (side.columns.size() != columns.size()) {
    scope.findings.fail(place, "the sides of UNION have different numbers of columns");
    return;
  }
  std::vector<VarId> targets;
  for (const Source::Column& column : columns)
    targets.push_back(
        scope.frame->add_hidden("side", column.type, column.is_array, place, column.bits));
  Statement loop = make_loop(scope, std::move(side), targets, model_in(scope, place));
  Append append{.rows = rows};
  for (const VarId target : targets)
    append.values.push_back(make_variable(*scope.frame, target, place));
  loop.as<ForQuery>().body.push_back(model_in(scope, place).with(std::move(append)));
  scope.before->push_back(std::move(loop));
}

void add_order_and_limit(Scope& scope, const Tree& select, const NamedRows& rows,
                         BuiltQuery& built) {
  for (const Tree& entry : child(select, "sortClause")) {
    const Tree& key = child(inside(entry), "node");
    OrderBy order = order_direction(inside(entry));
    std::optional<std::size_t> position = output_position(scope, key, no_tree());
    const Tree& fields = child(child(key, "ColumnRef"), "fields");
    for (std::size_t i = 0; i < rows.columns.size() && fields.size() == 1; ++i) {
      if (rows.columns[i].name == last_name(fields)) position = i;
    }
    if (!position || *position >= rows.columns.size()) {
      scope.findings.fail(scope.place(inside(key)), "ORDER BY has no such column");
      return;
    }
    order.expr = built.query.outputs[*position].expr;
    note_order(scope, order.expr, order.expr.place);
    built.query.order_by.push_back(std::move(order));
  }
  built.query.limit = build_count(scope, child(select, "limitCount"), "LIMIT");
  built.query.offset = build_count(scope, child(select, "limitOffset"), "OFFSET");
}

bool can_have_rows(const Scope& scope, Place place) {
  if (scope.before != nullptr && scope.frame != nullptr) return true;
  scope.findings.fail(place, "a query cannot stand here", "select into a variable first");
  return false;
}

}  // namespace

std::vector<Source::Column> source_columns(const std::vector<ResultColumn>& results) {
  std::vector<Source::Column> columns;
  for (const ResultColumn& result : results)
    columns.push_back({result.name, result.type, result.is_array, result.bits, {}});
  return columns;
}

Statement model_in(const Scope& scope, Place place) { return {.place = place, .text = scope.text}; }

VarId add_row_set(const Scope& scope, std::string_view purpose, std::vector<Statement>& to,
                  Place place) {
  const VarId rows = scope.frame->add_hidden(purpose, Type::Integer, true, place);
  Expr empty = make(ExprOp::ArrayOf, Type::Integer, {}, place);
  empty.is_array = true;
  to.push_back(model_in(scope, place).with(Assign{.target = rows, .value = std::move(empty)}));
  return rows;
}

BuiltQuery query_of_rows(const NamedRows& rows, Place place) {
  BuiltQuery built;
  built.query.rows = rows.rows;
  for (std::uint32_t c = 0; c < rows.columns.size(); ++c) {
    const Source::Column& column = rows.columns[c];
    Expr value{.op = ExprOp::Column,
               .type = column.type,
               .is_array = column.is_array,
               .bits = column.bits,
               .column = {c},
               .place = place};
    built.query.outputs.push_back({.expr = std::move(value)});
    built.columns.push_back({column.name, column.type, column.is_array, column.bits});
  }
  return built;
}

NamedRows rows_of(const Scope& scope, BuiltQuery built, std::string name, Place place) {
  NamedRows rows{.name = std::move(name), .rows = {}, .columns = source_columns(built.columns)};
  if (scope.findings.failed() || !can_have_rows(scope, place)) return rows;
  rows.rows = add_row_set(scope, "rows", *scope.before, place);
  if (!built.computed.empty()) {
    add_side(scope, std::move(built), rows.columns, rows.rows, place);
    return rows;
  }
  scope.before->push_back(
      model_in(scope, place).with(Select{.query = std::move(built.query), .into_rows = rows.rows}));
  return rows;
}

const NamedRows* find_with(const Scope& scope, std::string_view name) {
  for (auto known = scope.with.rbegin(); known != scope.with.rend(); ++known) {
    if (known->name == name) return &*known;
  }
  return nullptr;
}

void add_with(Scope& scope, const Tree& around) {
  const Tree& clause = child(around, "withClause");
  const Place at = scope.place(clause);
  if (!can_have_rows(scope, at)) return;
  std::size_t number = 0;
  for (const Tree& entry : child(clause, "ctes")) {
    if (scope.findings.failed()) return;
    const Tree& part = inside(entry);
    const Place place = scope.place(part);
    const std::string name = text_of(part, "ctename");
    const std::string kind = kind_of(child(part, "ctequery"));
    const Tree& query = inside(child(part, "ctequery"));
    if (flag_of(clause, "recursive") && uses_of(query, name) > 0) {
      scope.findings.fail(place, "WITH RECURSIVE is not modelled", "a loop can be");
      return;
    }
    Scope inner = scope;
    inner.sources.clear();
    inner.is_subquery = true;
    if (const Tree* whole = asked_of_with(scope, around, query, name)) inner.runs_whole = whole;
    NamedRows rows;
    if (kind == "SelectStmt") {
      BuiltQuery built = build_query(inner, query);
      note_unused_failures(scope, built);
      rows = rows_of(inner, std::move(built), name, place);
    } else {
      rows.name = name;
      rows.rows = add_row_set(scope, "rows", *scope.before, place);
      std::vector<ResultColumn> columns;
      std::vector<Statement> made;
      add_write_rows(made, inner, kind, query, rows.rows, columns, model_in(scope, place));
      std::ranges::move(made, std::back_inserter(*scope.before));
      rows.columns = source_columns(columns);
      note_change(scope, query, around, place);
      note_early_references(scope, around, number, place);
    }
    ++number;
    rename(rows.columns, child(part, "aliascolnames"));
    scope.with.push_back(std::move(rows));
  }
}

BuiltQuery build_set_operation(const Scope& given, const Tree& select) {
  Scope scope = given;
  const Tree& left = child(select, "larg");
  const Place place = place_of_select(scope, left);
  if (text_of(select, "op") != "SETOP_UNION") {
    scope.findings.fail(place, "INTERSECT and EXCEPT are not modelled", "EXISTS (…) can say it");
    return {};
  }
  if (!can_have_rows(scope, place)) return {};
  for (const Tree* side : {&left, &child(select, "rarg")}) {
    if (has(*side, "lockingClause"))
      scope.findings.fail(place, "the server refuses FOR UPDATE and FOR SHARE in a UNION");
  }
  BuiltQuery first = build_query(scope, left);
  if (scope.findings.failed()) return {};
  NamedRows rows{.name = "", .rows = {}, .columns = source_columns(first.columns)};
  rows.rows = add_row_set(scope, "union", *scope.before, place);
  add_side(scope, std::move(first), rows.columns, rows.rows, place);
  if (scope.findings.failed()) return {};
  BuiltQuery second = build_query(scope, child(select, "rarg"));
  if (scope.findings.failed()) return {};
  for (std::size_t i = 0; i < second.columns.size() && i < rows.columns.size(); ++i)
    rows.columns[i].bits = std::max(rows.columns[i].bits, second.columns[i].bits);
  add_side(scope, std::move(second), rows.columns, rows.rows, place);
  BuiltQuery built = query_of_rows(rows, place);
  built.query.distinct = !flag_of(select, "all");
  add_order_and_limit(scope, select, rows, built);
  if (has(select, "lockingClause")) scope.findings.fail(place, "a lock on UNION is not modelled");
  return built;
}

BuiltQuery build_values(const Scope& given, const Tree& select) {
  Scope scope = given;
  const Place place = scope.where.place(0);
  if (!can_have_rows(scope, place)) return {};
  NamedRows rows;
  rows.rows = add_row_set(scope, "values", *scope.before, place);
  for (const Tree& row : child(select, "valuesLists")) {
    Append append{.rows = rows.rows};
    for (const Tree& item : child(inside(row), "items"))
      append.values.push_back(build_expr(scope, item));
    const bool is_first = rows.columns.empty();
    for (std::size_t i = 0; i < append.values.size(); ++i) {
      Expr& value = append.values[i];
      if (is_first) {
        rows.columns.push_back(
            {fmt::format("column{}", i + 1), value.type, value.is_array, value.bits, {}});
      } else if (i < rows.columns.size()) {
        Source::Column& column = rows.columns[i];
        value = adapt(scope, std::move(value), column.type, column.is_array, "VALUES", column.bits);
        column.bits = std::max(column.bits, value.bits);
      }
    }
    if (append.values.size() != rows.columns.size())
      scope.findings.fail(place, "the rows of VALUES have different lengths");
    if (scope.findings.failed()) return {};
    scope.before->push_back(model_in(scope, place).with(std::move(append)));
  }
  BuiltQuery built = query_of_rows(rows, place);
  add_order_and_limit(scope, select, rows, built);
  return built;
}

}  // namespace isoscope::sql
