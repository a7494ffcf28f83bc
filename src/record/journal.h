#pragma once
// What a recording keeps in its file until it has come to its end, so that a recording that was
// killed can be finished by another process, and a long one need not be kept in memory.
//
// Beside the transactions (run_file.h), as gaps, the file has lines and members called "raw", which
// readers of histories skip: the tables as they were at the start, what a statement was on the
// wire, and the server's log as far as it was read, a line for each time. A transaction that stands
// before the last of them is in the log as a whole.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/run.h"
#include "record/server_log.h"

namespace isoscope::record {

// {"raw":…}: the start of the log, and a table of it.
std::string journal_start(const Snapshot& start);
std::string journal_table(const std::string& name, const TableCopy& copy);

// A line of the log after the other makes one line of the journal.
class JournalLog {
 public:
  void add(std::string_view lsn, std::string_view data);
  std::string line() const { return text_.empty() ? std::string() : text_ + "]}}\n"; }

 private:
  std::string text_;
};

// The line of a transaction (run_line()), with what it was on the wire. `gaps`: how many of its
// gaps will still be there when its log is known.
std::string with_raw(std::string line, const RecordedTxn& txn, std::size_t gaps);

struct Journal {
  std::optional<Snapshot> start;
  std::map<std::string, TableCopy> copies;
  DecodedLog log;
  std::vector<std::pair<std::string, RecordedTxn>> txns;  // with their sessions
  std::size_t logged = 0;  // how many of them ended before the last line of the log
};

// An Error if the file is none, or was finished already.
Result<Journal> read_journal(const std::string& path);

}  // namespace isoscope::record
