#include "sql/cascades.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql/pg_parse.h"

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

// The statement that the server runs for a deleted row.
std::string statement_of(const Table& child, const ForeignKey& key, const Table& parent) {
  std::string where;
  std::string sets;
  for (std::size_t i = 0; i < key.columns.size(); ++i) {
    const std::string column = identifier(child.columns[key.columns[i]].name);
    where += fmt::format("{}{} = OLD.{}", i == 0 ? "" : " AND ", column,
                         identifier(parent.columns[key.target_columns[i]].name));
    sets += fmt::format("{}{} = {}", i == 0 ? "" : ", ", column,
                        key.on_delete == OnDelete::SetNull ? "NULL" : "DEFAULT");
  }
  if (key.on_delete == OnDelete::Cascade)
    return fmt::format("DELETE FROM {} WHERE {}", identifier(child.name), where);
  return fmt::format("UPDATE {} SET {} WHERE {}", identifier(child.name), sets, where);
}

void add_cascade(Catalog& catalog, const Table& child, const ForeignKey& key, std::size_t number,
                 Findings& findings) {
  // No function that a program declares has such a name.
  const std::string name = fmt::format("{} of {}", key.name, child.name);
  std::string text = fmt::format(
      "CREATE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN {}; RETURN NULL; END$$",
      identifier(name), statement_of(child, key, catalog.table(key.target)));
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

// Tables whose rows change when rows of this one are deleted.
std::set<TableId> changed_with(const Catalog& catalog, TableId table) {
  std::set<TableId> changed;
  std::vector<TableId> deleted = {table};
  while (!deleted.empty()) {
    const TableId from = deleted.back();
    deleted.pop_back();
    for_each_reference_to(catalog, from, [&](TableId child, const ForeignKey& key) {
      if (key.on_delete == OnDelete::Refuse) return;
      if (changed.insert(child).second && key.on_delete == OnDelete::Cascade)
        deleted.push_back(child);
    });
  }
  return changed;
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
  const std::set<TableId> changed = changed_with(catalog, table);
  if (changed.empty()) return {};
  if (changed.contains(table))
    return fmt::format("this DELETE changes other rows of {} (ON DELETE), which is not modelled",
                       catalog.table(table).name);
  std::string why;
  // Which of both comes first is told by the order of the constraints; here the check does.
  for_each_reference_to(catalog, table, [&](TableId child, const ForeignKey& key) {
    if (key.on_delete == OnDelete::Refuse && changed.contains(child))
      why = fmt::format(
          "this DELETE changes rows of {} (ON DELETE) whose foreign key {} refuses it, which is "
          "not modelled",
          catalog.table(child).name, key.name);
  });
  for (const Trigger& trigger : catalog.triggers) {
    if (trigger.is_before && trigger.on_delete && changed.contains(trigger.table))
      why = fmt::format(
          "this DELETE changes rows of {} (ON DELETE), which has the BEFORE DELETE trigger {}; "
          "both are not modelled together",
          catalog.table(trigger.table).name, trigger.name);
  }
  return why;
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
