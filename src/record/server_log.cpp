#include "record/server_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <random>

namespace isoscope::record {

Result<void> ServerLog::create_slot() {
  auto rights = sql_.query(
      "SELECT current_setting('wal_level'), rolsuper OR rolreplication FROM pg_roles "
      "WHERE rolname = current_user");
  if (!rights) return rights.error();
  if (rights->empty() || (*rights)[0][0] != "logical")
    return Error{.what = "reads and writes are not recorded: the server runs with wal_level = " +
                         (rights->empty() ? std::string("?") : (*rights)[0][0].value_or("?")),
                 .hint = "start it with wal_level = logical"};
  if ((*rights)[0][1] != "t")
    return Error{.what = "reads and writes are not recorded: the role of --dsn may not replicate",
                 .hint = "ALTER ROLE … REPLICATION"};
  // Settings decide how values look as text: ours are the same for copies and log.
  for (const char* setting :
       {"SET synchronous_commit = on", "SET lock_timeout = '20s'", "SET statement_timeout = 0",
        "SET extra_float_digits = 3", "SET DateStyle = 'ISO, YMD'", "SET TimeZone = 'UTC'",
        "SET client_encoding = 'UTF8'", "SET bytea_output = 'hex'",
        "SET IntervalStyle = 'postgres'"}) {
    if (auto done = sql_.query(setting); !done) return done.error();
  }
  std::random_device random;
  slot_ = fmt::format("isoscope_{}_{:08x}", ::getpid(), random());
  auto made = sql_.query(
      fmt::format("SELECT pg_create_logical_replication_slot('{}', 'test_decoding', true)", slot_));
  if (!made)
    return Error{.what = fmt::format("reads and writes are not recorded: {}", made.error().what),
                 .hint = "record needs a free replication slot (max_replication_slots)"};
  return {};
}

Result<void> ServerLog::copy_tables() {
  if (auto begun = sql_.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); !begun)
    return begun.error();
  auto snapshot = sql_.query("SELECT pg_current_snapshot()");
  if (!snapshot) return snapshot.error();
  const auto start = Snapshot::parse((*snapshot)[0][0].value_or(""));
  if (!start) return Error{.what = "the server's snapshot cannot be read"};
  start_ = *start;
  auto catalog = read_catalog(sql_);
  if (!catalog) return catalog.error();
  for (const auto& [name, table] : catalog->tables) {
    if (!table.no_reads.empty()) continue;
    std::string columns;
    for (const std::string& column : table.columns)
      columns += (columns.empty() ? "" : ", ") + quoted_name(column);
    auto rows =
        sql_.query(fmt::format("SELECT {} FROM ONLY {}.{} LIMIT {}", columns,
                               quoted_name(table.schema), quoted_name(table.name), kMostRows + 1));
    if (!rows) return rows.error();
    TableCopy& copy = copies_[name];
    copy.columns = table.columns;
    copy.rows = std::move(*rows);
    copy.is_cut = copy.rows.size() > kMostRows;
    // The log prints booleans as words.
    for (const std::size_t column : table.booleans) {
      for (Row& row : copy.rows) {
        if (row[column]) row[column] = row[column] == "t" ? "true" : "false";
      }
    }
  }
  auto ended = sql_.query("COMMIT");
  return ended ? Result<void>() : ended.error();
}

Result<ServerLog> ServerLog::open(const std::string& dsn) {
  auto sql = SqlConnection::open(dsn);
  if (!sql) return sql.error();
  ServerLog log(std::move(*sql));
  if (auto made = log.create_slot(); !made) return made.error();
  if (auto copied = log.copy_tables(); !copied) return copied.error();
  return log;
}

Result<DecodedLog> ServerLog::read() {
  // Only what is on the disk can be decoded: the commit of a message of ours puts it there.
  if (auto flushed =
          sql_.query("SELECT pg_logical_emit_message(true, 'isoscope-end', 'end of the run')");
      !flushed)
    return flushed.error();
  auto rows = sql_.query(fmt::format(
      "SELECT lsn, xid, data FROM pg_logical_slot_get_changes('{}', NULL, NULL)", slot_));
  if (!rows) return rows.error();
  return read_decoded(*rows, start_.xmax);
}

}  // namespace isoscope::record
