// Constraints, defaults and generated columns: collected while tables are read, and resolved when
// all tables that they may name are there.
#include <fmt/format.h>

#include <algorithm>

#include "sql/read/expr_builder.h"
#include "sql/read/schema_builder.h"

namespace isoscope::sql {
namespace {

// ON DELETE or ON UPDATE, by the letter that the parser has for it.
ReferenceAction action_named(std::string_view letter) {
  if (letter == "c") return ReferenceAction::Cascade;
  if (letter == "n") return ReferenceAction::SetNull;
  if (letter == "d") return ReferenceAction::SetDefault;
  return ReferenceAction::Refuse;
}

}  // namespace

void add_names(const Tree& tree, std::vector<std::string>& names) {
  if (!tree.is_structured()) return;
  if (const std::string name = string_node(tree); !name.empty()) names.push_back(name);
  if (has(tree, "IndexElem")) names.push_back(text_of(inside(tree), "name"));
  for (const Tree& part : tree) add_names(part, names);
}

// Those that the tree mentions; nothing if it mentions none, or whole rows by the name of their
// table: it may look at any.
std::optional<std::vector<ColumnId>> SchemaBuilder::columns_in(TableId id, const Tree& rule) const {
  const Table& table = catalog_.table(id);
  std::vector<std::string> names;
  add_names(rule, names);
  std::vector<ColumnId> columns;
  for (const std::string& name : names) {
    if (const auto column = find_column(table, name)) columns.push_back(*column);
  }
  const bool has_rows = std::ranges::find(names, table.name) != names.end();
  return columns.empty() || has_rows ? std::nullopt : std::optional(std::move(columns));
}

void SchemaBuilder::ignore_rule(TableId id, Place at, std::string what, const Tree& rule) {
  findings_.note(at, std::move(what), NoteKind::Gap, id, columns_in(id, rule));
}

std::vector<ColumnId> SchemaBuilder::columns_of(TableId id, const Tree& names, Place at) {
  std::vector<ColumnId> columns;
  const Table& table = catalog_.table(id);
  for (const Tree& entry : names) {
    const std::string name = string_node(entry);
    if (const auto column = find_column(table, name)) {
      columns.push_back(*column);
    } else {
      findings_.fail(at, fmt::format("'{}' has no column '{}'", table.name, name),
                     suggest_column(table, name));
    }
  }
  return columns;
}

void SchemaBuilder::resolve_foreign_key(const Pending& pending, Place at) {
  const Tree& constraint = *pending.constraint;
  const Tree& relation = child(constraint, "pktable");
  const std::string referred = text_of(relation, "relname");
  const auto target = catalog_.find_table(referred);
  if (!target) {
    findings_.note(
        place(relation),
        fmt::format("a foreign key to '{}', which is not in the file, is ignored", referred),
        NoteKind::Gap);
    return;
  }
  ForeignKey key{.columns = {}, .target = *target, .target_columns = {}};
  key.columns = pending.column.empty()
                    ? columns_of(pending.table, child(constraint, "fk_attrs"), at)
                    : std::vector{*find_column(catalog_.table(pending.table), pending.column)};
  key.target_columns = has(constraint, "pk_attrs")
                           ? columns_of(*target, child(constraint, "pk_attrs"), at)
                           : catalog_.table(*target).primary_key;
  if (findings_.failed()) return;
  if (key.columns.size() != key.target_columns.size()) {
    findings_.fail(at,
                   fmt::format("this foreign key has {} columns, but '{}' {}", key.columns.size(),
                               catalog_.table(*target).name, key.target_columns.size()));
    return;
  }
  key.on_delete = action_named(text_of(constraint, "fk_del_action"));
  key.on_update = action_named(text_of(constraint, "fk_upd_action"));
  key.is_valid = !flag_of(constraint, "skip_validation");
  key.restricts_update = text_of(constraint, "fk_upd_action") == "r";
  key.set_columns = columns_of(pending.table, child(constraint, "fk_del_set_cols"), at);
  key.place = at;
  if (text_of(constraint, "fk_matchtype") == "f" && key.columns.size() > 1)
    ignore_rule(pending.table, at, "MATCH FULL is ignored", child(constraint, "fk_attrs"));
  key.name = text_of(constraint, "conname");
  if (key.name.empty()) {
    const Table& own = catalog_.table(pending.table);
    key.name = own.name + "_" + own.columns[key.columns.front()].name + "_fkey";
  }
  catalog_.tables[pending.table.index].foreign_keys.push_back(std::move(key));
}

void SchemaBuilder::remember(TableId id, const Tree& constraint, std::string_view suffix,
                             const std::vector<ColumnId>& key) {
  Table& table = catalog_.tables[id.index];
  std::string name = text_of(constraint, "conname");
  if (name.empty()) {
    name = table.name;
    for (const ColumnId column : key) {
      if (suffix == "pkey") break;
      name += "_" + table.columns[column].name;
    }
    name += fmt::format("_{}", suffix);
    const std::string first = name;
    for (int number = 1; table.constraint_names.contains(name); ++number)
      name = fmt::format("{}{}", first, number);
  }
  table.constraint_names[name] = key;
}

void SchemaBuilder::keep_whole(Column& column) {
  if (column.type != Type::Numeric) return;
  column.type = Type::Integer;
  column.width = {};
  findings_.note(column.place, "numeric values of a sequence are treated as whole numbers",
                 NoteKind::Gap);
}

std::optional<Expr> SchemaBuilder::expression(const Tree& node, TableId table, Type type,
                                              bool has_columns, std::string_view what, Place at,
                                              const Width& width) {
  const auto rule_of = what == "CHECK" ? std::optional(table) : std::nullopt;
  const auto columns = rule_of ? columns_in(table, node) : std::nullopt;
  Findings own;
  Scope scope{.catalog = catalog_, .findings = own, .where = where_};
  if (has_columns) scope.sources = {{.table = table, .name = catalog_.table(table).name}};
  Expr expr = assigned(scope, build_expr(scope, node), type, false, what, width);
  for (const Note& note : own.notes())
    findings_.note(note.where, note.what, note.kind,
                   note.kind == NoteKind::Remark ? std::nullopt : rule_of, columns);
  if (!own.failed()) return expr;
  findings_.note(own.error().where.line > 0 ? own.error().where : at,
                 fmt::format("{} is not modelled: {}", what, own.error().what), NoteKind::Gap,
                 rule_of, columns);
  return std::nullopt;
}

void SchemaBuilder::set_default(TableId id, ColumnId column, const Tree& expr, Place at) {
  const Column& declared = catalog_.table(id).columns[column];
  const std::string what = fmt::format("the default of '{}'", declared.name);
  auto value = expression(expr, id, declared.type, false, what, at, declared.width);
  if (!value) {
    value = make(ExprOp::Opaque, declared.type, {}, at);
    value->text = "default";
    value->is_volatile = true;
  }
  catalog_.tables[id.index].columns[column].default_value = std::move(value);
}

void SchemaBuilder::resolve(const Pending& pending) {
  const Tree& constraint = *pending.constraint;
  const std::string kind = text_of(constraint, "contype");
  const Place at = place(constraint);
  Table& table = catalog_.tables[pending.table.index];
  // At a column, DEFERRABLE follows its constraint as one of its own. EXCLUDE says so itself.
  const bool is_deferrable = flag_of(constraint, "deferrable") && kind != "CONSTR_EXCLUSION";
  if (is_deferrable || kind == "CONSTR_ATTR_DEFERRABLE")
    findings_.note(at, "deferrable constraints are checked at once", NoteKind::Gap);
  const auto own = [&]() {
    if (!pending.column.empty()) return std::vector{*find_column(table, pending.column)};
    return columns_of(pending.table, child(constraint, "keys"), at);
  };
  if (kind == "CONSTR_UNIQUE") {
    if (has(constraint, "indexname"))
      return ignore_rule(pending.table, at, "UNIQUE USING INDEX is ignored", no_tree());
    if (flag_of(constraint, "nulls_not_distinct"))
      return add_key_with_nulls(pending.table, own(), text_of(constraint, "conname"), at);
    table.unique.push_back(own());
    remember(pending.table, constraint, "key", table.unique.back());
  } else if (kind == "CONSTR_CHECK") {
    auto check =
        expression(child(constraint, "raw_expr"), pending.table, Type::Boolean, true, "CHECK", at);
    std::string name = text_of(constraint, "conname");
    if (name.empty()) {
      name = table.name + (pending.column.empty() ? "" : "_" + pending.column) + "_check";
    }
    if (check) {
      table.checks.push_back(*std::move(check));
      table.check_names.push_back(name);
    }
  } else if (kind == "CONSTR_DEFAULT") {
    set_default(pending.table, *find_column(table, pending.column), child(constraint, "raw_expr"),
                at);
  } else if (kind == "CONSTR_GENERATED") {
    const ColumnId column = *find_column(table, pending.column);
    auto value =
        expression(child(constraint, "raw_expr"), pending.table, table.columns[column].type, true,
                   "GENERATED", at, table.columns[column].width);
    catalog_.tables[pending.table.index].columns[column].generated = std::move(value);
  } else if (kind == "CONSTR_FOREIGN") {
    resolve_foreign_key(pending, at);
  } else if (kind == "CONSTR_EXCLUSION") {
    add_exclusion(pending.table, constraint, at);
  }
}

void SchemaBuilder::resolve_pending() {
  // Foreign keys look at primary keys, so these come first.
  for (const Pending& pending : pending_) {
    if (text_of(*pending.constraint, "contype") != "CONSTR_PRIMARY" || findings_.failed()) continue;
    Table& table = catalog_.tables[pending.table.index];
    const Place at = place(*pending.constraint);
    if (!table.primary_key.empty())
      findings_.fail(at, fmt::format("'{}' has two primary keys", table.name));
    table.primary_key = pending.column.empty()
                            ? columns_of(pending.table, child(*pending.constraint, "keys"), at)
                            : std::vector{*find_column(table, pending.column)};
    for (const ColumnId column : table.primary_key) table.columns[column].not_null = true;
    remember(pending.table, *pending.constraint, "pkey", table.primary_key);
  }
  for (const Pending& pending : pending_) {
    if (!findings_.failed()) resolve(pending);
  }
  pending_.clear();
}

void SchemaBuilder::finish() {
  add_partition_rules();
  resolve_pending();
  drop_unused();
  for (const Trigger& trigger : catalog_.triggers) {
    if (trigger.on_insert) catalog_.tables[trigger.table.index].insert_trigger = trigger.name;
  }
  for (Table& table : catalog_.tables) {
    if (!table.primary_key.empty()) continue;
    table.primary_key = {table.columns.next_id()};
    table.columns.push_back({.name = "rowid",
                             .type = Type::Integer,
                             .not_null = true,
                             .is_fresh = true,
                             .is_hidden = true,
                             .place = table.place});
  }
}

}  // namespace isoscope::sql
