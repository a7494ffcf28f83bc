#pragma once
// What a server answers to a statement.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isoscope::force {

using Cell = std::optional<std::string>;  // nothing is NULL
using Row = std::vector<Cell>;

struct Table {
  std::vector<std::string> columns;
  std::vector<bool> is_number = {};  // by column: shown to the right
  std::vector<Row> rows = {};
  friend bool operator==(const Table&, const Table&) = default;
};

struct Answer {
  std::vector<Table> tables = {};  // of a text with several queries, each in turn
  std::string tag = {};            // of the last command: "UPDATE 1"
  std::uint64_t affected = 0;      // rows of the last command
  std::string error = {};          // the SQLSTATE if it failed: "40001"
  std::string message = {};        // what the server said then, in one line
  std::string severity = {};       // "ERROR"
  bool is_in_txn = false;          // afterwards the session is in a transaction
  bool has_ended_txn = false;      // a COMMIT or ROLLBACK (also to a savepoint) is among it
  bool may_hold_several = false;   // and something came after that: parts of several transactions
  // What gates have reported since the answer before (gates.h).
  std::vector<std::string> notices = {};
  friend bool operator==(const Answer&, const Answer&) = default;

  bool has_failed() const { return !error.empty(); }
  // SET and nothing else, or nothing at all.
  bool is_setting() const { return tables.empty() && (tag.empty() || tag == "SET"); }
  // The first column of the last row; nothing if there is none.
  Cell value() const {
    if (tables.empty() || tables.back().rows.empty() || tables.back().rows.back().empty())
      return std::nullopt;
    return tables.back().rows.back().front();
  }
};

}  // namespace isoscope::force
