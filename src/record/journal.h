#pragma once
// What a recording keeps in its file until it has come to its end, so that a recording that was
// killed can be finished by another process, and a long one need not be kept in memory.
//
// Beside the transactions (run_file.h), as gaps, the file has lines and members called "raw", which
// readers of histories skip: the tables as they were at the start, what a statement was on the
// wire, and the server's log as far as it was read. Each time that it is read, it becomes lines
// {"raw":{"more":…}} and a last one, {"raw":{"log":…}}: a part (run_source.h). A transaction that
// stands before the last line of a part is in the log as a whole.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/run.h"
#include "record/run_source.h"
#include "record/server_log.h"
#include "support/input.h"
#include "support/output.h"

namespace isoscope::record {

// {"raw":…}: the start of the log, and a table of it, in one or more lines.
std::string journal_start(const Snapshot& start);
std::string journal_table(const std::string& name, const TableCopy& copy);

// A part of the log, line by line.
class JournalLog {
 public:
  explicit JournalLog(Sink sink) : sink_(std::move(sink)) {}
  void add(std::string_view lsn, std::string_view data);
  void finish();

 private:
  void write(std::string_view kind);

  static constexpr std::size_t kMost = std::size_t{1} << 20U;  // bytes of a line
  Sink sink_;
  std::string text_;
};

// The line of a transaction (run_line()), with what it was on the wire. `gaps`: how many of its
// gaps will still be there when its log is known.
std::string with_raw(std::string line, const RecordedTxn& txn, std::size_t gaps);

// A recording that has not come to its end.
class JournalFile : public RunSource {
 public:
  // An Error if the file is not a journal, or was finished already.
  static Result<JournalFile> open(const std::string& path);

  const Snapshot& start() const { return start_; }
  std::map<std::string, TableCopy> take_copies() { return std::exchange(copies_, {}); }

  Result<void> rewind() override;
  Result<DecodedLog*> next_part() override;
  Result<std::optional<SourceTxn>> next_txn() override;
  Result<void> rewind_part() override;

 private:
  // Goes through the transactions.
  struct Cursor {
    LineReader lines;
    bool is_at_end = true;  // of a part
  };
  explicit JournalFile(std::string path) : path_(std::move(path)) {}
  Result<void> read_head();
  Error broken(const std::string& why) const;
  static bool skip_part(Cursor& cursor);

  std::string path_;
  Snapshot start_;
  std::map<std::string, TableCopy> copies_;
  std::optional<LineReader> log_lines_;
  std::optional<LogReader> reader_;
  DecodedLog part_;
  std::vector<Cursor> cursors_;  // the first time and the second time through a part
  std::size_t current_ = 0;
  std::string session_;
  RecordedTxn txn_;
};

}  // namespace isoscope::record
