#include "record/server_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <random>

namespace isoscope::record {

std::vector<Cell> copied_cells(std::string_view line, const std::vector<std::size_t>& wanted,
                               std::size_t columns) {
  std::vector<Cell> cells(columns);
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t end = std::min(line.find('\t'), line.size());
    const std::string_view field = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    const bool is_wanted = wanted.empty() || std::ranges::find(wanted, column) != wanted.end();
    if (is_wanted && field != "\\N") cells[column] = unescaped_copy(field);
  }
  return cells;
}

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
  if (auto set = settle(); !set) return set.error();
  std::random_device random;
  slot_ = fmt::format("isoscope_{}_{:08x}", ::getpid(), random());
  auto made = sql_.query(
      fmt::format("SELECT pg_create_logical_replication_slot('{}', 'test_decoding', true)", slot_));
  if (!made)
    return Error{.what = fmt::format("reads and writes are not recorded: {}", made.error().what),
                 .hint = "record needs a free replication slot (max_replication_slots)"};
  return {};
}

// Settings decide how values look as text: ours are the same for copies and log.
Result<void> ServerLog::settle() {
  for (const char* setting :
       {"SET synchronous_commit = on", "SET lock_timeout = '20s'", "SET statement_timeout = 0",
        "SET extra_float_digits = 3", "SET DateStyle = 'ISO, MDY'", "SET TimeZone = 'UTC'",
        "SET client_encoding = 'UTF8'", "SET bytea_output = 'hex'",
        "SET IntervalStyle = 'postgres'"}) {
    if (auto done = sql_.query(setting); !done) return done.error();
  }
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
  reader_.emplace(start_.xmax);
  auto catalog = read_catalog(sql_);
  if (!catalog) return catalog.error();
  for (const auto& [name, table] : catalog->tables) {
    if (!table.no_reads.empty()) continue;
    std::string columns;
    for (const std::string& column : table.columns)
      columns += (columns.empty() ? "" : ", ") + quoted_name(column);
    TableCopy& copy = copies_[name];
    copy.columns = table.columns;
    copy.storage = table.storage;
    copy.definition = table.definition;
    auto rows =
        sql_.copy_out(fmt::format("COPY (SELECT {} FROM {}{}.{} LIMIT {}) TO STDOUT", columns,
                                  table.is_partitioned ? "" : "ONLY ", quoted_name(table.schema),
                                  quoted_name(table.name), kMostRows + 1),
                      [&](std::string_view line) { copy.lines += line; });
    if (!rows) return rows.error();
    copy.is_cut = *rows > kMostRows;
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

Result<ServerLog> ServerLog::open_unlogged(const std::string& dsn) {
  auto sql = SqlConnection::open(dsn);
  if (!sql) return sql.error();
  ServerLog log(std::move(*sql));
  if (auto set = log.settle(); !set) return set.error();
  if (auto copied = log.copy_tables(); !copied) return copied.error();
  return log;
}

Result<ServerLog> ServerLog::of_parts(const std::string& dsn, const Snapshot& start,
                                      std::map<std::string, TableCopy> copies) {
  auto sql = SqlConnection::open(dsn);
  if (!sql) return sql.error();
  ServerLog log(std::move(*sql));
  if (auto set = log.settle(); !set) return set.error();
  log.start_ = start;
  log.copies_ = std::move(copies);
  return log;
}

Result<void> ServerLog::pull(const Line& line) {
  // Only what is on the disk can be decoded: the commit of a message of ours puts it there.
  if (auto flushed =
          sql_.query("SELECT pg_logical_emit_message(true, 'isoscope-end', 'end of the run')");
      !flushed)
    return flushed.error();
  const auto take = [&](std::string_view lsn, std::string_view data) {
    if (reader_) reader_->line(lsn, data);
    if (line) line(lsn, data);
  };
  auto rows = sql_.copy_out(
      fmt::format(
          "COPY (SELECT lsn, data FROM pg_logical_slot_get_changes('{}', NULL, NULL)) TO STDOUT",
          slot_),
      [&](std::string_view row) {
        row.remove_suffix(1);
        const std::size_t tab = std::min(row.find('\t'), row.size());
        const std::string_view data = row.substr(std::min(tab + 1, row.size()));
        if (data.find('\\') == std::string_view::npos) {
          take(row.substr(0, tab), data);
        } else {
          take(row.substr(0, tab), unescaped_copy(data));
        }
      });
  return rows ? Result<void>() : rows.error();
}

Result<DecodedLog> ServerLog::read() {
  if (kept_) return std::move(*kept_);
  if (auto pulled = pull(); !pulled) return pulled.error();
  return reader_->take_log();
}

}  // namespace isoscope::record
