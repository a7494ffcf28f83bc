#include "record/appended_run.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "record/told_log.h"

namespace isoscope::record {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kStep{50};
// The server counts for a connection when it ends, and else when it has been idle for 10 seconds.
constexpr milliseconds kUntilCounted{11'000};
// Those that were open before have a moment to end.
constexpr milliseconds kUntilGone{1'000};
constexpr int kCountsWhenIdle = 150'000;  // the version of the server that does so

struct Others {
  bool are_there = false;
  int version = 0;
};

// Are other clients connected to the database?
Result<Others> others(SqlConnection& sql) {
  auto answer = sql.query(
      "SELECT current_setting('server_version_num'), EXISTS (SELECT 1 FROM pg_stat_activity "
      "WHERE datname = current_database() AND pid <> pg_backend_pid() "
      "AND coalesce(backend_type, 'client backend') = 'client backend')");
  if (!answer) return answer.error();
  const Row& row = answer->at(0);
  return Others{row[1] == "t", std::stoi(row[0].value_or("0"))};
}

// Returns whether other clients are still there then.
Result<Others> await_end_of_others(SqlConnection& sql, milliseconds patience) {
  for (milliseconds waited{0};; waited += kStep) {
    auto found = others(sql);
    if (!found || !found->are_there || waited >= patience) return found;
    std::this_thread::sleep_for(kStep);
  }
}

}  // namespace

Result<AppendedStart> start_appending(const std::string& dsn) {
  auto sql = SqlConnection::open(dsn);
  if (!sql) return sql.error();
  if (auto waited = await_end_of_others(*sql, kUntilGone); !waited) return waited.error();
  auto appender = Appender::open(*sql);
  if (!appender) return appender.error();
  auto rows = ServerLog::open_unlogged(dsn);
  if (!rows) return rows.error();
  return AppendedStart{std::make_unique<Appender>(std::move(*appender)), std::move(*rows)};
}

Result<void> finish_appending(const Appender& appender, ServerLog& rows,
                              std::vector<std::pair<std::string, RecordedTxn>>& txns) {
  SqlConnection& sql = rows.connection();
  auto waited = await_end_of_others(sql, kUntilCounted);
  if (!waited) return waited.error();
  const bool is_late = waited->version < kCountsWhenIdle;
  // Older servers gather their counters in a process of its own.
  if (is_late) std::this_thread::sleep_for(kUntilGone);
  auto after = Appender::states(sql);
  if (!after) return after.error();
  auto catalog = read_catalog(sql);
  if (!catalog) return catalog.error();
  const auto status_of = [&](std::uint64_t xid) {
    auto status = sql.query(fmt::format("SELECT pg_xact_status('{}')", xid));
    const Cell told = status && !status->empty() ? (*status)[0][0] : Cell();
    if (told == "committed") return TxnStatus::Committed;
    return told == "aborted" ? TxnStatus::Aborted : TxnStatus::Unknown;
  };
  rows.remember(told_log(txns, {.catalog = *catalog,
                                .before = appender.start(),
                                .after = *after,
                                .is_counted = !is_late || !waited->are_there,
                                .status_of = status_of}));
  return {};
}

}  // namespace isoscope::record
