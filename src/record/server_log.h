#pragma once
// The server's log of a run: a temporary slot of logical decoding, and the rows that were there
// before it.
//
// open() creates the slot, which keeps the log from then on and goes away with our connection,
// however that ends; then it copies the rows of all tables that have a primary key, in one
// snapshot. What this snapshot sees belongs to the initial transaction, T0, although the slot may
// tell it again.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/decoded_log.h"
#include "record/sql_connection.h"
#include "record/tables.h"

namespace isoscope::record {

struct TableCopy {
  std::vector<std::string> columns;
  std::string lines;            // as COPY prints rows, each with its newline
  bool is_cut = false;          // there were more rows than are kept
  std::string storage = {};     // as Table::storage
  std::string definition = {};  // as Table::definition; empty if it is not known
};

// The cells of a line of COPY, by column: all of `columns`, or only those at `wanted` if that is
// not empty.
std::vector<Cell> copied_cells(std::string_view line, const std::vector<std::size_t>& wanted,
                               std::size_t columns);

class ServerLog {
 public:
  // An Error says what the server does not allow, and what to do.
  static Result<ServerLog> open(const std::string& dsn);

  // The rows that are there, without a log: what statements tell takes its place (told_log.h), and
  // remember() has it.
  static Result<ServerLog> open_unlogged(const std::string& dsn);

  // The start of a recording that has ended otherwise, and a connection.
  static Result<ServerLog> of_parts(const std::string& dsn, const Snapshot& start,
                                    std::map<std::string, TableCopy> copies);

  // Reads what was written since the last time, and passes its lines on: the server need not
  // keep it any longer.
  using Line = std::function<void(std::string_view lsn, std::string_view data)>;
  Result<void> pull(const Line& line = {});
  // From now on lines are only handed on.
  void forget() { reader_.reset(); }
  // Everything that was written since open(). Once.
  Result<DecodedLog> read();
  // What was kept elsewhere: read() returns it.
  void remember(DecodedLog decoded) { kept_ = std::move(decoded); }
  SqlConnection& connection() { return sql_; }
  const Snapshot& start() const { return start_; }
  const std::map<std::string, TableCopy>& copies() const { return copies_; }  // by full name

 private:
  explicit ServerLog(SqlConnection sql) : sql_(std::move(sql)) {}
  Result<void> create_slot();
  Result<void> settle();
  Result<void> copy_tables();

  static constexpr std::size_t kMostRows = 100'000;  // of a table

  SqlConnection sql_;
  std::string slot_;  // empty: there is none any more
  std::optional<LogReader> reader_;
  std::optional<DecodedLog> kept_;
  Snapshot start_;
  std::map<std::string, TableCopy> copies_;
};

}  // namespace isoscope::record
