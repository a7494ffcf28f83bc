#include "sql/read/write_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/read/whole_queries.h"

namespace isoscope::sql {

std::optional<ColumnId> expect_column(const Scope& scope, const Table& table,
                                      const std::string& name, Place place) {
  const auto column = find_column(table, name);
  if (!column)
    scope.findings.fail(place, fmt::format("'{}' has no column '{}'", table.name, name),
                        suggest_column(table, name));
  return column;
}

Expr value_for(Scope& scope, const Table& table, ColumnId column, Expr value) {
  return assigned(scope, std::move(value), table.columns[column].type, false,
                  fmt::format("column '{}'", table.columns[column].name),
                  table.columns[column].width);
}

Expr with_columns(Expr expr, const ColumnValue& value) {
  if (expr.op == ExprOp::Column && expr.source == SourceId{0}) {
    if (auto other = value(expr.column)) return *std::move(other);
    return expr;
  }
  for (Expr& arg : expr.args) arg = with_columns(std::move(arg), value);
  return expr;
}

void add_generated(const Table& table, std::vector<SetColumn>& sets, bool is_insert) {
  const std::vector<SetColumn> given = sets;
  for (const ColumnId c : table.columns.ids()) {
    const Column& column = table.columns[c];
    if (!column.generated) continue;
    bool is_changed = is_insert;
    Expr value = with_columns(*column.generated, [&](ColumnId of) -> std::optional<Expr> {
      for (const SetColumn& set : given) {
        if (set.column != of) continue;
        is_changed = true;
        return set.value;
      }
      if (!is_insert) return std::nullopt;
      const Column& other = table.columns[of];
      return other.default_value.value_or(make_null(other.type, other.place));
    });
    if (is_changed) sets.push_back({c, std::move(value)});
  }
}

WriteBuilder::WriteBuilder(Body& to, const Scope& given, const std::string& kind, const Tree& node,
                           const Statement& model)
    : to_(to), scope_(given), kind_(kind), node_(node), model_(model) {
  scope_.sources.clear();
  scope_.first_source_only = false;
  scope_.aggregates = nullptr;
  op_ = kind == "InsertStmt"   ? WriteOp::Insert
        : kind == "UpdateStmt" ? WriteOp::Update
                               : WriteOp::Delete;
}

void WriteBuilder::into_variables(std::vector<std::size_t> named, bool strict) {
  named_ = std::move(named);
  strict_ = strict;
}

bool WriteBuilder::find_target() {
  if (has(node_, "withClause")) add_with(scope_, node_);
  const Tree& relation = child(node_, "relation");
  const Place place = scope_.place(relation);
  const std::string called = text_of(relation, "relname");
  std::optional<TableId> id;
  if (scope_.catalog.find_view(called) != nullptr) {
    view_ = view_target(scope_, called, place);
    if (view_) id = view_->table;
  } else {
    id = scope_.catalog.expect_table(called, place, scope_.findings);
  }
  if (!id || scope_.findings.failed()) return false;
  id_ = *id;
  if (table().place.line == 0) {
    scope_.findings.fail(
        place,
        fmt::format("'{}' is a catalog of the system: changes of it are not modelled", called));
    return false;
  }
  const std::string alias = text_of(child(relation, "alias"), "aliasname");
  name_ = !alias.empty() ? alias : view_ ? called : table().name;
  refuse_triggers();
  return !scope_.findings.failed();
}

Source WriteBuilder::target() const {
  Source source{.table = id_, .name = name_};
  if (view_) source.columns = view_->columns;
  return source;
}

std::optional<ColumnId> WriteBuilder::target_column(const std::string& name, Place place) const {
  if (!view_) return expect_column(scope_, table(), name, place);
  const auto column = view_->find(name);
  if (!column)
    scope_.findings.fail(place, fmt::format("the view has no column '{}' that can be set", name));
  return column;
}

void WriteBuilder::run() {
  if (!find_target()) return;
  if (op_ == WriteOp::Insert) {
    insert();
  } else {
    modify();
  }
  if (!scope_.findings.failed()) finish();
}

void WriteBuilder::build_returning(const Scope& given) {
  const Tree& list = child(node_, "returningList");
  if (!list.is_array() || list.empty()) {
    if (!named_.empty())
      scope_.findings.fail(model_.place, "INTO without RETURNING", "add RETURNING and the columns");
    return;
  }
  Scope scope = given;
  for (NamedExpr& column : target_columns(scope, list)) {
    columns_.push_back({column.name, column.expr.type, column.expr.is_array, column.expr.bits});
    returning_.push_back(std::move(column.expr));
  }
}

void WriteBuilder::choose_rows(bool is_composite) {
  const Function& function = scope_.frame->function();
  // Rows that are inserted one by one set FOUND themselves.
  const bool counts = function.row_count || (function.found && op_ != WriteOp::Insert);
  if (wanted_rows_ && !has_triggers(false)) {
    rows_ = wanted_rows_;
  } else if (has_triggers(false) || (is_composite && (counts || !named_.empty()))) {
    rows_ = add_row_set(scope_, "returned", to_, model_.place);
  }
  if (has_triggers(false)) add_trigger_columns();
}

// A row that an UPDATE moves to another partition is a new one to the server: who waited for the
// old one gets 40001 at READ COMMITTED too, and other triggers fire.
void WriteBuilder::note_move(const std::vector<SetColumn>& sets) {
  for (const SetColumn& set : sets) {
    if (std::ranges::find(table().partition_key, set.column) == table().partition_key.end())
      continue;
    const std::string& column = table().columns[set.column].name;
    scope_.findings.note(
        model_.place,
        fmt::format("a change of '{}' may move a row of '{}' to another partition, "
                    "which fails statements that wait for it (40001): not modelled",
                    column, table().name),
        NoteKind::Gap, id_, std::vector{set.column});
  }
}

void WriteBuilder::put(Body& to, StatementKind kind) {
  Statement statement = model_.with(std::move(kind));
  Write& write = *statement.write();
  if (rows_) {
    write.returning = returning_;
    write.returning.insert(write.returning.end(), trigger_columns_.begin(), trigger_columns_.end());
    // Every row counts, also where none of its columns is used.
    if (write.returning.empty()) write.returning.push_back(make_integer(1, statement.place));
    write.into_rows = rows_;
  } else if (!named_.empty()) {
    write.strict = strict_;
    write.returning = returning_;
    write.targets = bind_targets(scope_, columns_, named_, statement.place);
    for (std::size_t i = 0; i < write.targets.size() && i < write.returning.size(); ++i) {
      const Variable& variable = scope_.frame->variable(write.targets[i]);
      write.returning[i] =
          assigned(scope_, std::move(write.returning[i]), variable.type, variable.is_array,
                   fmt::format("'{}'", variable.name), variable.width);
    }
  }
  if (auto* insert = statement.find<Insert>()) {
    note_move(insert->conflict_sets);
    if (has_triggers(true)) return put_before_insert(to, std::move(*insert));
    add_generated(table(), insert->sets, true);
  } else if (auto* update = statement.find<Update>()) {
    if (has_triggers(true)) apply_before_update(*update);
    add_generated(table(), update->sets, false);
    note_move(update->sets);
  } else if (runs_before_delete()) {
    return put_before_delete(to, std::move(statement.as<Delete>()));
  }
  to.push_back(std::move(statement));
}

void WriteBuilder::finish() {
  if (rows_ && has_triggers(false)) run_after_triggers();
  run_statement_triggers();
  if (!rows_ || scope_.findings.failed()) return;
  const NamedRows rows{.name = "", .rows = *rows_, .columns = source_columns(columns_)};
  if (wanted_rows_ && *wanted_rows_ != *rows_) {
    // Only what RETURNING asks for.
    to_.push_back(model_.with(
        Select{.query = query_of_rows(rows, model_.place).query, .into_rows = wanted_rows_}));
  }
  if (!named_.empty()) finish_targets();
  const Function& function = scope_.frame->function();
  const Place place = model_.place;
  Expr count = make(ExprOp::Cardinality, Type::Integer,
                    {make_variable(*scope_.frame, *rows_, place)}, place);
  const auto assign = [&](VarId var, Expr value) {
    to_.push_back({.place = place, .kind = Assign{.target = var, .value = std::move(value)}});
  };
  if (function.found)
    assign(*function.found,
           make(ExprOp::Less, Type::Boolean, {make_integer(0, place), count}, place));
  if (function.row_count) assign(*function.row_count, std::move(count));
}

// RETURNING INTO takes one row, or NULLs if there is none.
void WriteBuilder::finish_targets() {
  const Place place = model_.place;
  const NamedRows rows{.name = "", .rows = *rows_, .columns = source_columns(columns_)};
  If test;
  Expr count = make(ExprOp::Cardinality, Type::Integer,
                    {make_variable(*scope_.frame, *rows_, place)}, place);
  test.condition =
      make(ExprOp::Less, Type::Boolean, {make_integer(1, place), std::move(count)}, place);
  test.body.push_back({.place = place,
                       .text = "a query returned more than one row",
                       .kind = Raise{.sqlstate = "P0003"}});
  to_.push_back({.place = place, .text = model_.text, .kind = std::move(test)});
  const auto targets = bind_targets(scope_, columns_, named_, place);
  if (scope_.findings.failed()) return;
  add_select(to_, scope_, query_of_rows(rows, place), targets, Select{.strict = strict_}, model_);
}

// SET (a, b) = ROW (1, 2) or (SELECT c, d …): the value of one of them.
std::optional<Expr> WriteBuilder::part_of_row(Scope& scope, const Tree& reference,
                                              const Value& value, Place place) {
  const auto number = static_cast<std::size_t>(number_of(reference, "colno") - 1);
  const Tree& source = child(reference, "source");
  const Tree& row = child(child(source, "RowExpr"), "args");
  if (number < row.size()) return value(row[number]);
  const Tree& select = child(child(child(source, "SubLink"), "subselect"), "SelectStmt");
  if (select.is_null() || scope.before == nullptr) return std::nullopt;
  if (number == 0) {
    Scope inner = scope;
    inner.outer = &scope;
    inner.is_subquery = true;
    BuiltQuery built = build_query(inner, select);
    if (scope.findings.failed()) return std::nullopt;
    row_parts_.clear();
    for (const ResultColumn& column : built.columns)
      row_parts_.push_back(
          scope.frame->add_hidden("subquery", column.type, column.is_array, place, column.bits));
    add_select(*scope.before, scope, std::move(built), row_parts_,
               Select{.in_expression = true, .is_scalar = true}, model_);
  }
  if (number >= row_parts_.size()) return std::nullopt;
  return make_variable(*scope.frame, row_parts_[number], place);
}

std::vector<SetColumn> WriteBuilder::build_sets(Scope& scope, const Tree& targets,
                                                const Value& value) {
  std::vector<SetColumn> sets;
  for (const Tree& entry : targets) {
    const Tree& target = inside(entry);
    const Place place = scope.place(target);
    const auto column = target_column(text_of(target, "name"), place);
    if (!column) continue;
    if (has(target, "indirection"))
      scope.findings.fail(place, "a part of a column cannot be set here", "set the whole column");
    const Tree& given = child(target, "val");
    if (is_default(given)) {
      const Column& declared = table().columns[*column];
      if (declared.is_fresh) scope.findings.fail(place, "SET … = DEFAULT of a fresh column");
      sets.push_back({*column, declared.default_value.value_or(make_null(declared.type, place))});
      continue;
    }
    if (table().columns[*column].is_always)
      scope.findings.fail(place,
                          fmt::format("'{}' of '{}' is GENERATED ALWAYS, and the server lets SET "
                                      "give it DEFAULT only (428C9)",
                                      table().columns[*column].name, table().name));
    std::optional<Expr> set = kind_of(given) == "MultiAssignRef"
                                  ? part_of_row(scope, inside(given), value, place)
                                  : value(given);
    if (!set) {
      scope.findings.fail(place, "this SET of several columns is not modelled",
                          "set the columns one by one");
      continue;
    }
    sets.push_back({*column, value_for(scope, table(), *column, *std::move(set))});
  }
  return sets;
}

void WriteBuilder::modify() {
  const std::size_t mark = scope_.before != nullptr ? scope_.before->size() : 0;
  const std::size_t made = to_.size();
  if (modify_natively() || scope_.findings.failed()) return;
  scope_.before->resize(mark);
  to_.resize(made);
  columns_.clear();
  returning_.clear();
  trigger_columns_.clear();
  rows_.reset();
  modify_for_each_row();
}

StatementKind WriteBuilder::searched_write(std::optional<Expr> where, std::vector<SetColumn> sets,
                                           bool once) const {
  const auto with_rows = [&](auto write) {
    write.table = id_;
    write.where = std::move(where);
    write.once = once;
    return write;
  };
  if (op_ == WriteOp::Delete) return with_rows(Delete());
  Update update = with_rows(Update());
  update.sets = std::move(sets);
  return update;
}

// False if a subquery uses columns of the table.
bool WriteBuilder::modify_natively() {
  const Tree& from = child(node_, op_ == WriteOp::Update ? "fromClause" : "usingClause");
  Body* const before = scope_.before;
  const std::size_t mark = before != nullptr ? before->size() : 0;
  bool is_used_inside = false;
  Scope scope = scope_;
  scope.runs_whole = asked_by_write(scope_, node_);
  scope.is_used_inside = before != nullptr ? &is_used_inside : nullptr;
  scope.sources = {target()};
  std::optional<RelationLoops> loops;
  if (!from.empty()) loops.emplace(scope, model_.place);
  for (const Tree& entry : from) loops->add_entry(entry);
  if (loops) loops->calls_may_not_run();
  if (scope.findings.failed()) return true;
  std::optional<Expr> rows_where;
  if (view_) rows_where = view_->where;
  std::vector<SetColumn> sets;
  std::vector<Expr> conditions;
  if (has(node_, "whereClause")) {
    Expr where = build_filter(scope, child(node_, "whereClause"));
    if (where.op == ExprOp::And) {
      conditions = std::move(where.args);
    } else {
      conditions.push_back(std::move(where));
    }
  }
  const std::vector<Expr> all = conditions;
  for (Expr& condition : conditions) {
    if (loops && !uses_column(condition)) {
      loops->filter(std::move(condition));
    } else {
      rows_where = both(std::move(rows_where), std::move(condition));
    }
  }
  if (op_ == WriteOp::Update)
    sets = build_sets(scope, child(node_, "targetList"),
                      [&](const Tree& value) { return build_expr(scope, value); });
  build_returning(scope);
  if (loops && !scope.findings.failed()) {
    note_partners(scope, all, sets);
    const auto bound = loops->bound_variables();
    is_used_inside =
        is_used_inside ||
        mentions_variable({before->begin() + static_cast<std::ptrdiff_t>(mark), before->end()},
                          {bound.begin(), bound.end()});
  }
  if (is_used_inside || scope.findings.failed()) return !is_used_inside;
  choose_rows(loops.has_value() || runs_before_delete());
  StatementKind write = searched_write(std::move(rows_where), std::move(sets), loops.has_value());
  if (!loops) {
    put(to_, std::move(write));
    return true;
  }
  Body body;
  put(body, std::move(write));
  body = loops->around(std::move(body));
  std::ranges::move(body, std::back_inserter(to_));
  return true;
}

void WriteBuilder::modify_for_each_row() {
  if (view_) {
    scope_.findings.fail(model_.place, "a subquery that uses columns of a view which is changed",
                         "change its table");
    return;
  }
  const Tree& from = child(node_, op_ == WriteOp::Update ? "fromClause" : "usingClause");
  Scope scope = scope_;
  RelationLoops loops(scope, model_.place);
  const std::uint32_t target = loops.add_table(id_, name_);
  for (const Tree& entry : from) loops.add_entry(entry);
  loops.calls_may_not_run();
  if (scope.findings.failed()) return;
  if (has(node_, "whereClause")) loops.add_where(child(node_, "whereClause"));
  std::optional<Expr> where;
  std::vector<SetColumn> sets;
  if (op_ == WriteOp::Update)
    sets = build_sets(scope, child(node_, "targetList"),
                      [&](const Tree& value) { return loops.value(value); });
  build_returning(scope);
  if (scope.findings.failed()) return;
  // The row is looked for by its key, and the conditions are asked again: another transaction
  // may have changed it meanwhile. What subqueries gave stays.
  for (const ColumnId column : table().primary_key) {
    Expr key = make_column(scope, target, column, model_.place);
    Expr same = loops.as_columns(key, target);
    where = both(std::move(where), make(ExprOp::Equal, Type::Boolean,
                                        {std::move(same), std::move(key)}, model_.place));
  }
  for (const Expr& condition : loops.conditions())
    where = both(std::move(where), loops.as_columns(condition, target));
  for (SetColumn& set : sets) set.value = loops.as_columns(std::move(set.value), target);
  for (Expr& expr : returning_) expr = loops.as_columns(std::move(expr), target);
  scope.findings.note(model_.place,
                      "subqueries are not asked again for a row that was changed meanwhile",
                      NoteKind::Gap);
  choose_rows(true);
  Body body;
  put(body, searched_write(std::move(where), std::move(sets), true));
  body = loops.around(std::move(body));
  std::ranges::move(body, std::back_inserter(to_));
}

void add_write(std::vector<Statement>& to, const Scope& scope, const std::string& kind,
               const Tree& node, const std::vector<std::size_t>& named, bool strict,
               const Statement& model) {
  WriteBuilder builder(to, scope, kind, node, model);
  builder.into_variables(named, strict);
  builder.run();
}

void add_write_rows(std::vector<Statement>& to, const Scope& scope, const std::string& kind,
                    const Tree& node, VarId rows, std::vector<ResultColumn>& columns,
                    const Statement& model) {
  WriteBuilder builder(to, scope, kind, node, model);
  builder.into_rows(rows);
  builder.run();
  columns = builder.columns();
}

}  // namespace isoscope::sql
