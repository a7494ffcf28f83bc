#include "record/appender.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>

#include "record/words.h"
#include "support/spelling.h"

namespace isoscope::record {
namespace {

// A standby has no end of the log, and a server without counters cannot say what it missed.
constexpr const char* kAbilities = R"(
SELECT pg_is_in_recovery(), current_setting('track_counts'), getdatabaseencoding(),
  (SELECT string_agg(f.name, ', ') FROM unnest(ARRAY['pg_current_snapshot()',
     'pg_current_xact_id_if_assigned()', 'pg_current_wal_insert_lsn()', 'current_setting(text)',
     'convert_to(text, name)', 'encode(bytea, text)']) f(name)
   WHERE NOT has_function_privilege('public', 'pg_catalog.' || f.name, 'EXECUTE')))";
constexpr const char* kReadable = R"(
SELECT r.rolname, n.nspname || '.' || c.relname FROM pg_roles r CROSS JOIN pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE r.rolcanlogin AND c.relkind IN ('r', 'p')
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
  AND has_table_privilege(r.oid, c.oid, 'SELECT')
  AND NOT EXISTS (SELECT 1 FROM pg_db_role_setting s CROSS JOIN unnest(s.setconfig) u(setting)
    WHERE s.setrole IN (0, r.oid) AND (u.setting ILIKE 'role=%'
      OR u.setting ILIKE 'session_authorization=%')))";
// Types that are printed in the same way whatever a client has set.
constexpr const char* kStates = R"(
SELECT c.oid, n.nspname || '.' || c.relname, pg_stat_get_tuples_inserted(c.oid)
    + pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid),
  pg_relation_filenode(c.oid), NOT EXISTS (SELECT 1 FROM pg_attribute a
    JOIN pg_type y ON y.oid = a.atttypid WHERE a.attrelid = c.oid AND a.attnum > 0
    AND NOT a.attisdropped AND y.typtype <> 'e' AND a.atttypid NOT IN ('int2'::regtype,
      'int4'::regtype, 'int8'::regtype, 'text'::regtype, 'varchar'::regtype, 'bpchar'::regtype,
      'bool'::regtype, 'uuid'::regtype, 'numeric'::regtype, 'json'::regtype, 'jsonb'::regtype,
      '"char"'::regtype, 'name'::regtype, 'oid'::regtype, 'inet'::regtype, 'cidr'::regtype)), current_setting('lc_monetary')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND c.relpersistence = 'p'
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast'))";

bool has_any(const std::string& text, std::initializer_list<const char*> words) {
  return std::ranges::any_of(
      words, [&](const char* word) { return text.find(word) != std::string::npos; });
}

}  // namespace

Result<Appender> Appender::open(SqlConnection& sql) {
  auto abilities = sql.query(kAbilities);
  if (!abilities) return abilities.error();
  const Row& row = abilities->at(0);
  if (row[0] == "t") return Error{.what = "the server is a standby"};
  if (row[1] != "on") return Error{.what = "the server does not count rows (track_counts)"};
  if (row[2] != "UTF8") return Error{.what = "the encoding of the database is not UTF8"};
  if (row[3]) return Error{.what = "EXECUTE is not granted to PUBLIC on " + *row[3]};
  auto catalog = read_catalog(sql);
  if (!catalog) return catalog.error();
  auto rights = sql.query(kReadable);
  if (!rights) return rights.error();
  Readable readable;
  for (const Row& right : *rights) readable.emplace(right[0].value_or(""), right[1].value_or(""));
  auto start = states(sql);
  if (!start) return start.error();
  std::random_device random;
  return of_parts(fmt::format("isoscope:{:08x}{:08x}:", random(), random()), std::move(*catalog),
                  std::move(readable), std::move(*start));
}

Appender Appender::of_parts(std::string mark, Catalog catalog, Readable readable,
                            TableStates start) {
  Appender appender;
  appender.mark_ = std::move(mark);
  appender.catalog_ = std::move(catalog);
  appender.readable_ = std::move(readable);
  appender.start_ = std::move(start);
  return appender;
}

Result<TableStates> Appender::states(SqlConnection& sql) {
  auto rows = sql.query(kStates);
  if (!rows) return rows.error();
  TableStates states;
  for (const Row& row : *rows) {
    TableState& state = states[row[0].value_or("")];
    state.name = row[1].value_or("");
    const std::string writes = row[2].value_or("0");
    std::from_chars(writes.data(), writes.data() + writes.size(), state.writes);
    state.file = row[3].value_or("");
    state.looks_the_same = row[4] == "t";
    state.money = row[5].value_or("");
  }
  return states;
}

bool Appender::may_append(const Appending& appending, const std::string& user,
                          bool has_own_role) const {
  if (appending.splices.empty()) return false;
  if (!appending.returns) return true;
  if (is_closed_ || has_own_role) return false;
  const Table* table = catalog_.find(appending.schema, appending.table);
  return table != nullptr && table->no_reads.empty() && !closed_.contains(table->full_name()) &&
         readable_.contains({user, table->full_name()});
}

void Appender::saw(const StatementText& statement) {
  if (statement.kind != StatementKind::Other && statement.kind != StatementKind::Setting &&
      statement.kind != StatementKind::Call)
    return;
  const std::string text = lower_case(statement.text);
  if (has_any(text, {"revoke"})) is_closed_ = true;
  if (statement.kind == StatementKind::Setting) return;
  if (has_any(text, {"owned", " role", " user", "schema"})) is_closed_ = true;
  const NamesOf names(statement.text);
  for (const auto& [name, table] : catalog_.tables) {
    // DO has a text within its text.
    const bool is_named = statement.kind == StatementKind::Call
                              ? text.find(lower_case(table.name)) != std::string::npos
                              : names.contains(table.name);
    if (is_named) closed_.insert(name);
  }
}

bool Appender::may_change_role(const StatementText& statement) {
  const std::string text = lower_case(statement.text);
  if (has_any(text, {"set_config"})) return true;
  switch (statement.kind) {
    case StatementKind::Call:
    case StatementKind::Setting:
    case StatementKind::SetSession:
    case StatementKind::SetTransaction:
    case StatementKind::Other: return has_any(text, {"role", "authorization"});
    case StatementKind::Begin:
    case StatementKind::Commit:
    case StatementKind::Rollback:
    case StatementKind::Savepoint:
    case StatementKind::Release:
    case StatementKind::RollbackTo:
    case StatementKind::TwoPhase:
    case StatementKind::Select:
    case StatementKind::Insert:
    case StatementKind::Update:
    case StatementKind::Delete:
    case StatementKind::Rows: return false;
  }
  return false;
}

}  // namespace isoscope::record
