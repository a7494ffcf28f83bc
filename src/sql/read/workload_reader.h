#pragma once
// The rows that are there at the start and the sessions: constants, in INSERT and in comments.
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "sql/read/catalog.h"
#include "sql/read/findings.h"

namespace isoscope::sql {

// Takes INSERT statements outside of functions. Only constants can stand in them.
class InitialRowReader {
 public:
  // Rows go to `app`, which may have some already.
  explicit InitialRowReader(Application& app);
  void add(const Tree& insert, const Locator& where, Findings& findings);

 private:
  struct Known {
    std::set<std::vector<Value>> keys;
    std::map<ColumnId, std::int64_t> largest;  // by column that is fresh
  };

  void add_row(TableId id, const ById<ColumnId, std::optional<Value>>& given, Place place,
               Findings& findings);
  // Remembers the key; false if it was there.
  bool remember(const InitialRow& row);

  Application& app_;
  Catalog catalog_;
  std::map<TableId, Known> known_;
};

// Is the line, with or without the dashes of a comment, one of a session?
bool is_session_line(std::string_view line);
// Adds "session NAME: f(1, 'a'); g(2) @si"; `line` starts at `place`. A session that calls a
// function that is left out is left out, too, with a note.
void add_session(Application& app, std::string_view line, Place place, Findings& findings);

// The level of a comment "-- @isolation si", or nothing.
std::string_view isolation_comment(std::string_view comment);

}  // namespace isoscope::sql
