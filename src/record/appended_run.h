#pragma once
// A recording that appends (appending.h), from its beginning to its end: what is copied and counted
// before, and the log that is put together afterwards.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "record/appender.h"
#include "record/server_log.h"

namespace isoscope::record {

// Counts first, then copies: what is written in between is noticed.
struct AppendedStart {
  std::unique_ptr<Appender> appender;
  ServerLog rows;
};
// An Error says why the server does not tell enough.
Result<AppendedStart> start_appending(const std::string& dsn);

// When all connections of the recording have ended: gives `rows` its log. Changes the transactions
// as told_log() does. The counters of other connections come late, so it may take some seconds if
// there are any.
Result<void> finish_appending(const Appender& appender, ServerLog& rows,
                              std::vector<std::pair<std::string, RecordedTxn>>& txns);

}  // namespace isoscope::record
