#include "record/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace isoscope::record {
namespace {

constexpr const char* kTables = R"(
SELECT c.oid, n.nspname, c.relname, c.relkind, c.relpersistence, c.relrowsecurity,
  EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal),
  EXISTS (SELECT 1 FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent)),
  EXISTS (SELECT 1 FROM pg_rewrite r WHERE r.ev_class = c.oid AND r.rulename <> '_RETURN'),
  EXISTS (SELECT 1 FROM pg_index x WHERE x.indrelid = c.oid AND NOT x.indisprimary
          AND (x.indisexclusion OR (x.indisunique AND
               (x.indpred IS NOT NULL OR x.indexprs IS NOT NULL OR NOT x.indimmediate
                OR to_jsonb(x)->>'indnullsnotdistinct' = 'true')))),
  (SELECT rn.nspname || '.' || r.relname FROM pg_class r JOIN pg_namespace rn
   ON rn.oid = r.relnamespace WHERE c.relispartition AND r.oid = pg_partition_root(c.oid)),
  c.relkind = 'p' AND NOT c.relispartition AND NOT EXISTS (SELECT 1 FROM pg_class l
    WHERE l.oid IN (SELECT relid FROM pg_partition_tree(c.oid)) AND (l.relkind NOT IN ('r', 'p')
      OR l.relpersistence <> 'p' OR EXISTS (SELECT 1 FROM pg_trigger g
        WHERE g.tgrelid = l.oid AND NOT g.tgisinternal))),
  EXISTS (SELECT 1 FROM pg_depend d JOIN pg_proc p ON p.oid = d.refobjid
          JOIN pg_language l ON l.oid = p.prolang AND l.lanname NOT IN ('c', 'internal')
    WHERE d.refclassid = 'pg_proc'::regclass AND ((d.classid = 'pg_attrdef'::regclass
      AND d.objid IN (SELECT oid FROM pg_attrdef WHERE adrelid = c.oid))
      OR (d.classid = 'pg_constraint'::regclass AND d.objid IN
        (SELECT oid FROM pg_constraint WHERE conrelid = c.oid OR contypid IN
          (SELECT atttypid FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0))))),
  EXISTS (SELECT 1 FROM pg_index x WHERE x.indrelid = c.oid AND x.indisprimary
          AND NOT x.indimmediate),
  c.relfilenode
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
  AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY c.oid)";
constexpr const char* kColumns = R"(
SELECT a.attrelid, a.attname, a.attnum, a.atttypid = 'boolean'::regtype,
  a.atttypid IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype),
  format_type(a.atttypid, NULL) ~ 'time|date|interval|tsrange|tstz|tsmulti'
    OR (SELECT y.typtype IN ('c', 'd') FROM pg_type y WHERE y.oid = a.atttypid),
  a.attgenerated <> '', NOT (a.atttypid IN ('smallint'::regtype, 'integer'::regtype,
      'bigint'::regtype, 'uuid'::regtype, 'boolean'::regtype, 'date'::regtype, 'oid'::regtype,
      'timestamp'::regtype, 'timestamptz'::regtype, 'bytea'::regtype, 'inet'::regtype,
      'cidr'::regtype, 'name'::regtype, '"char"'::regtype)
    OR (a.atttypid IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype) AND NOT EXISTS
      (SELECT 1 FROM pg_collation l WHERE l.oid = a.attcollation AND NOT l.collisdeterministic))
    OR (a.atttypid = 'numeric'::regtype AND a.atttypmod <> -1)
    OR (SELECT y.typtype = 'e' FROM pg_type y WHERE y.oid = a.atttypid))
  AND (EXISTS (SELECT 1 FROM pg_index x WHERE x.indrelid = a.attrelid AND x.indisunique
               AND a.attnum = ANY (x.indkey::int[]))
    OR EXISTS (SELECT 1 FROM pg_constraint f WHERE f.conrelid = a.attrelid AND f.contype = 'f'
               AND a.attnum = ANY (f.conkey)))
FROM pg_attribute a WHERE a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum)";
constexpr const char* kKeys = R"(
SELECT x.indrelid, a.attname FROM pg_index x
CROSS JOIN LATERAL unnest(x.indkey::int[]) WITH ORDINALITY AS k(attnum, place)
JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.attnum
WHERE x.indisprimary ORDER BY x.indrelid, k.place)";
constexpr const char* kUniqueKeys = R"(
SELECT x.indrelid, x.indexrelid, a.attname FROM pg_index x
CROSS JOIN LATERAL unnest(x.indkey::int[]) WITH ORDINALITY AS k(attnum, place)
JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.attnum
WHERE x.indisunique AND NOT x.indisprimary AND x.indpred IS NULL AND x.indexprs IS NULL
  AND k.place <= x.indnkeyatts ORDER BY x.indexrelid, k.place)";
constexpr const char* kForeignKeys = R"(
SELECT f.oid, f.conrelid, f.confrelid, a.attname, b.attname, f.condeferred FROM pg_constraint f
CROSS JOIN LATERAL unnest(f.conkey, f.confkey) WITH ORDINALITY AS k(child, parent, place)
JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.child
JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = k.parent
WHERE f.contype = 'f' ORDER BY f.oid, k.place)";
constexpr const char* kUserFunctions = R"(
SELECT DISTINCT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema'))";
constexpr const char* kOwnFunctions = R"(
SELECT DISTINCT p.proname FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace)";
// Some of the server's own functions run queries.
// length() is one of them only for bytes in a named encoding.
constexpr const char* kUnstable = R"(
SELECT DISTINCT p.proname FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace
AND p.provolatile <> 'i' AND p.proname <> 'length')";
constexpr const char* kQuerying = R"(
SELECT DISTINCT p.proname FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace
AND (p.proname ~ '_to_xml|^ts_stat|^ts_rewrite|^lo_|^loread|^lowrite|^pg_read_|^pg_logical_'))";

// Operators by name; casts and domains that are called by the name of the type, or without a name.
constexpr const char* kImplied = R"(
WITH f AS (SELECT p.oid FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
           WHERE l.lanname NOT IN ('c', 'internal')
           AND p.pronamespace <> 'pg_catalog'::regnamespace)
SELECT 'operator', o.oprname, o.oprname IN ('=', '<>', '<', '>', '<=', '>=')
FROM pg_operator o WHERE o.oprcode IN (SELECT oid FROM f)
UNION ALL SELECT 'type', y.typname, c.castcontext <> 'e' FROM pg_cast c
  JOIN pg_type y ON y.oid = c.casttarget WHERE c.castfunc IN (SELECT oid FROM f)
UNION ALL SELECT 'type', y.typname, false FROM pg_constraint k JOIN pg_type y ON y.oid = k.contypid
  JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = k.oid
    AND d.refclassid = 'pg_proc'::regclass WHERE d.refobjid IN (SELECT oid FROM f))";

std::string text(const Cell& cell) { return cell.value_or(""); }
bool is_true(const Cell& cell) { return cell == "t"; }

// Names of keys: `s.t` must be a table of one schema only, and a bracket that of a row.
bool has_plain_letters(const std::string& name) {
  return name.find_first_of(".[]") == std::string::npos;
}

Table table_of(const Row& row) {
  Table table{.schema = text(row[1]), .name = text(row[2])};
  table.storage = text(row[14]);
  const std::string kind = text(row[3]);
  if (kind == "v" || kind == "m") table.no_reads = "a view";
  if (kind == "f") table.no_reads = "a foreign table";
  // A partitioned table is one table, and its rows are in its partitions.
  table.is_partitioned = is_true(row[11]);
  if (!table.is_partitioned && (kind == "p" || is_true(row[7])))
    table.no_reads = row[10] ? "a partition that is named itself" : "an inherited table";
  if (row[4] == "t") table.no_reads = "a temporary table";
  if (row[4] == "u") table.no_reads = "an unlogged table";
  if (is_true(row[5])) table.no_reads = "a table with row security";
  if (is_true(row[8])) table.no_reads = "a table with rules";
  if (is_true(row[6])) table.no_writes = "a table with triggers";
  if (is_true(row[9]) || is_true(row[13]))
    table.no_writes = "a table with a unique index on expressions or some rows, or deferrable";
  if (is_true(row[12])) table.no_writes = "a table with a default or a check that calls a function";
  if (!has_plain_letters(table.schema) || !has_plain_letters(table.name))
    table.no_reads = "a table with a dot or a bracket in its name";
  return table;
}

std::string definition_of(const Table& table) {
  std::string out =
      fmt::format("{}|{}|{}|{}|{}", fmt::join(table.columns, ","), fmt::join(table.key, ","),
                  fmt::join(table.generated, ","), table.no_reads, table.no_writes);
  for (const auto& columns : table.unique_keys) out += fmt::format("|u{}", fmt::join(columns, ","));
  for (const ForeignKey& key : table.foreign_keys)
    out += fmt::format("|f{} {} {} {}", key.parent, fmt::join(key.columns, ","), key.is_primary,
                       key.is_deferred);
  for (const ChildTable& child : table.children)
    out += fmt::format("|c{} {} {} {}", child.name, fmt::join(child.columns, ","), child.is_primary,
                       child.is_deferred);
  return out;
}

}  // namespace

std::size_t Table::column(const std::string& column_name) const {
  const auto found = std::ranges::find(columns, column_name);
  return found == columns.end() ? std::string::npos
                                : static_cast<std::size_t>(found - columns.begin());
}

void Catalog::settle_in(const std::string& schema) {
  home = schema;
  for (auto& [name, table] : tables) table.is_at_home = !home.empty() && table.schema == home;
}

bool Catalog::has_table(const std::string& name) const {
  return std::ranges::any_of(tables, [&](const auto& each) { return each.second.name == name; });
}

const Table* Catalog::find(const std::string& schema, const std::string& name) const {
  if (!schema.empty()) {
    const auto found = tables.find(schema + "." + name);
    return found == tables.end() ? nullptr : &found->second;
  }
  if (const auto own = tables.find(home + "." + name); !home.empty() && own != tables.end())
    return &own->second;
  const Table* only = nullptr;
  for (const auto& [full_name, table] : tables) {
    if (table.name != name) continue;
    if (only != nullptr) return nullptr;
    only = &table;
  }
  return only;
}

Result<Catalog> read_catalog(SqlConnection& sql) {
  std::vector<std::vector<Row>> answers;
  for (const char* query : {kTables, kColumns, kKeys, kForeignKeys, kUserFunctions, kUnstable,
                            kQuerying, kUniqueKeys, kImplied, kOwnFunctions}) {
    auto rows = sql.query(query);
    if (!rows) return rows.error();
    answers.push_back(std::move(*rows));
  }
  Catalog catalog;
  std::map<std::string, Table*> by_oid;
  for (const Row& row : answers[0]) {
    Table table = table_of(row);
    const std::string name = table.full_name();
    if (row[10]) catalog.partitions[name] = *row[10];
    by_oid[text(row[0])] = &(catalog.tables[name] = std::move(table));
  }
  for (const Row& row : answers[1]) {
    const auto table = by_oid.find(text(row[0]));
    if (table == by_oid.end()) continue;
    if (is_true(row[3])) table->second->booleans.insert(table->second->columns.size());
    if (is_true(row[4])) table->second->integers.insert(table->second->columns.size());
    if (is_true(row[5])) table->second->has_times = true;
    if (is_true(row[6])) table->second->generated.insert(table->second->columns.size());
    if (is_true(row[7])) table->second->loose.insert(table->second->columns.size());
    if (text(row[1]).find_first_of("[]") != std::string::npos)
      table->second->no_reads = "a column with a bracket in its name";
    table->second->columns.push_back(text(row[1]));
  }
  for (const Row& row : answers[2]) {
    const auto table = by_oid.find(text(row[0]));
    if (table == by_oid.end()) continue;
    table->second->key.push_back(table->second->column(text(row[1])));
    table->second->key_names.insert(text(row[1]));
  }
  for (auto& [name, table] : catalog.tables) {
    if (table.key.empty() && table.no_reads.empty())
      table.no_reads = "a table without a primary key";
  }
  std::string last;
  std::map<std::string, std::vector<std::string>> parents;
  for (const Row& row : answers[3]) {
    const auto child = by_oid.find(text(row[1]));
    const auto parent = by_oid.find(text(row[2]));
    if (child == by_oid.end() || parent == by_oid.end()) continue;
    std::vector<ForeignKey>& keys = child->second->foreign_keys;
    if (text(row[0]) != last)
      keys.push_back({parent->second->full_name(), {}, true, is_true(row[5])});
    last = text(row[0]);
    ForeignKey& key = keys.back();
    const std::size_t place = key.columns.size();
    key.columns.push_back(child->second->column(text(row[3])));
    key.is_primary &= place < parent->second->key.size() &&
                      parent->second->key[place] == parent->second->column(text(row[4]));
  }
  for (auto& [name, table] : catalog.tables) {
    for (const ForeignKey& key : table.foreign_keys)
      catalog.tables[key.parent].children.push_back(
          {name, key.columns, key.is_primary, key.is_deferred});
  }
  last.clear();
  for (const Row& row : answers[7]) {
    const auto table = by_oid.find(text(row[0]));
    if (table == by_oid.end()) continue;
    auto& keys = table->second->unique_keys;
    if (text(row[1]) != last) keys.emplace_back();
    last = text(row[1]);
    keys.back().push_back(table->second->column(text(row[2])));
  }
  for (const Row& row : answers[4]) catalog.user_functions.insert(text(row[0]));
  for (const Row& row : answers[6]) catalog.user_functions.insert(text(row[0]));
  for (const Row& row : answers[5]) catalog.unstable_functions.insert(text(row[0]));
  for (const Row& row : answers[9]) catalog.own_functions.insert(text(row[0]));
  for (const Row& row : answers[8]) {
    (row[0] == "operator" ? catalog.user_operators : catalog.user_casts).insert(text(row[1]));
    catalog.has_implicit_calls |= is_true(row[2]);
  }
  for (auto& [name, table] : catalog.tables) table.definition = definition_of(table);
  return catalog;
}

}  // namespace isoscope::record
