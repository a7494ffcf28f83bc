#pragma once
// The rows that are there at the start and the sessions: constants, in INSERT and in comments; and
// where sequences are then.
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/read/catalog.h"
#include "sql/read/findings.h"
#include "sql/read/row_rules.h"

namespace isoscope::sql {

// Takes INSERT statements outside of functions. Only constants can stand in them.
class InitialRowReader {
 public:
  // Rows go to `app`, which may have some already.
  explicit InitialRowReader(Application& app);
  // An INSERT into the tables as they are in the end.
  void add(const Tree& insert, const Locator& where, Findings& findings);
  // The same, where constraints and triggers may come later in the text: check() then tells
  // whether the rows meet the constraints.
  void add_unchecked(const Tree& insert, const Locator& where, Findings& findings);
  void check(Findings& findings);
  // What another statement does to sequences: SELECT setval(…) and nextval(…), RESTART of ALTER
  // SEQUENCE and ALTER TABLE. A note if that is not understood.
  void move_sequences(const std::string& kind, const Tree& node, Place place, Findings& findings);

 private:
  struct Known {
    std::set<std::vector<Value>> keys;
    std::map<ColumnId, std::int64_t> largest;  // by column that is fresh
  };

  void add_row(TableId id, const ById<ColumnId, std::optional<Value>>& given, Place place,
               Findings& findings);
  // Remembers the key; false if it was there.
  bool remember(const InitialRow& row);
  // Sequences whose next numbers rows have that were written by hand.
  void mark_sequences();
  // sequence_starts.cpp
  void alter_sequence(const std::string& name, const Tree& options);
  bool call_sequence(const Tree& call, const Tree& from);
  std::optional<Value> computed(const Tree& node, const Tree& from) const;
  std::optional<Value> computed_select(const Tree& select) const;

  Application& app_;
  Catalog catalog_;
  std::map<TableId, Known> known_;
  RowRules rules_;
  std::map<std::string, std::int64_t> restarts_;  // where RESTART goes, by sequence
};

// Of a row that breaks a constraint.
std::string refused_row(const Error& why);
// Might what is not modelled add rows at the start, or take them away?
bool may_change_rows(std::span<const Note> notes);
// Of a trigger that fires on INSERT: what is not done.
std::string passed_over(const std::string& trigger);

// Is the line, with or without the dashes of a comment, one of a session?
bool is_session_line(std::string_view line);
// Adds "session NAME: f(1, 'a'); g(2) @si"; `line` starts at `place`. A session that calls a
// function that is left out is left out, too, with a note.
void add_session(Application& app, std::string_view line, Place place, Findings& findings);

// The level of a comment "-- @isolation si", or nothing.
std::string_view isolation_comment(std::string_view comment);

}  // namespace isoscope::sql
