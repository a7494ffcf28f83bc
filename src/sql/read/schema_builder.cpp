#include "sql/read/schema_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/read/function_builder.h"
#include "sql/read/workload_reader.h"

namespace isoscope::sql {
namespace {

constexpr std::size_t kMaxColumns = 1600;  // PostgreSQL's limit

// Changes of a table that change nothing for its rows.
bool is_remark(std::string_view change) {
  for (const std::string_view known :
       {"AT_ChangeOwner",        "AT_ClusterOn",         "AT_ValidateConstraint",
        "AT_SetStatistics",      "AT_SetStorage",        "AT_SetOptions",
        "AT_ReplicaIdentity",    "AT_SetRelOptions",     "AT_ResetRelOptions",
        "AT_SetTableSpace",      "AT_SetLogged",         "AT_SetUnLogged",
        "AT_EnableTrig",         "AT_EnableTrigAll",     "AT_EnableTrigUser",
        "AT_AttachPartition",    "AT_DropCluster",       "AT_SetCompression",
        "AT_DisableRowSecurity", "AT_NoForceRowSecurity"}) {
    if (change == known) return true;
  }
  return false;
}

// Does a query do more than look? These functions change settings and sequences alone.
bool does_more_than_look(const Tree& tree) {
  if (!tree.is_structured()) return false;
  const std::string kind = kind_of(tree);
  if (kind == "InsertStmt" || kind == "UpdateStmt" || kind == "DeleteStmt") return true;
  if (kind == "FuncCall") {
    const std::string name = last_name(child(inside(tree), "funcname"));
    constexpr std::string_view kHarmless[] = {"set_config", "setval",   "nextval",
                                              "count",      "max",      "version",
                                              "now",        "coalesce", "pg_get_serial_sequence"};
    if (std::ranges::find(kHarmless, name) == std::end(kHarmless)) return true;
  }
  return std::ranges::any_of(tree, does_more_than_look);
}

// Puts the name of a column where the CHECK of a domain says VALUE.
void name_value(Tree& tree, const std::string& column) {
  if (tree.is_object() && tree.contains("ColumnRef")) {
    Tree& fields = tree["ColumnRef"]["fields"];
    if (fields.size() == 1 && string_node(fields[0]) == "value")
      fields[0]["String"]["sval"] = column;
    return;
  }
  for (Tree& part : tree) {
    if (part.is_structured()) name_value(part, column);
  }
}

}  // namespace

void SchemaBuilder::add(const std::string& kind, const Tree& node, Place place) {
  if (kind == "CreateStmt") return add_table(node);
  if (kind == "AlterTableStmt") return alter_table(node, place);
  if (kind == "IndexStmt") return add_index(node, place);
  if (kind == "DropStmt") return drop(node, place);
  if (kind == "RenameStmt") return rename(node, place);
  if (kind == "ViewStmt") return add_view(node);
  if (kind == "CreateTrigStmt") return add_trigger(node, place);
  if (kind == "CreateSeqStmt" || kind == "AlterSeqStmt") {
    return add_sequence(node, kind == "CreateSeqStmt", place);
  }
  if (kind == "CreateEnumStmt" || kind == "AlterEnumStmt") {
    return change_enum(node, kind == "CreateEnumStmt", place);
  }
  if (kind == "CreateDomainStmt") return add_domain(node, place);
  if (kind == "AlterFunctionStmt") {
    for (const Tree& action : child(node, "actions")) {
      const std::string what = text_of(inside(action), "defname");
      if (what == "volatility" || what == "strict" || !setting_that_matters(inside(action)).empty())
        findings_.note(place, "ALTER FUNCTION is ignored", NoteKind::Gap);
    }
    return;
  }
  // What a view is made of stands in the functions that use it, which no longer know the view: a
  // rule of one may concern any call.
  const auto table_of = [&](const char* relation) -> std::optional<TableId> {
    const std::string name = text_of(child(node, relation), "relname");
    if (catalog_.find_view(name) != nullptr) return std::nullopt;
    return catalog_.find_table(name).value_or(TableId::none());
  };
  if (kind == "RuleStmt") {
    findings_.note(place, "rules are not modelled: statements do only what they say", NoteKind::Gap,
                   table_of("relation"));
    return;
  }
  if (kind == "CreatePolicyStmt") {
    findings_.note(place, "row security is not modelled", NoteKind::Gap, table_of("table"));
    return;
  }
  ignore_statement(kind, node, place);
}

// What changes rows outside of functions matters to those that begin with the rows of the file, and
// not to what is proved, which is about any rows.
void SchemaBuilder::ignore_statement(const std::string& kind, const Tree& node, Place place) {
  struct Ignored {
    std::string_view kind, what;
    NoteKind note = NoteKind::Remark;
  };
  static constexpr Ignored kIgnored[] = {
      {"CreateTableAsStmt", "CREATE TABLE AS and materialized views are not modelled"},
      {"DoStmt", "DO blocks are ignored", NoteKind::Gap},
      {"AlterDomainStmt", "ALTER DOMAIN is ignored", NoteKind::Gap},
      {"UpdateStmt", "UPDATE outside of functions is ignored", NoteKind::Free},
      {"DeleteStmt", "DELETE outside of functions is ignored", NoteKind::Free},
      {"MergeStmt", "MERGE outside of functions is ignored", NoteKind::Free},
      {"SelectStmt", "SELECT outside of functions is ignored", NoteKind::Free},
      {"CallStmt", "CALL outside of functions is ignored", NoteKind::Free},
      {"ExecuteStmt", "EXECUTE outside of functions is ignored", NoteKind::Free},
      {"CopyStmt",
       "COPY is ignored: its rows are not there; pg_dump --inserts writes them as INSERT",
       NoteKind::Free},
      {"CompositeTypeStmt", "composite types are not modelled"},
      {"TruncateStmt", "TRUNCATE is ignored", NoteKind::Free},
  };
  const bool is_harmless = (kind == "SelectStmt" && !does_more_than_look(node)) ||
                           (kind == "CopyStmt" && !flag_of(node, "is_from"));
  if (is_harmless) return;
  for (const Ignored& ignored : kIgnored) {
    if (ignored.kind == kind) findings_.note(place, std::string(ignored.what), ignored.note);
  }
}

void SchemaBuilder::note_rows(const Tree& insert, Place place) {
  const std::string name = text_of(child(insert, "relation"), "relname");
  tables_with_rows_.insert(name);
  const auto id = catalog_.find_table(name);
  for (const Trigger& trigger : catalog_.triggers) {
    if (id && trigger.table == *id && trigger.on_insert)
      findings_.note(place, passed_over(trigger.name), NoteKind::Free);
  }
}

void SchemaBuilder::change_enum(const Tree& node, bool is_new, Place place) {
  const std::string name = last_name(child(node, "typeName"));
  if (is_new) {
    DeclaredType& type = catalog_.types[name];
    type = {.type = Type::Text, .width = {.labels = std::make_shared<std::vector<std::string>>()}};
    for (const Tree& label : child(node, "vals")) type.width.labels->push_back(string_node(label));
    return;
  }
  const auto type = catalog_.types.find(name);
  if (type == catalog_.types.end() || type->second.width.labels == nullptr) return;
  // Columns of the type have the labels as well.
  std::vector<std::string>& labels = *type->second.width.labels;
  if (!has(node, "oldVal")) return labels.push_back(text_of(node, "newVal"));
  std::ranges::replace(labels, text_of(node, "oldVal"), text_of(node, "newVal"));
  findings_.note(place, "what was written before ALTER TYPE … RENAME VALUE keeps the old value",
                 NoteKind::Gap);
}

void SchemaBuilder::add_table(const Tree& node) {
  const Tree& relation = child(node, "relation");
  const std::string name = text_of(relation, "relname");
  const Place at = place(relation);
  if (catalog_.find_table(name)) {
    if (!flag_of(node, "if_not_exists"))
      findings_.fail(at, fmt::format("table '{}' is declared twice", name));
    return;
  }
  // The rows of a partition are rows of the whole table, and nothing else is said of it.
  if (has(node, "partbound")) {
    const Tree& parents = child(node, "inhRelations");
    const std::string whole = parents.empty() ? "" : text_of(inside(parents[0]), "relname");
    add_partition(whole, name, child(node, "partbound"));
    if (const auto known = partitioned_.find(whole);
        known != partitioned_.end() && has(node, "partspec"))
      partitioned_.try_emplace(name, Partitioned{.root = known->second.root, .is_part = true});
    return;
  }
  if (has(node, "inhRelations") || has(node, "ofTypename")) {
    findings_.note(at, fmt::format("table '{}' inherits from another, and is left out", name),
                   NoteKind::Gap);
    return;
  }
  const TableId id{static_cast<std::uint32_t>(catalog_.tables.size())};
  Table table;
  table.name = name;
  table.place = at;
  catalog_.tables.push_back(std::move(table));
  if (text_of(relation, "relpersistence") == "t")
    findings_.note(at, fmt::format("table '{}' is temporary: each session has its own", name),
                   NoteKind::Gap, id);
  for (const Tree& element : child(node, "tableElts")) {
    if (findings_.failed()) return;
    const std::string kind = kind_of(element);
    if (kind == "ColumnDef") {
      add_column(id, inside(element));
    } else if (kind == "Constraint") {
      pending_.push_back({id, &inside(element), ""});
    } else {
      like_table(id, inside(element), at);
    }
  }
  if (has(node, "partspec")) add_partitioned(id, node);
  for (const Tree& entry : child(child(node, "partspec"), "partParams")) {
    std::vector<std::string> names = {text_of(inside(entry), "name")};
    add_names(child(inside(entry), "expr"), names);
    for (const std::string& part : names) {
      if (const auto column = find_column(catalog_.table(id), part))
        catalog_.tables[id.index].partition_key.push_back(*column);
    }
  }
}

void SchemaBuilder::add_column(TableId id, const Tree& definition) {
  Table& table = catalog_.tables[id.index];
  Column column;
  column.name = text_of(definition, "colname");
  column.place = place(definition);
  if (table.columns.size() == kMaxColumns)
    findings_.fail(column.place,
                   fmt::format("table '{}' has more than {} columns", table.name, kMaxColumns),
                   "PostgreSQL allows no more, either");
  if (find_column(table, column.name))
    findings_.fail(column.place,
                   fmt::format("column '{}' of '{}' is declared twice", column.name, table.name));
  const DeclaredType type = catalog_.type_of(child(definition, "typeName"), where_, findings_);
  column.type = type.type;
  if (!type.is_array) column.width = type.width;
  column.width.has_rules = false;  // they are the column's own
  column.is_fresh = type.is_fresh;
  column.not_null = type.is_fresh;
  if (type.is_fresh) column.sequence = own_sequence(table, column);
  if (has(definition, "collClause"))
    findings_.note(column.place, "COLLATE is ignored", NoteKind::Gap);
  if (type.is_array || type.is_record) {
    column.type = Type::Text;
    findings_.note(column.place,
                   fmt::format("column '{}' of '{}' is treated as a text", column.name, table.name),
                   NoteKind::Gap);
  }
  note_taken_sequence(column);
  add_domain_constraints(id, last_name(child(child(definition, "typeName"), "names")), column);
  for (const Tree& entry : child(definition, "constraints")) {
    const Tree& constraint = inside(entry);
    const std::string kind = text_of(constraint, "contype");
    if (kind == "CONSTR_NOTNULL") column.not_null = true;
    const Tree& value = child(constraint, "raw_expr");
    if (kind == "CONSTR_IDENTITY" || (kind == "CONSTR_DEFAULT" && is_nextval(value))) {
      column.is_fresh = true;
      column.not_null = true;
      keep_whole(column);
      column.sequence =
          kind == "CONSTR_IDENTITY" ? own_sequence(table, column) : sequence_of(value);
      if (kind == "CONSTR_IDENTITY") {
        note_taken_sequence(column);
        column.is_always = text_of(constraint, "generated_when") == "a";
        const SequenceId own = sequence_id(catalog_.sequences, column.sequence);
        set_options(catalog_.sequences[own.index], child(constraint, "options"), true, findings_,
                    column.place);
      }
      continue;
    }
    pending_.push_back({id, &constraint, column.name});
  }
  table.columns.push_back(std::move(column));
}

void SchemaBuilder::add_sequence(const Tree& node, bool is_new, Place place) {
  const Tree& named = child(node, "sequence");
  const std::string name = text_of(named, "relname");
  // Names of schemas do not count: two of one name would be one.
  const std::string schema = text_of(named, "schemaname");
  if (is_new && sequence_schemas_.try_emplace(name, schema).first->second != schema)
    findings_.note(place, fmt::format("sequences '{}' of two schemas are treated as one", name),
                   NoteKind::Gap);
  const SequenceId sequence = sequence_id(catalog_.sequences, name);
  set_options(catalog_.sequences[sequence.index], child(node, "options"), is_new, findings_, place);
}

// serial and IDENTITY make a sequence of their own, under another name if theirs is taken.
void SchemaBuilder::note_taken_sequence(const Column& column) {
  if (column.is_fresh && sequence_schemas_.contains(column.sequence))
    findings_.note(column.place,
                   fmt::format("the sequence of '{}' and '{}' are treated as one", column.name,
                               column.sequence),
                   NoteKind::Gap);
}

void SchemaBuilder::add_domain(const Tree& node, Place place) {
  const std::string name = last_name(child(node, "domainname"));
  if (has(node, "collClause")) findings_.note(place, "COLLATE is ignored", NoteKind::Gap);
  catalog_.types[name] = catalog_.type_of(child(node, "typeName"), where_, findings_);
  domains_[name] = {.base = last_name(child(child(node, "typeName"), "names")),
                    .constraints = &child(node, "constraints")};
  if (!has(node, "constraints")) return;
  catalog_.types[name].width.has_rules = true;
  findings_.note(place, "constraints of domains are those of columns, not of variables",
                 NoteKind::Free);
}

void SchemaBuilder::add_domain_constraints(TableId id, const std::string& domain, Column& column) {
  const auto found = domains_.find(domain);
  if (found == domains_.end()) return;
  // A default of the domain itself comes later, and counts.
  if (found->second.base != domain) add_domain_constraints(id, found->second.base, column);
  for (const Tree& entry : *found->second.constraints) {
    const Tree& constraint = inside(entry);
    const std::string kind = text_of(constraint, "contype");
    if (kind == "CONSTR_NOTNULL") column.not_null = true;
    if (kind == "CONSTR_DEFAULT" && is_nextval(child(constraint, "raw_expr"))) {
      findings_.note(
          column.place,
          fmt::format("the sequence that is the default of domain '{}' is not modelled", domain),
          NoteKind::Gap);
    } else if (kind == "CONSTR_DEFAULT") {
      pending_.push_back({id, &constraint, column.name});
    }
    if (kind != "CONSTR_CHECK") continue;
    own_trees_.push_back(constraint);
    name_value(own_trees_.back(), column.name);
    pending_.push_back({id, &own_trees_.back(), column.name});
  }
}

void SchemaBuilder::alter_table(const Tree& node, Place at) {
  const std::string name = text_of(child(node, "relation"), "relname");
  const std::string object = text_of(node, "objtype");
  if (const auto view = catalog_.views.find(name); view != catalog_.views.end()) {
    for (const Tree& command : child(node, "cmds")) {
      const std::string kind = text_of(inside(command), "subtype");
      if (kind == "AT_ColumnDefault") view->second.refusal = "defaults of its own";
      if (kind == "AT_SetRelOptions") view->second.refusal = "options that ALTER VIEW sets";
    }
  }
  if (object != "OBJECT_TABLE") return;
  note_partitions(node, at);
  // ALTER TABLE … OWNER TO is also said of sequences and views, which are no tables to us.
  const Tree& commands = child(node, "cmds");
  const bool says_nothing = std::all_of(commands.begin(), commands.end(), [](const Tree& entry) {
    return is_remark(text_of(inside(entry), "subtype"));
  });
  if (says_nothing || (flag_of(node, "missing_ok") && !catalog_.find_table(name))) return;
  if (catalog_.find_view(name) != nullptr) return;
  const auto id = catalog_.find_table(name);
  if (!id) {
    findings_.note(place(child(node, "relation")),
                   fmt::format("a change of '{}', which is not in the file, is ignored", name),
                   NoteKind::Gap);
    return;
  }
  for (const Tree& entry : child(node, "cmds")) {
    const Tree& command = inside(entry);
    const std::string kind = text_of(command, "subtype");
    if (kind == "AT_AddConstraint") {
      pending_.push_back({*id, &inside(child(command, "def")), ""});
    } else if (kind == "AT_AddColumn") {
      refuse_views_of(name, true);
      add_column(*id, inside(child(command, "def")));
    } else if (!is_remark(kind)) {
      alter_column(*id, kind, command, at);
    }
  }
}

// What ALTER TABLE says of a partitioned table alone, and of tables that become partitions.
void SchemaBuilder::note_partitions(const Tree& node, Place at) {
  const Tree& relation = child(node, "relation");
  const auto id = catalog_.find_table(text_of(relation, "relname"));
  const bool is_alone =
      !flag_of(relation, "inh") && id && !catalog_.table(*id).partition_key.empty();
  for (const Tree& entry : child(node, "cmds")) {
    const std::string kind = text_of(inside(entry), "subtype");
    const std::string partition =
        text_of(child(child(child(inside(entry), "def"), "PartitionCmd"), "name"), "relname");
    const Tree& command = child(child(inside(entry), "def"), "PartitionCmd");
    if (kind == "AT_AttachPartition")
      add_partition(text_of(relation, "relname"), partition, child(command, "bound"));
    if (kind == "AT_DetachPartition") drop_partition(partition);
    if (kind == "AT_AttachPartition" && catalog_.find_table(partition))
      findings_.note(at, fmt::format("the rows of '{}' are not those of its partition", partition),
                     NoteKind::Gap);
    if (kind == "AT_AddConstraint" && is_alone)
      findings_.note(at, "a constraint of ONLY a partitioned table is taken to hold in all of it",
                     NoteKind::Gap);
  }
}

std::string SchemaBuilder::index_name(const Tree& node) const {
  std::string name = text_of(child(node, "relation"), "relname");
  for (const char* part : {"indexParams", "indexIncludingParams"}) {
    for (const Tree& entry : child(node, part)) {
      const std::string column = text_of(inside(entry), "name");
      name += "_" + (column.empty() ? "expr" : column);
    }
  }
  name += "_idx";
  std::string free = name;
  for (int number = 1; indexes_.contains(free); ++number) free = fmt::format("{}{}", name, number);
  return free;
}

void SchemaBuilder::add_index(const Tree& node, Place at) {
  std::string name = text_of(node, "idxname");
  if (name.empty()) name = index_name(node);
  // The name counts, whatever the index of that name is.
  if (flag_of(node, "if_not_exists") && indexes_.contains(name)) return;
  indexes_[name] =
      catalog_.find_table(text_of(child(node, "relation"), "relname")).value_or(TableId::none());
  if (flag_of(node, "unique")) add_unique_index(node, name, at);
}

void SchemaBuilder::add_unique_index(const Tree& node, const std::string& name, Place at) {
  const Tree& relation = child(node, "relation");
  const auto id = catalog_.expect_table(text_of(relation, "relname"), place(relation), findings_);
  if (!id) return;
  // It holds only once every partition has one that is attached to it.
  if (!flag_of(relation, "inh") && !catalog_.table(*id).partition_key.empty()) {
    findings_.note(at, fmt::format("the index '{}' of ONLY a partitioned table is ignored", name),
                   NoteKind::Gap, *id);
    return;
  }
  std::vector<ColumnId> key;
  bool is_plain = !has(node, "whereClause");
  for (const Tree& entry : child(node, "indexParams")) {
    const auto column = find_column(catalog_.table(*id), text_of(inside(entry), "name"));
    if (has(inside(entry), "collation"))
      findings_.note(at, "COLLATE of an index is ignored", NoteKind::Gap);
    if (column) {
      key.push_back(*column);
    } else {
      is_plain = false;
    }
  }
  if (is_plain && flag_of(node, "nulls_not_distinct")) {
    add_key_with_nulls(*id, key, name, at);
  } else if (is_plain) {
    unique_indexes_[name] = {*id, key};
    catalog_.tables[id->index].constraint_names[name] = key;
    catalog_.tables[id->index].unique.push_back(std::move(key));
  } else {
    add_strange_index(*id, node, name, at);
  }
}

}  // namespace isoscope::sql
