#include "sql/read/cascades.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql/read/pg_parse.h"

namespace isoscope::sql {
namespace {

std::string identifier(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += c;
    out += c;
  }
  return out + '"';
}

bool is_set(const ForeignKey& key, std::uint32_t column) {
  return key.set_columns.empty() ||
         std::ranges::find(key.set_columns, column) != key.set_columns.end();
}

// A constant as text; nothing if it is NULL or no constant.
std::string literal(const std::optional<Expr>& value) {
  if (!value) return {};
  if (value->op == ExprOp::Integer) return fmt::format("{}", value->number);
  if (value->op == ExprOp::Decimal) return value->text;
  if (value->op == ExprOp::Boolean) return value->number != 0 ? "true" : "false";
  if (value->op != ExprOp::Text) return {};
  std::string out = "'";
  for (const char c : value->text) {
    if (c == '\'') out += c;
    out += c;
  }
  return out + "'";
}

// SET DEFAULT leaves rows that refer to the default where they are. If that is what goes, they
// still refer to it, and the server ends the statement.
std::string check_of_default(const Table& child, const ForeignKey& key, const Table& parent,
                             Findings& findings) {
  if (key.on_delete != OnDelete::SetDefault) return {};
  std::string equal;
  for (std::size_t i = 0; i < key.columns.size(); ++i) {
    if (!is_set(key, key.columns[i])) continue;
    const std::optional<Expr>& value = child.columns[key.columns[i]].default_value;
    const std::string text = literal(value);
    if (text.empty()) {
      if (value && value->op != ExprOp::Null)
        findings.note(key.place, "ON DELETE SET DEFAULT where the default is no constant",
                      NoteKind::Gap);
      return {};  // NULL refers to nothing
    }
    equal += fmt::format(" AND OLD.{} = {}", identifier(parent.columns[key.target_columns[i]].name),
                         text);
  }
  return fmt::format(
      "; IF FOUND{} THEN RAISE EXCEPTION 'still referred to' USING ERRCODE = '23503'; END IF",
      equal);
}

// The statement that the server runs for a deleted row.
std::string statement_of(const Table& child, const ForeignKey& key, const Table& parent,
                         Findings& findings) {
  std::string where;
  std::string sets;
  for (std::size_t i = 0; i < key.columns.size(); ++i) {
    const std::string column = identifier(child.columns[key.columns[i]].name);
    where += fmt::format("{}{} = OLD.{}", i == 0 ? "" : " AND ", column,
                         identifier(parent.columns[key.target_columns[i]].name));
    if (is_set(key, key.columns[i]))
      sets += fmt::format("{}{} = {}", sets.empty() ? "" : ", ", column,
                          key.on_delete == OnDelete::SetNull ? "NULL" : "DEFAULT");
  }
  if (key.on_delete == OnDelete::Cascade)
    return fmt::format("DELETE FROM {} WHERE {}", identifier(child.name), where);
  return fmt::format("UPDATE {} SET {} WHERE {}{}", identifier(child.name), sets, where,
                     check_of_default(child, key, parent, findings));
}

void add_cascade(Catalog& catalog, const Table& child, const ForeignKey& key, std::size_t number,
                 Findings& findings) {
  // No function that a program declares has such a name.
  const std::string name = fmt::format("{} of {}", key.name, child.name);
  std::string text = fmt::format(
      "CREATE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN {}; RETURN NULL; END$$",
      identifier(name), statement_of(child, key, catalog.table(key.target), findings));
  auto tree = parse_sql(text);
  auto tokens = scan_sql(text);
  if (!tree || !tokens) {
    findings.fail(key.place, fmt::format("ON DELETE of the foreign key {}: {}", key.name,
                                         !tree ? tree.error().what : tokens.error().what));
    return;
  }
  auto written = std::make_unique<WrittenText>(WrittenText{
      .text = std::move(text),
      .tree = *std::move(tree),
      .file = {.text = {}, .lines = LineIndex(key.place), .tokens = *std::move(tokens)}});
  written->file.text = written->text;
  catalog.functions[name].push_back({.node = &inside(sql::child(written->tree.at(0), "stmt")),
                                     .text = written->text,
                                     .begin = 0,
                                     .file = &written->file});
  // By their names they fire before those of most programs, in the order of their declarations.
  catalog.triggers.push_back({.name = fmt::format("RI_ConstraintTrigger_a_{:06}", number),
                              .table = key.target,
                              .on_delete = true,
                              .columns = {},
                              .function = name,
                              .refusal = {},
                              .where = {.lines = &written->file.lines},
                              .place = key.place,
                              .is_reference = true});
  catalog.written.push_back(std::move(written));
}

template <class Visit>
void for_each_reference_to(const Catalog& catalog, TableId target, const Visit& visit) {
  for (std::uint32_t t = 0; t < catalog.tables.size(); ++t) {
    for (const ForeignKey& key : catalog.tables[t].foreign_keys) {
      if (key.target == target) visit(TableId{t}, key);
    }
  }
}

// What happens when rows of a table are deleted.
struct Reach {
  std::set<TableId> changed;  // rows of these change or go
  std::set<TableId> deleted;  // rows of these go, those of the table itself among them
  bool is_deep = false;       // some go or change because of others that go
};
Reach reach_of(const Catalog& catalog, TableId table) {
  Reach reach{.changed = {}, .deleted = {table}};
  std::vector<TableId> next = {table};
  while (!next.empty()) {
    const TableId from = next.back();
    next.pop_back();
    for_each_reference_to(catalog, from, [&](TableId child, const ForeignKey& key) {
      if (key.on_delete == OnDelete::Refuse) return;
      reach.is_deep = reach.is_deep || from != table;
      reach.changed.insert(child);
      if (key.on_delete == OnDelete::Cascade && reach.deleted.insert(child).second)
        next.push_back(child);
    });
  }
  return reach;
}

}  // namespace

void add_cascades(Catalog& catalog, Findings& findings) {
  std::size_t number = 0;
  for (const Table& table : catalog.tables) {
    for (const ForeignKey& key : table.foreign_keys) {
      if (key.on_delete != OnDelete::Refuse) add_cascade(catalog, table, key, ++number, findings);
    }
  }
}

std::string refused_cascade(const Catalog& catalog, TableId table) {
  const Reach reach = reach_of(catalog, table);
  const std::set<TableId>& changed = reach.changed;
  if (changed.empty()) return {};
  if (changed.contains(table))
    return fmt::format("this DELETE changes other rows of {} (ON DELETE), which is not modelled",
                       catalog.table(table).name);
  std::string why;
  // Which of both comes first is told by the order of the constraints, and further away the check
  // comes last; here it does not.
  for (const TableId deleted : reach.deleted) {
    for_each_reference_to(catalog, deleted, [&](TableId child, const ForeignKey& key) {
      if (key.on_delete == OnDelete::Refuse && changed.contains(child))
        why = fmt::format(
            "this DELETE changes rows of {} (ON DELETE) whose foreign key {} refuses it, which is "
            "not modelled",
            catalog.table(child).name, key.name);
    });
  }
  for (const Trigger& trigger : catalog.triggers) {
    if (trigger.is_before && trigger.on_delete && changed.contains(trigger.table))
      why = fmt::format(
          "this DELETE changes rows of {} (ON DELETE), which has the BEFORE DELETE trigger {}; "
          "both are not modelled together",
          catalog.table(trigger.table).name, trigger.name);
  }
  return why;
}

std::optional<LateTriggers> late_triggers(const Catalog& catalog, TableId table) {
  Reach reach = reach_of(catalog, table);
  LateTriggers late{.fired = {}, .touched = reach.changed};
  bool is_late = reach.is_deep;
  for (const Trigger& trigger : catalog.triggers) {
    if (trigger.is_before || trigger.is_reference) continue;
    const bool is_deleted = reach.deleted.contains(trigger.table) && trigger.on_delete;
    const bool is_changed = reach.changed.contains(trigger.table) && trigger.on_update;
    if (!is_deleted && !is_changed) continue;
    is_late = is_late || trigger.table != table;
    if (is_deleted) late.fired.emplace_back(&trigger, WriteOp::Delete);
    if (is_changed) late.fired.emplace_back(&trigger, WriteOp::Update);
  }
  late.touched.insert(table);
  if (reach.changed.empty() || !is_late || late.fired.empty()) return std::nullopt;
  return late;
}

bool mark_cascade(std::span<Statement> body) {
  for (Statement& statement : body) {
    SearchedWrite* const write = statement.searched();
    if (write == nullptr) continue;
    write->is_cascade = true;
    return true;
  }
  return false;
}

}  // namespace isoscope::sql
