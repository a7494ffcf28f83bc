// ALTER, DROP and RENAME, and what is more than a table: views and triggers.
#include <fmt/format.h>

#include <algorithm>

#include "sql/exclusions.h"
#include "sql/read/expr_builder.h"
#include "sql/read/schema_builder.h"

namespace isoscope::sql {
namespace {

// The last name of an object that DROP names: a list, or a name with arguments.
std::string object_name(const Tree& object) {
  const Tree& list = child(child(object, "List"), "items");
  if (!list.empty()) return string_node(list[list.size() - 1]);
  const Tree& with_args = child(object, "ObjectWithArgs");
  if (!with_args.is_null()) return last_name(child(with_args, "objname"));
  return string_node(object);
}

// "integer" of a TypeName, "integer[]" of an array.
std::string type_name(const Tree& type) {
  return last_name(child(type, "names")) + (has(type, "arrayBounds") ? "[]" : "");
}

// The types by which calls choose among functions of one name.
std::vector<std::string> types_of(const FunctionText& function) {
  std::vector<std::string> types;
  for (const Tree& entry : child(*function.node, "parameters")) {
    const Tree& parameter = inside(entry);
    const std::string mode = text_of(parameter, "mode");
    if (mode != "FUNC_PARAM_OUT" && mode != "FUNC_PARAM_TABLE")
      types.push_back(type_name(child(parameter, "argType")));
  }
  return types;
}

// Takes out the functions that DROP or RENAME names: g(integer) is neither g() nor g(text), and g
// alone is all of that name.
std::vector<FunctionText> take_functions(Catalog& catalog, const Tree& object, bool is_optional) {
  const auto known = catalog.functions.find(object_name(object));
  if (known == catalog.functions.end()) return {};
  const Tree& with_args = child(object, "ObjectWithArgs");
  std::vector<std::string> types;
  for (const Tree& type : child(with_args, "objargs")) types.push_back(type_name(inside(type)));
  std::vector<FunctionText>& functions = known->second;
  std::vector<FunctionText> taken;
  const auto take = [&](auto is_meant) {
    std::ranges::copy_if(functions, std::back_inserter(taken), is_meant);
    std::erase_if(functions, is_meant);
  };
  if (flag_of(with_args, "args_unspecified")) {
    take([](const FunctionText&) { return true; });
  } else {
    take([&](const FunctionText& f) { return types_of(f) == types; });
    // A type has other names, too, and the server found one: x.y%TYPE.
    if (taken.empty() && !is_optional)
      take([&](const FunctionText& f) { return types_of(f).size() == types.size(); });
  }
  if (functions.empty()) catalog.functions.erase(known);
  return taken;
}

// DROP TRIGGER and the like name the table before the thing.
std::string object_table(const Tree& object) {
  const Tree& list = child(child(object, "List"), "items");
  return list.size() > 1 ? string_node(list[list.size() - 2]) : "";
}

bool mentions_column(const Expr& expr, ColumnId column) {
  if (expr.op == ExprOp::Column && expr.column == column) return true;
  return std::ranges::any_of(expr.args,
                             [&](const Expr& arg) { return mentions_column(arg, column); });
}

// Two constraints, or one and an index, may be over the same columns.
void erase_one(Table& table, const std::vector<ColumnId>& key) {
  auto& keys = table.unique.entries();
  if (const auto found = std::ranges::find(keys, key); found != keys.end()) keys.erase(found);
}

bool has_column(const std::vector<ColumnId>& columns, ColumnId column) {
  return std::ranges::find(columns, column) != columns.end();
}

// Does the tree name the table?
bool mentions_table(const Tree& tree, const std::string& table) {
  if (!tree.is_structured()) return false;
  if (tree.is_object() && text_of(tree, "relname") == table) return true;
  return std::ranges::any_of(tree, [&](const Tree& part) { return mentions_table(part, table); });
}

bool has_star(const Tree& tree) {
  if (!tree.is_structured()) return false;
  if (tree.is_object() && tree.contains("A_Star")) return true;
  return std::ranges::any_of(tree, has_star);
}

}  // namespace

// Views keep the tables and columns that they were made of; here they are read as they stand, with
// the names of the end. A new column changes those with a *.
void SchemaBuilder::refuse_views_of(const std::string& table, bool of_stars) {
  for (auto& [name, view] : catalog_.views) {
    if (!mentions_table(*view.select, table) || (of_stars && !has_star(*view.select))) continue;
    view.old_name = table;
    view.refusal = fmt::format("tables that were changed later ('{}')", table);
  }
}

void SchemaBuilder::alter_column(TableId id, const std::string& kind, const Tree& command,
                                 Place at) {
  const std::string name = text_of(command, "name");
  const bool changes_rows = kind == "AT_ColumnDefault" || kind == "AT_DropColumn" ||
                            kind == "AT_AlterColumnType" || kind == "AT_DropIdentity";
  if (changes_rows && tables_with_rows_.contains(catalog_.table(id).name))
    findings_.note(at, "the rows of INSERTs before this line are as if they came behind it",
                   NoteKind::Free);
  if (kind == "AT_DropConstraint") return drop_constraint(id, name, at);
  if (kind == "AT_DropColumn") return drop_column(id, name, at);
  if (kind == "AT_EnableRowSecurity" || kind == "AT_ForceRowSecurity") {
    findings_.note(at, "row security is not modelled", NoteKind::Gap);
    return;
  }
  const auto column = find_column(catalog_.table(id), name);
  const bool is_known = kind == "AT_ColumnDefault" || kind == "AT_AddIdentity" ||
                        kind == "AT_SetNotNull" || kind == "AT_DropNotNull" ||
                        kind == "AT_AlterColumnType" || kind == "AT_DropIdentity" ||
                        kind == "AT_SetIdentity";
  if (!is_known) {
    findings_.note(at, fmt::format("a change of table '{}' is ignored", catalog_.table(id).name),
                   NoteKind::Gap);
    return;
  }
  if (!column) {
    findings_.fail(at, fmt::format("'{}' has no column '{}'", catalog_.table(id).name, name),
                   suggest_column(catalog_.table(id), name));
    return;
  }
  resolve_pending();
  Column& changed = catalog_.tables[id.index].columns[*column];
  if (kind == "AT_SetNotNull") changed.not_null = true;
  if (kind == "AT_DropNotNull") changed.not_null = false;
  if (kind == "AT_AddIdentity") {
    changed.is_fresh = changed.not_null = true;
    changed.sequence = own_sequence(catalog_.table(id), changed);
    const Tree& constraint = child(child(command, "def"), "Constraint");
    changed.is_always = text_of(constraint, "generated_when") == "a";
    const SequenceId own = sequence_id(catalog_.sequences, changed.sequence);
    set_options(catalog_.sequences[own.index], child(constraint, "options"), true, findings_, at);
  }
  if (kind == "AT_SetIdentity" && !changed.sequence.empty()) {
    const Tree& options = child(child(child(command, "def"), "List"), "items");
    for (const Tree& option : options) {
      if (text_of(inside(option), "defname") == "generated")
        changed.is_always = number_in(inside(option)) == std::int64_t{'a'};
    }
    const SequenceId own = sequence_id(catalog_.sequences, changed.sequence);
    set_options(catalog_.sequences[own.index], options, false, findings_, at);
  }
  if (kind == "AT_DropIdentity") {
    changed.is_fresh = changed.is_always = false;
    changed.sequence.clear();
  }
  if (kind == "AT_ColumnDefault") {
    const Tree& value = child(command, "def");
    changed.default_value.reset();
    changed.is_fresh = is_nextval(value);
    if (changed.is_fresh) keep_whole(changed);
    changed.sequence = changed.is_fresh ? sequence_of(value) : "";
    if (!value.is_null() && !changed.is_fresh) set_default(id, *column, value, at);
  }
  if (kind == "AT_AlterColumnType") {
    const Tree& definition = child(child(command, "def"), "ColumnDef");
    if (has(definition, "collClause")) findings_.note(at, "COLLATE is ignored", NoteKind::Gap);
    const DeclaredType type = catalog_.type_of(child(definition, "typeName"), where_, findings_);
    changed.type = type.is_array || type.is_record ? Type::Text : type.type;
    changed.width = type.is_array ? Width{} : type.width;
    if (changed.default_value && changed.type != Type::Boolean && changed.type != Type::Text) {
      Scope scope{.catalog = catalog_, .findings = findings_, .where = where_};
      changed.default_value = assigned(scope, *std::move(changed.default_value), changed.type,
                                       false, "the default", changed.width);
    }
  }
}

void SchemaBuilder::drop_constraint(TableId id, const std::string& name, Place at) {
  resolve_pending();
  Table& table = catalog_.tables[id.index];
  if (const auto key = table.constraint_names.find(name); key != table.constraint_names.end()) {
    if (key->second == table.primary_key) {
      table.primary_key.clear();
    } else {
      erase_one(table, key->second);
    }
    table.constraint_names.erase(key);
    return;
  }
  if (std::erase_if(table.exclusions.entries(),
                    [&](const Exclusion& e) { return e.name == name; }) > 0)
    return;
  const std::size_t count = table.foreign_keys.size() + table.checks.size();
  std::erase_if(table.foreign_keys, [&](const ForeignKey& key) { return key.name == name; });
  for (std::size_t i = table.check_names.size(); i-- > 0;) {
    if (table.check_names[i] != name) continue;
    table.check_names.erase(table.check_names.begin() + static_cast<std::ptrdiff_t>(i));
    table.checks.erase(table.checks.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (table.foreign_keys.size() + table.checks.size() == count)
    findings_.note(at, fmt::format("the constraint '{}' that is dropped is not known", name),
                   NoteKind::Gap);
}

// A column that is dropped stays as one without a name, so that the others keep their places.
void SchemaBuilder::drop_column(TableId id, const std::string& name, Place at) {
  resolve_pending();
  Table& table = catalog_.tables[id.index];
  const auto column = find_column(table, name);
  if (!column) {
    findings_.note(at, fmt::format("'{}' has no column '{}' to drop", table.name, name),
                   NoteKind::Remark);
    return;
  }
  const ColumnId c = *column;
  Column& dropped = table.columns[c];
  dropped = Column{.name = fmt::format("(dropped {})", c.index), .is_hidden = true};
  if (has_column(table.primary_key, c)) table.primary_key.clear();
  std::erase_if(table.unique.entries(), [&](const auto& key) { return has_column(key, c); });
  std::erase_if(table.foreign_keys,
                [&](const ForeignKey& key) { return has_column(key.columns, c); });
  std::erase_if(table.exclusions.entries(),
                [&](const Exclusion& exclusion) { return mentions(exclusion, c); });
  for (std::size_t i = table.checks.size(); i-- > 0;) {
    if (!mentions_column(table.checks[i], c)) continue;
    table.checks.erase(table.checks.begin() + static_cast<std::ptrdiff_t>(i));
    table.check_names.erase(table.check_names.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (Table& other : catalog_.tables) {
    std::erase_if(other.foreign_keys, [&](const ForeignKey& key) {
      return key.target == id && has_column(key.target_columns, c);
    });
  }
}

void SchemaBuilder::drop_table(const std::string& name) {
  drop_partition(name);
  const auto id = catalog_.find_table(name);
  if (!id) return;
  resolve_pending();
  dropped_.insert(*id);
  catalog_.tables[id->index].name = fmt::format("(dropped {})", id->index);
  for (Table& other : catalog_.tables)
    std::erase_if(other.foreign_keys, [&](const ForeignKey& key) { return key.target == *id; });
  std::erase_if(catalog_.triggers, [&](const Trigger& trigger) { return trigger.table == *id; });
  std::erase_if(indexes_, [&](const auto& index) { return index.second == *id; });
  std::erase_if(unique_indexes_, [&](const auto& index) { return index.second.first == *id; });
}

// Takes the dropped tables out; the others get new numbers.
void SchemaBuilder::drop_unused() {
  if (dropped_.empty()) return;
  std::vector<TableId> now(catalog_.tables.size());
  std::vector<Table> kept;
  for (std::uint32_t t = 0; t < catalog_.tables.size(); ++t) {
    now[t] = TableId::none();
    if (dropped_.contains(TableId{t})) continue;
    now[t] = TableId{static_cast<std::uint32_t>(kept.size())};
    kept.push_back(std::move(catalog_.tables[t]));
  }
  catalog_.tables = std::move(kept);
  for (Table& table : catalog_.tables) {
    for (ForeignKey& key : table.foreign_keys) key.target = now[key.target.index];
  }
  for (Trigger& trigger : catalog_.triggers) trigger.table = now[trigger.table.index];
  findings_.renumber(now);
  dropped_.clear();
}

bool SchemaBuilder::drop_exclusion(const std::string& name) {
  std::size_t count = 0;
  for (Table& table : catalog_.tables)
    count += std::erase_if(table.exclusions.entries(),
                           [&](const Exclusion& e) { return e.name == name; });
  return count > 0;
}

void SchemaBuilder::drop_index(const std::string& name, bool is_optional, Place at) {
  const bool is_index = indexes_.erase(name) > 0;
  if (const auto known = unique_indexes_.find(name); known != unique_indexes_.end()) {
    Table& table = catalog_.tables[known->second.first.index];
    erase_one(table, known->second.second);
    table.constraint_names.erase(name);
    unique_indexes_.erase(known);
  } else if (!drop_exclusion(name) && !is_index && !is_optional) {
    findings_.note(at, fmt::format("the index '{}' that is dropped is not known", name),
                   NoteKind::Gap);
  }
}

void SchemaBuilder::rename_index(const std::string& name, const std::string& to) {
  const auto rename_in = [&](auto& named) {
    auto known = named.extract(name);
    if (!known) return;
    known.key() = to;
    named.insert(std::move(known));
  };
  rename_in(indexes_);
  rename_in(unique_indexes_);
  for (Table& table : catalog_.tables) {
    rename_in(table.constraint_names);  // the index of a constraint has its name
    for (Exclusion& exclusion : table.exclusions) {
      if (exclusion.name == name) exclusion.name = to;
    }
  }
}

void SchemaBuilder::drop(const Tree& node, Place at) {
  const std::string what = text_of(node, "removeType");
  for (const Tree& object : child(node, "objects")) {
    const std::string name = object_name(object);
    if (what == "OBJECT_TABLE") {
      drop_table(name);
    } else if (what == "OBJECT_VIEW") {
      catalog_.views.erase(name);
    } else if (what == "OBJECT_FUNCTION" || what == "OBJECT_PROCEDURE" ||
               what == "OBJECT_ROUTINE") {
      take_functions(catalog_, object, flag_of(node, "missing_ok"));
    } else if (what == "OBJECT_TRIGGER") {
      const auto table = catalog_.find_table(object_table(object));
      std::erase_if(catalog_.triggers, [&](const Trigger& trigger) {
        return trigger.name == name && table && trigger.table == *table;
      });
    } else if (what == "OBJECT_INDEX") {
      drop_index(name, flag_of(node, "missing_ok"), at);
    } else if (what == "OBJECT_TYPE" || what == "OBJECT_DOMAIN") {
      catalog_.types.erase(name);
    } else if (what == "OBJECT_SCHEMA" && !catalog_.tables.empty()) {
      findings_.note(at, "DROP SCHEMA is ignored", NoteKind::Gap);
    }
  }
}

void SchemaBuilder::rename(const Tree& node, Place at) {
  const std::string what = text_of(node, "renameType");
  const std::string to = text_of(node, "newname");
  const std::string of = text_of(child(node, "relation"), "relname");
  if (what == "OBJECT_FUNCTION" || what == "OBJECT_PROCEDURE" || what == "OBJECT_ROUTINE") {
    const std::string name = object_name(child(node, "object"));
    for (const FunctionText& renamed : take_functions(catalog_, child(node, "object"), false))
      catalog_.functions[to].push_back(renamed);
    for (Trigger& trigger : catalog_.triggers) {
      if (trigger.function == name) trigger.function = to;
    }
    if (!catalog_.views.empty())
      findings_.note(at, "views call functions by the names of the end", NoteKind::Gap);
    return;
  }
  if (what == "OBJECT_SEQUENCE") {
    for (Table& table : catalog_.tables) {
      for (Column& column : table.columns) {
        if (column.sequence == of) column.sequence = to;
      }
    }
    for (Sequence& sequence : catalog_.sequences) {
      if (sequence.name == of) sequence.name = to;
    }
    return;
  }
  if (what == "OBJECT_SCHEMA") return;
  if (what == "OBJECT_INDEX") {
    resolve_pending();
    return rename_index(of, to);
  }
  const auto id = catalog_.find_table(of);
  const bool is_old_name =
      what == "OBJECT_TABLE" || what == "OBJECT_COLUMN" || what == "OBJECT_VIEW";
  if (is_old_name) refuse_views_of(of, false);
  if (id && what == "OBJECT_TABLE") {
    resolve_pending();
    catalog_.tables[id->index].name = to;
    if (auto known = partitioned_.extract(of)) {
      known.key() = to;
      partitioned_.insert(std::move(known));
    }
  } else if (id && what == "OBJECT_COLUMN") {
    resolve_pending();
    Table& table = catalog_.tables[id->index];
    const auto column = find_column(table, text_of(node, "subname"));
    if (column) {
      table.columns[*column].name = to;
    } else {
      findings_.fail(at, fmt::format("'{}' has no column '{}'", of, text_of(node, "subname")));
    }
  } else if (id && what == "OBJECT_TABCONSTRAINT") {
    resolve_pending();
    auto& names = catalog_.tables[id->index].constraint_names;
    if (auto known = names.extract(text_of(node, "subname"))) {
      known.key() = to;
      names.insert(std::move(known));
    }
  } else if (what == "OBJECT_VIEW") {
    if (auto known = catalog_.views.extract(of)) {
      known.key() = to;
      catalog_.views.insert(std::move(known));
    }
  } else {
    findings_.note(at, "ALTER … RENAME is ignored", NoteKind::Gap);
  }
}

void SchemaBuilder::add_view(const Tree& node) {
  View view{.select = &child(child(node, "query"), "SelectStmt"), .names = {}, .where = where_};
  for (const Tree& name : child(node, "aliases")) view.names.push_back(string_node(name));
  View& known = catalog_.views[text_of(child(node, "view"), "relname")];
  // CREATE OR REPLACE leaves triggers and defaults.
  view.refusal = known.refusal;
  const std::string check = text_of(node, "withCheckOption");
  bool checks = !check.empty() && check != "NO_CHECK_OPTION";
  for (const Tree& option : child(node, "options"))
    checks = checks || text_of(child(option, "DefElem"), "defname") == "check_option";
  if (checks) view.refusal = "WITH CHECK OPTION";
  known = std::move(view);
}

void SchemaBuilder::add_trigger(const Tree& node, Place at) {
  constexpr std::int64_t kBefore = 2;
  constexpr std::int64_t kInstead = 64;
  constexpr std::int64_t kInsert = 4;
  constexpr std::int64_t kDelete = 8;
  constexpr std::int64_t kUpdate = 16;
  const std::string name = text_of(child(node, "relation"), "relname");
  const auto id = catalog_.find_table(name);
  if (const auto view = catalog_.views.find(name); view != catalog_.views.end())
    view->second.refusal = "an INSTEAD OF trigger";
  if (!id) {
    findings_.note(at, fmt::format("a trigger on '{}', which is no table here, is ignored", name),
                   catalog_.find_view(name) != nullptr ? NoteKind::Remark : NoteKind::Gap);
    return;
  }
  const std::int64_t events = number_of(node, "events");
  Trigger trigger{.name = text_of(node, "trigname"),
                  .table = *id,
                  .is_before = (number_of(node, "timing") & kBefore) != 0,
                  .on_insert = (events & kInsert) != 0,
                  .on_update = (events & kUpdate) != 0,
                  .on_delete = (events & kDelete) != 0,
                  .columns = {},
                  .function = last_name(child(node, "funcname")),
                  .when = nullptr,
                  .refusal = {},
                  .where = where_,
                  .place = at,
                  .is_statement = !flag_of(node, "row")};
  if (has(node, "whenClause")) trigger.when = &child(node, "whenClause");
  for (const Tree& column : child(node, "columns")) {
    if (const auto known = find_column(catalog_.table(*id), string_node(column)))
      trigger.columns.push_back(*known);
  }
  if (trigger.is_statement && trigger.when != nullptr)
    trigger.refusal = "WHEN of a trigger FOR EACH STATEMENT is not modelled";
  // The statement has its snapshot by then, and ends if the trigger has changed one of its rows.
  if (trigger.is_statement && trigger.is_before)
    trigger.refusal = "BEFORE triggers FOR EACH STATEMENT are not modelled";
  if (has(node, "transitionRels"))
    trigger.refusal = "REFERENCING NEW TABLE or OLD TABLE is not modelled";
  if ((number_of(node, "timing") & kInstead) != 0)
    trigger.refusal = "INSTEAD OF triggers are not modelled";
  if (has(node, "args")) trigger.refusal = "triggers with arguments are not modelled";
  if (flag_of(node, "deferrable")) trigger.refusal = "deferred triggers are not modelled";
  std::erase_if(catalog_.triggers, [&](const Trigger& other) {
    return other.name == trigger.name && other.table == trigger.table;
  });
  catalog_.triggers.push_back(std::move(trigger));
}

void SchemaBuilder::like_table(TableId id, const Tree& clause, Place at) {
  const auto from =
      catalog_.expect_table(text_of(child(clause, "relation"), "relname"), at, findings_);
  if (!from) return;
  resolve_pending();
  const ById<ColumnId, Column> columns = catalog_.table(*from).columns;
  for (Column column : columns) {
    if (column.is_hidden) continue;
    column.default_value.reset();
    column.is_fresh = false;
    catalog_.tables[id.index].columns.push_back(std::move(column));
  }
  if (number_of(clause, "options") != 0)
    findings_.note(at, "LIKE copies columns only: INCLUDING is ignored", NoteKind::Gap);
}

}  // namespace isoscope::sql
