#pragma once
// The rows that are there at the start and the sessions: constants, in INSERT and in comments.
#include <string_view>

#include "sql/catalog.h"
#include "sql/findings.h"

namespace isoscope::sql {

// An INSERT outside of functions: adds its rows. Only constants can stand in it.
void add_initial_rows(Application& app, const Tree& insert, const Locator& where,
                      Findings& findings);

// Is the line, with or without the dashes of a comment, one of a session?
bool is_session_line(std::string_view line);
// Adds "session NAME: f(1, 'a'); g(2) @si"; `line` starts at `place`. A session that calls a
// function that is left out is left out, too, with a note.
void add_session(Application& app, std::string_view line, Place place, Findings& findings);

// The level of a comment "-- @isolation si", or nothing.
std::string_view isolation_comment(std::string_view comment);

}  // namespace isoscope::sql
