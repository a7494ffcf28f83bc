#include "sql/read/cascades.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

ReferenceAction action_of(const ForeignKey& key, WriteOp op) {
  return op == WriteOp::Delete ? key.on_delete : key.on_update;
}

// The columns that are set, where rows that refer are not deleted. A list of them is one of ON
// DELETE.
const std::vector<ColumnId>& set_by(const ForeignKey& key, WriteOp op) {
  return op == WriteOp::Update || key.set_columns.empty() ? key.columns : key.set_columns;
}

bool has_any(const std::set<ColumnId>& columns, const std::vector<ColumnId>& of) {
  return std::ranges::any_of(of, [&](ColumnId column) { return columns.contains(column); });
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

// A foreign key that does something to the rows of `child` when those of its target go or change.
struct Action {
  const Table& child;
  const ForeignKey& key;
  const Table& parent;
  WriteOp op;

  ReferenceAction what() const { return action_of(key, op); }
  std::string own(std::size_t i) const { return identifier(child.columns[key.columns[i]].name); }
  std::string target(std::size_t i) const {
    return identifier(parent.columns[key.target_columns[i]].name);
  }
};

// SET DEFAULT leaves rows that refer to the default where they are. If that is what goes, they
// still refer to it, and the server ends the statement; unless another row of the same UPDATE has
// got it.
std::string check_of_default(const Action& action, Findings& findings) {
  if (action.what() != ReferenceAction::SetDefault) return {};
  const ForeignKey& key = action.key;
  const auto& set = set_by(key, action.op);
  std::string equal;
  std::string same;
  for (std::size_t i = 0; i < key.columns.size(); ++i) {
    same += fmt::format("{}{} = OLD.{}", i == 0 ? "" : " AND ", action.target(i), action.target(i));
    if (std::ranges::find(set, key.columns[i]) == set.end()) continue;
    const std::optional<Expr>& value = action.child.columns[key.columns[i]].default_value;
    const std::string text = literal(value);
    if (text.empty()) {
      if (value && value->op != ExprOp::Null)
        findings.note(key.place,
                      fmt::format("ON {} SET DEFAULT where the default is no constant",
                                  action.op == WriteOp::Delete ? "DELETE" : "UPDATE"),
                      NoteKind::Gap);
      return {};  // NULL refers to nothing
    }
    equal += fmt::format(" AND OLD.{} = {}", action.target(i), text);
  }
  if (action.op == WriteOp::Update)
    equal += fmt::format(" AND NOT EXISTS (SELECT 1 FROM {} WHERE {})",
                         identifier(action.parent.name), same);
  return fmt::format(
      "; IF FOUND{} THEN RAISE EXCEPTION 'still referred to' USING ERRCODE = '23503'; END IF",
      equal);
}

// The statement that the server runs for a row that is deleted, or has got other values.
std::string statement_of(const Action& action, Findings& findings) {
  const ForeignKey& key = action.key;
  const auto& set = set_by(key, action.op);
  std::string where;
  std::string sets;
  std::string differs;
  for (std::size_t i = 0; i < key.columns.size(); ++i) {
    const std::string column = action.own(i);
    const std::string target = action.target(i);
    where += fmt::format("{}{} = OLD.{}", i == 0 ? "" : " AND ", column, target);
    differs +=
        fmt::format("{}OLD.{} IS DISTINCT FROM NEW.{}", i == 0 ? "" : " OR ", target, target);
    if (std::ranges::find(set, key.columns[i]) == set.end()) continue;
    std::string value = "NEW." + target;
    if (action.what() == ReferenceAction::SetNull) value = "NULL";
    if (action.what() == ReferenceAction::SetDefault) value = "DEFAULT";
    sets += fmt::format("{}{} = {}", sets.empty() ? "" : ", ", column, value);
  }
  const std::string child = identifier(action.child.name);
  if (action.op == WriteOp::Delete && action.what() == ReferenceAction::Cascade)
    return fmt::format("DELETE FROM {} WHERE {}", child, where);
  std::string update = fmt::format("UPDATE {} SET {} WHERE {}{}", child, sets, where,
                                   check_of_default(action, findings));
  if (action.op == WriteOp::Delete) return update;
  return fmt::format("IF {} THEN {}; END IF", differs, update);
}

void add_cascade(Catalog& catalog, const Action& action, std::size_t number, Findings& findings) {
  const ForeignKey& key = action.key;
  const bool is_delete = action.op == WriteOp::Delete;
  const std::string_view when = is_delete ? "ON DELETE" : "ON UPDATE";
  // No function that a program declares has such a name.
  const std::string name = fmt::format("{} of {} {}", key.name, action.child.name, when);
  std::string text = fmt::format(
      "CREATE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN {}; RETURN NULL; END$$",
      identifier(name), statement_of(action, findings));
  auto tree = parse_sql(text);
  auto tokens = scan_sql(text);
  if (!tree || !tokens) {
    findings.fail(key.place, fmt::format("{} of the foreign key {}: {}", when, key.name,
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
                              .on_update = !is_delete,
                              .on_delete = is_delete,
                              .columns = is_delete ? std::vector<ColumnId>() : key.target_columns,
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

// What foreign keys do because of a statement, and because of what they do.
struct Reach {
  struct Way {
    TableId from;
    TableId child;
    const ForeignKey* key;
    WriteOp op;  // what happens to rows of `from`
  };
  std::vector<Way> ways = {};
  std::map<TableId, RowEffect> effects = {};  // on all tables, that of the statement among them
  std::set<TableId> changed = {};             // by foreign keys

  bool has(const ForeignKey& key, WriteOp op) const {
    return std::ranges::any_of(ways,
                               [&](const Way& way) { return way.key == &key && way.op == op; });
  }
};

// The row that is referred to loses what it is referred to by.
bool is_lost(const ForeignKey& key, const RowEffect& effect, WriteOp op) {
  return op == WriteOp::Delete ? effect.deletes : has_any(effect.updates, key.target_columns);
}

Reach reach_of(const Catalog& catalog, const RowChange& change) {
  Reach reach;
  reach.effects[change.table] = change.effect;
  std::vector<TableId> next = {change.table};
  while (!next.empty()) {
    const TableId from = next.back();
    next.pop_back();
    const RowEffect effect = reach.effects[from];
    for_each_reference_to(catalog, from, [&](TableId child, const ForeignKey& key) {
      for (const WriteOp op : {WriteOp::Delete, WriteOp::Update}) {
        if (!is_lost(key, effect, op) || action_of(key, op) == ReferenceAction::Refuse) continue;
        if (reach.has(key, op)) continue;
        reach.ways.push_back({from, child, &key, op});
        reach.changed.insert(child);
        RowEffect& on_child = reach.effects[child];
        if (op == WriteOp::Delete && key.on_delete == ReferenceAction::Cascade) {
          on_child.deletes = true;
        } else {
          on_child.updates.insert(set_by(key, op).begin(), set_by(key, op).end());
          on_child.updates.merge(change.assigned(child, on_child.updates));
        }
        next.push_back(child);
      }
    });
  }
  return reach;
}

std::string name_in(const Catalog& catalog, TableId table) { return catalog.table(table).name; }

// A check that looks at rows of a table which foreign keys change: which of both comes first is
// told by the order of the constraints, and further away the check comes last; here it does not.
std::string refused_check(const Catalog& catalog, const RowChange& change, const Reach& reach) {
  const std::string_view verb = change.verb();
  std::string why;
  for (const auto& [table, effect] : reach.effects) {
    for_each_reference_to(
        catalog, table, [&, &effect = effect](TableId child, const ForeignKey& key) {
          for (const WriteOp op : {WriteOp::Delete, WriteOp::Update}) {
            if (is_lost(key, effect, op) && action_of(key, op) == ReferenceAction::Refuse &&
                reach.changed.contains(child))
              why = fmt::format(
                  "this {} changes rows of {} (ON {}) whose foreign key {} refuses it, which is "
                  "not "
                  "modelled",
                  verb, name_in(catalog, child), verb, key.name);
          }
        });
  }
  return why;
}

// Columns of the key that something else gives other values.
bool is_set_by_others(const Reach& reach, TableId table, const ForeignKey& key,
                      const std::set<ColumnId>& assigned) {
  if (has_any(assigned, key.columns)) return true;
  return std::ranges::any_of(reach.ways, [&](const Reach::Way& way) {
    if (way.child != table || way.key == &key) return false;
    const auto& set = set_by(*way.key, way.op);
    return has_any({set.begin(), set.end()}, key.columns);
  });
}

// A row that a foreign key changes must refer to something that others change: here this is looked
// at between them, on the server when all have been done. What the statement itself changes is done
// in both, and what changes the row because of its parent comes behind that.
std::string refused_reference(const Catalog& catalog, const RowChange& change, const Reach& reach) {
  for (const TableId table : reach.changed) {
    const RowEffect& effect = reach.effects.at(table);
    for (const ForeignKey& key : catalog.table(table).foreign_keys) {
      if (!has_any(effect.updates, key.columns) || key.target == change.table ||
          !reach.changed.contains(key.target))
        continue;
      const bool is_default =
          reach.has(key, WriteOp::Update) && key.on_update == ReferenceAction::SetDefault;
      if (is_default || is_set_by_others(reach, table, key, change.assigned(table, effect.updates)))
        return fmt::format(
            "this {} changes rows of {} whose foreign key {} refers to rows that it changes too, "
            "which is not modelled",
            change.verb(), name_in(catalog, table), key.name);
    }
  }
  return {};
}

// Two foreign keys that change the same columns of a row, of which the second may look for what the
// first has changed.
std::string refused_pair(const Catalog& catalog, const RowChange& change, const Reach& reach) {
  for (const Reach::Way& a : reach.ways) {
    if (a.op != WriteOp::Update) continue;
    for (const Reach::Way& b : reach.ways) {
      if (&a == &b || a.child != b.child) continue;
      if (has_any({a.key->columns.begin(), a.key->columns.end()}, b.key->columns))
        return fmt::format(
            "this {} changes the same columns of {} in two ways (foreign key {}), which is not "
            "modelled",
            change.verb(), name_in(catalog, a.child), a.key->name);
    }
  }
  return {};
}

// A foreign key of the table to itself that gives other rows NULL, or the new key: nothing refers
// to what it sets, so that it goes no further, and the statement itself sets other columns.
bool ends_in_itself(const Catalog& catalog, const RowChange& change, const Reach::Way& way) {
  const ReferenceAction action = action_of(*way.key, way.op);
  const bool cascades = way.op == WriteOp::Update && action == ReferenceAction::Cascade;
  if (way.from != change.table || (action != ReferenceAction::SetNull && !cascades)) return false;
  std::set<ColumnId> set(set_by(*way.key, way.op).begin(), set_by(*way.key, way.op).end());
  set.merge(change.assigned(change.table, set));
  bool ends = std::ranges::none_of(
      set, [&](ColumnId column) { return change.effect.updates.contains(column); });
  for_each_reference_to(catalog, change.table, [&](TableId, const ForeignKey& key) {
    ends = ends && !has_any(set, key.target_columns);
  });
  return ends;
}

}  // namespace

void add_cascades(Catalog& catalog, Findings& findings) {
  std::size_t number = 0;
  for (const Table& table : catalog.tables) {
    for (const ForeignKey& key : table.foreign_keys) {
      for (const WriteOp op : {WriteOp::Delete, WriteOp::Update}) {
        if (action_of(key, op) != ReferenceAction::Refuse)
          add_cascade(catalog, {table, key, catalog.table(key.target), op}, ++number, findings);
      }
    }
  }
}

std::string refused_cascade(const Catalog& catalog, const RowChange& change) {
  const Reach reach = reach_of(catalog, change);
  if (reach.ways.empty()) return {};
  const std::string_view verb = change.verb();
  for (const Reach::Way& way : reach.ways) {
    if (way.child == change.table && !ends_in_itself(catalog, change, way))
      return fmt::format("this {} changes other rows of {} (ON {}), which is not modelled", verb,
                         name_in(catalog, change.table), verb);
  }
  std::string why = refused_check(catalog, change, reach);
  if (why.empty()) why = refused_reference(catalog, change, reach);
  if (why.empty()) why = refused_pair(catalog, change, reach);
  for (const Trigger& trigger : catalog.triggers) {
    if (!reach.changed.contains(trigger.table)) continue;
    // The server runs it once for all that foreign keys do to the table.
    if (trigger.is_statement && (trigger.on_update || trigger.on_delete))
      why = fmt::format(
          "this {} changes rows of {} (ON {}), which has the trigger {} FOR EACH STATEMENT; both "
          "are not modelled together",
          verb, name_in(catalog, trigger.table), verb, trigger.name);
    if (trigger.is_before && trigger.on_delete)
      why = fmt::format(
          "this {} changes rows of {} (ON {}), which has the BEFORE DELETE trigger {}; both are "
          "not modelled together",
          verb, name_in(catalog, trigger.table), verb, trigger.name);
  }
  return why;
}

std::string early_check(const Catalog& catalog, const RowChange& change) {
  const Reach reach = reach_of(catalog, change);
  for (const Reach::Way& way : reach.ways) {
    if (way.op != WriteOp::Update || way.key->on_update == ReferenceAction::SetNull) continue;
    if (way.key->on_update == ReferenceAction::SetDefault) {
      const Table& child = catalog.table(way.child);
      const bool may_refer = std::ranges::all_of(way.key->columns, [&](ColumnId column) {
        const std::optional<Expr>& value = child.columns[column].default_value;
        return value && value->op != ExprOp::Null;
      });
      if (may_refer) return way.key->name;
    }
    for (const ForeignKey& other : catalog.table(way.child).foreign_keys) {
      if (&other != way.key &&
          has_any({way.key->columns.begin(), way.key->columns.end()}, other.columns))
        return other.name;
    }
  }
  return {};
}

std::optional<LateTriggers> late_triggers(const Catalog& catalog, const RowChange& change) {
  const Reach reach = reach_of(catalog, change);
  LateTriggers late{.fired = {}, .touched = reach.changed};
  bool is_late = std::ranges::any_of(
      reach.ways, [&](const Reach::Way& way) { return way.from != change.table; });
  for (const Trigger& trigger : catalog.triggers) {
    if (trigger.is_before || trigger.is_reference) continue;
    const auto effect = reach.effects.find(trigger.table);
    if (effect == reach.effects.end()) continue;
    const bool is_deleted = effect->second.deletes && trigger.on_delete;
    const bool is_changed = !effect->second.updates.empty() && trigger.on_update;
    if (!is_deleted && !is_changed) continue;
    is_late = is_late || trigger.table != change.table || reach.changed.contains(trigger.table);
    if (is_deleted) late.fired.emplace_back(&trigger, WriteOp::Delete);
    if (is_changed) late.fired.emplace_back(&trigger, WriteOp::Update);
  }
  late.touched.insert(change.table);
  if (reach.ways.empty() || !is_late || late.fired.empty()) return std::nullopt;
  return late;
}

bool mark_cascade(std::span<Statement> body) {
  for (Statement& statement : body) {
    if (SearchedWrite* const write = statement.searched()) {
      write->is_cascade = true;
      return true;
    }
    if (mark_cascade(statement.body())) return true;
  }
  return false;
}

}  // namespace isoscope::sql
