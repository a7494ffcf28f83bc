// INSERT: the rows, and what happens where one is there already.
#include <fmt/format.h>

#include <algorithm>

#include "sql/read/sequence_builder.h"
#include "sql/read/whole_queries.h"
#include "sql/read/write_builder.h"

namespace isoscope::sql {
namespace {

bool is_plain_column(const Expr& expr) { return expr.op == ExprOp::Column; }

// Are they written alike?
bool is_same(const Expr& a, const Expr& b) {
  return a.op == b.op && a.type == b.type && a.is_array == b.is_array && !a.is_volatile &&
         !b.is_volatile && a.number == b.number && a.text == b.text && a.var == b.var &&
         a.source == b.source && a.column == b.column &&
         std::ranges::equal(a.args, b.args, is_same);
}

// x = true is x, and x = false is NOT x, to the server too.
Expr plain_truth(Expr expr) {
  if (expr.op != ExprOp::Equal) return expr;
  for (const std::size_t i : {0U, 1U}) {
    if (expr.args[i].op != ExprOp::Boolean) continue;
    Expr other = expr.args[1 - i];
    if (expr.args[i].number != 0) return other;
    return make(ExprOp::Not, Type::Boolean, {std::move(other)}, expr.place);
  }
  return expr;
}

std::vector<Expr> conjuncts(const std::optional<Expr>& condition) {
  std::vector<Expr> all;
  if (!condition) return all;
  if (condition->op != ExprOp::And) return {plain_truth(*condition)};
  for (const Expr& arg : condition->args) {
    for (Expr& each : conjuncts(arg)) all.push_back(std::move(each));
  }
  return all;
}

// Has the one condition each part of the other? The server knows more, but also this.
bool implies(const std::optional<Expr>& condition, const std::optional<Expr>& implied) {
  const std::vector<Expr> given = conjuncts(condition);
  return std::ranges::all_of(conjuncts(implied), [&](const Expr& part) {
    return std::ranges::any_of(given, [&](const Expr& each) { return is_same(each, part); });
  });
}

// The same parts, in any order.
bool has_parts(const Exclusion& index, const std::vector<Expr>& parts) {
  const auto is_in_index = [&](const Expr& part) {
    return std::ranges::any_of(index.parts,
                               [&](const ExclusionPart& own) { return is_same(own.value, part); });
  };
  const auto is_named = [&](const ExclusionPart& own) {
    return std::ranges::any_of(parts, [&](const Expr& part) { return is_same(own.value, part); });
  };
  return std::ranges::all_of(parts, is_in_index) && std::ranges::all_of(index.parts, is_named);
}

// Of the variable between a result and the column that it goes to: the digits behind the point that
// a numeric has at most. Whole numbers have any width there.
std::uint8_t bits_between(const ResultColumn& from, const Column& to) {
  if (to.type != Type::Numeric) return 64;
  if (from.type == Type::Numeric) return from.bits;
  return from.type == Type::Integer ? 0 : kAnyScale;
}

}  // namespace

// The columns that an INSERT gives values, in their order.
std::vector<ColumnId> WriteBuilder::insert_columns() {
  std::vector<ColumnId> columns;
  if (has(node_, "cols")) {
    for (const Tree& entry : child(node_, "cols")) {
      const Tree& target = inside(entry);
      const auto column = target_column(text_of(target, "name"), scope_.place(target));
      if (column) columns.push_back(*column);
    }
    return columns;
  }
  if (view_) {
    for (const Source::Column& column : view_->columns) {
      const auto number = view_->find(column.name);
      // Behind the last one that can be set, none is given.
      if (!number) break;
      columns.push_back(*number);
    }
    return columns;
  }
  for (const ColumnId i : table().columns.ids()) {
    if (!table().columns[i].is_hidden) columns.push_back(i);
  }
  return columns;
}

// ON CONFLICT (columns and expressions) WHERE …: all keys and indexes of just these, as the server
// infers them. An index of some of the rows is one if WHERE implies its own condition.
void WriteBuilder::infer_arbiters(Scope& scope, const Tree& infer, Insert& insert) {
  const Place place = model_.place;
  std::vector<Expr> parts;
  for (const Tree& entry : child(infer, "indexElems")) {
    const Tree& element = inside(entry);
    if (has(element, "collation") || has(element, "opclass"))
      scope.findings.fail(place, "ON CONFLICT with COLLATE or an operator class is not modelled");
    if (has(element, "expr")) {
      parts.push_back(build_expr(scope, child(element, "expr")));
    } else if (const auto column = expect_column(scope, table(), text_of(element, "name"), place)) {
      parts.push_back(make_column(scope, 0, *column, place));
    }
  }
  std::optional<Expr> where;
  if (has(infer, "whereClause")) where = build_condition(scope, child(infer, "whereClause"));
  if (scope.findings.failed()) return;
  if (std::ranges::all_of(parts, is_plain_column)) {
    for (const Expr& part : parts) insert.conflict_key.push_back(part.column);
  }
  const auto is_key = [&](const std::vector<ColumnId>& key) { return insert.names_key(key); };
  insert.conflict = OnConflict::Nothing;
  const bool has_key = !insert.conflict_key.empty() &&
                       (is_key(table().primary_key) || std::ranges::any_of(table().unique, is_key));
  for (const ExclusionId e : table().exclusions.ids()) {
    const Exclusion& index = table().exclusions[e];
    if (!index.is_unique || !has_parts(index, parts)) continue;
    if (implies(where, index.where)) {
      insert.conflict_indexes.push_back(e);
    } else if (where) {
      scope.findings.fail(
          place,
          fmt::format("whether WHERE of ON CONFLICT implies that of index '{}' is not known",
                      index.name),
          "repeat the condition of the index");
    }
  }
  if (!has_key && insert.conflict_indexes.empty())
    scope.findings.fail(place, fmt::format("ON CONFLICT names no key of '{}'", table().name),
                        "a PRIMARY KEY, a UNIQUE constraint or a unique index that is modelled "
                        "must have just these columns and expressions");
}

void WriteBuilder::build_conflict(Insert& insert) {
  if (!has(node_, "onConflictClause")) return;
  const Tree& clause = child(node_, "onConflictClause");
  if (view_) {
    scope_.findings.fail(scope_.place(clause), "ON CONFLICT of a view is not modelled",
                         "insert into its table");
    return;
  }
  Scope scope = scope_;
  scope.sources = {{.table = id_, .name = name_},
                   {.table = id_, .name = "excluded", .number = {1}}};
  scope.first_source_only = true;
  const Place place = scope.place(clause);
  const Tree& infer = child(clause, "infer");
  if (const std::string constraint = text_of(infer, "conname"); !constraint.empty()) {
    const auto named = table().constraint_names.find(constraint);
    if (named != table().constraint_names.end()) {
      insert.conflict_key = named->second;
    } else if (constraint == table().name + "_pkey") {
      insert.conflict_key = table().primary_key;
    } else {
      scope.findings.fail(place, fmt::format("'{}' has no key '{}'", table().name, constraint),
                          "name the columns, as in ON CONFLICT (a, b)");
    }
  }
  if (has(infer, "indexElems")) infer_arbiters(scope, infer, insert);
  insert.conflict = OnConflict::Nothing;
  if (text_of(clause, "action") != "ONCONFLICT_UPDATE") return;
  insert.conflict = OnConflict::Update;
  const std::size_t mark = scope.before != nullptr ? scope.before->size() : 0;
  insert.conflict_sets = build_sets(scope, child(clause, "targetList"),
                                    [&](const Tree& value) { return build_expr(scope, value); });
  add_generated(table(), insert.conflict_sets, false);
  if (has(clause, "whereClause"))
    insert.conflict_where = build_condition(scope, child(clause, "whereClause"));
  // Without a conflict nothing of it is computed.
  if (scope.before != nullptr)
    mark_calls_as_rough(
        {scope.before->begin() + static_cast<std::ptrdiff_t>(mark), scope.before->end()});
}

// The other columns have their defaults.
void WriteBuilder::leave_out_others(const ById<ColumnId, bool>& is_given) {
  for (const ColumnId c : is_given.ids()) {
    if (!is_given[c]) scope_.catalog.sequence_uses.leave_out(id_, c);
  }
}

// Is the value nextval of the sequence that fills the column anyway, or that none fills otherwise?
// Then the column is left to it.
bool WriteBuilder::fills(const Tree& value, ColumnId column) {
  if (!leaves_draws_ || !is_nextval(value)) return false;
  Column& filled = scope_.catalog.tables[id_.index].columns[column];
  const std::string sequence = sequence_in(scope_.catalog, child(value, "FuncCall"));
  if (sequence.empty() || (!filled.sequence.empty() && filled.sequence != sequence)) return false;
  filled.is_fresh = true;
  scope_.catalog.sequence_uses.draw(id_, column, sequence, model_.place);
  return true;
}

// Decides whether values of sequences are drawn by the INSERT itself: not if some are parts of
// expressions, which are drawn before it. Notes where the server may draw in another order: it
// computes a single row by the order of the table's columns, defaults among them.
void WriteBuilder::order_draws(const Tree& rows, const std::vector<ColumnId>& columns) {
  std::set<std::string> names;
  const std::size_t num_calls = find_sequences(scope_.catalog, rows, names);
  std::size_t num_whole = 0;
  ById<ColumnId, bool> is_given(table().columns.size());
  for (const Tree& row : rows) {
    const Tree& values = child(inside(row), "items");
    num_whole += static_cast<std::size_t>(std::ranges::count_if(values, is_nextval));
    for (std::size_t i = 0; i < values.size() && i < columns.size(); ++i)
      is_given[columns[i]] = is_given[columns[i]] || !is_default(values[i]);
  }
  leaves_draws_ = num_calls == num_whole;
  bool may_differ = num_calls > rows.size() && !std::ranges::is_sorted(columns);
  for (const ColumnId c : is_given.ids()) {
    const std::string& sequence = table().columns[c].sequence;
    const bool is_named = names.contains(sequence) || names.contains("*");
    may_differ = may_differ || (!leaves_draws_ && !is_given[c] && !sequence.empty() && is_named);
  }
  if (may_differ)
    scope_.findings.note(model_.place,
                         "the server may draw the values of this INSERT in another order",
                         NoteKind::Free);
}

namespace {

// r.* of a variable that is a row, as its fields.
Tree with_fields(const Scope& scope, const Tree& values) {
  Tree all = Tree::array();
  for (const Tree& value : values) {
    const NamedVariable* record = nullptr;
    if (is_star(value) && scope.frame != nullptr)
      record = scope.frame->find(string_node(child(inside(value), "fields")[0]));
    if (record == nullptr || !record->is_row) {
      all.push_back(value);
      continue;
    }
    for (const FieldVariable& field : record->fields) {
      if (field.is_hidden) continue;
      Tree one = value;
      one["ColumnRef"]["fields"][1] = Tree{{"String", Tree{{"sval", field.name}}}};
      all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace

// A value for a column that is GENERATED ALWAYS, unless it says OVERRIDING.
void WriteBuilder::refuse_always(ColumnId column) {
  const std::string override = text_of(node_, "override");
  if (!table().columns[column].is_always || override == "OVERRIDING_SYSTEM_VALUE" ||
      override == "OVERRIDING_USER_VALUE")
    return;
  scope_.findings.fail(model_.place,
                       fmt::format("'{}' of '{}' is GENERATED ALWAYS, and the server refuses a "
                                   "value for it (428C9)",
                                   table().columns[column].name, table().name),
                       "leave the column out, or write OVERRIDING SYSTEM VALUE");
}

// The row's values: one Insert, without what follows VALUES.
Insert WriteBuilder::insert_row(Scope& scope, const Tree& given,
                                const std::vector<ColumnId>& columns, bool names_columns) {
  const Tree values = with_fields(scope, given);
  Insert insert;
  insert.table = id_;
  if (values.size() > columns.size() || (names_columns && values.size() < columns.size())) {
    scope.findings.fail(model_.place, fmt::format("{} values for {} columns of '{}'", values.size(),
                                                  columns.size(), table().name));
    return insert;
  }
  ById<ColumnId, bool> is_given(table().columns.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_default(values[i])) continue;
    is_given[columns[i]] = true;
    refuse_always(columns[i]);
    if (fills(values[i], columns[i])) continue;
    Expr value = build_expr(scope, values[i]);
    insert.sets.push_back({columns[i], value_for(scope, table(), columns[i], std::move(value))});
  }
  leave_out_others(is_given);
  return insert;
}

// The query without what sequences give for each row: these columns are left to them.
Tree WriteBuilder::without_fresh(const Tree& select, std::vector<ColumnId>& columns,
                                 ById<ColumnId, bool>& is_given) {
  const Tree& targets = child(select, "targetList");
  Tree other = select;
  if (has(select, "distinctClause") || has(select, "groupClause") || !targets.is_array() ||
      targets.size() > columns.size() || contains_key(targets, "A_Star") ||
      contains_key(child(select, "sortClause"), "A_Const"))
    return other;
  // All that is drawn is a column, and there are others.
  std::set<std::string> names;
  const auto num_whole = static_cast<std::size_t>(std::ranges::count_if(
      targets, [](const Tree& target) { return is_nextval(child(inside(target), "val")); }));
  if (num_whole == targets.size() || num_whole != find_sequences(scope_.catalog, select, names))
    return other;
  Tree kept = Tree::array();
  std::vector<ColumnId> kept_columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i < targets.size() && fills(child(inside(targets[i]), "val"), columns[i])) {
      is_given[columns[i]] = true;
      continue;
    }
    if (i < targets.size()) kept.push_back(targets[i]);
    kept_columns.push_back(columns[i]);
  }
  columns = std::move(kept_columns);
  other["targetList"] = std::move(kept);
  return other;
}

// The server looks at foreign keys when all rows are there, so that one may refer to a later one.
void WriteBuilder::note_rows_of_a_tree() {
  const bool is_tree = std::ranges::any_of(
      table().foreign_keys, [this](const ForeignKey& key) { return key.target == id_; });
  if (is_tree)
    scope_.findings.note(model_.place,
                         fmt::format("rows of '{}' that refer to rows of the same INSERT are "
                                     "looked at too early, one by one",
                                     table().name),
                         NoteKind::Gap);
}

// INSERT … SELECT: a loop over the rows of the query.
void WriteBuilder::insert_select(const Tree& given, std::vector<ColumnId> columns) {
  Insert insert;
  insert.table = id_;
  build_conflict(insert);
  for (std::size_t i = 0; i < child(given, "targetList").size() && i < columns.size(); ++i)
    refuse_always(columns[i]);
  ById<ColumnId, bool> is_given(table().columns.size());
  const Tree select = without_fresh(given, columns, is_given);
  BuiltQuery built = build_query(scope_, select);
  if (scope_.findings.failed()) return;
  if (built.columns.size() > columns.size()) {
    scope_.findings.fail(model_.place, fmt::format("{} values for {} columns", built.columns.size(),
                                                   columns.size()));
    return;
  }
  std::vector<VarId> targets;
  for (std::size_t i = 0; i < built.columns.size(); ++i) {
    const Column& column = table().columns[columns[i]];
    targets.push_back(scope_.frame->add_hidden("inserted", column.type, false, model_.place,
                                               bits_between(built.columns[i], column)));
    // The variable has the digits of the query, and the column shows its own.
    insert.sets.push_back(
        {columns[i],
         cut_to(scope_,
                round_to(make_variable(*scope_.frame, targets.back(), model_.place), column.width),
                column.width)});
    is_given[columns[i]] = true;
  }
  leave_out_others(is_given);
  if (!names_one_row(scope_, built.query)) note_rows_of_a_tree();
  choose_rows(true);
  Statement loop = make_loop(scope_, std::move(built), targets, model_);
  put(loop.as<ForQuery>().body, std::move(insert));
  to_.push_back(std::move(loop));
}

void WriteBuilder::insert_rows(const Tree& rows, bool has_values,
                               const std::vector<ColumnId>& columns) {
  choose_rows(rows.size() > 1);
  if (rows.size() > 1) note_rows_of_a_tree();
  order_draws(rows, columns);
  Scope scope = scope_;
  const auto num_before = [&] { return scope.before != nullptr ? scope.before->size() : 0; };
  for (const Tree& row : rows) {
    const std::size_t mark = num_before();
    Insert insert =
        insert_row(scope, child(inside(row), "items"), columns, has(node_, "cols") && has_values);
    // When the server computes it, the rows before it are there, and functions see them.
    if (&row != &rows.front() && num_before() > mark)
      mark_calls_as_rough(std::span(*scope.before).subspan(mark));
    build_conflict(insert);
    if (scope.findings.failed()) return;
    put(to_, std::move(insert));
  }
}

void WriteBuilder::insert() {
  if (text_of(node_, "override") == "OVERRIDING_USER_VALUE")
    scope_.findings.note(model_.place, "OVERRIDING USER VALUE is ignored", NoteKind::Gap);
  Scope returned = scope_;
  returned.sources = {target()};
  const std::size_t mark = returned.before != nullptr ? returned.before->size() : 0;
  build_returning(returned);
  // DO NOTHING may return no row.
  if (has(node_, "onConflictClause") && returned.before != nullptr)
    mark_calls_as_rough(
        {returned.before->begin() + static_cast<std::ptrdiff_t>(mark), returned.before->end()});
  const std::vector<ColumnId> columns = insert_columns();
  const Tree& select = child(child(node_, "selectStmt"), "SelectStmt");
  const bool is_values = has(select, "valuesLists") && !has(select, "sortClause") &&
                         !has(select, "limitCount") && !has(select, "limitOffset");
  if (scope_.findings.failed()) return;
  if (!select.is_null() && !is_values) {
    insert_select(select, columns);
    return;
  }
  static const Tree kDefaults = Tree::array({Tree{{"List", Tree{{"items", Tree::array()}}}}});
  insert_rows(select.is_null() ? kDefaults : child(select, "valuesLists"), !select.is_null(),
              columns);
}

}  // namespace isoscope::sql
