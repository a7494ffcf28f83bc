#pragma once
// Scripts for psql, such as pg_dump writes them, hold lines that are no SQL: commands of psql
// (\restrict, \connect) and the rows behind COPY … FROM stdin.
#include <string>
#include <string_view>

namespace isoscope::sql {

// The text with blanks in place of all that: every byte that stays keeps its place.
std::string without_psql_lines(std::string_view text);

}  // namespace isoscope::sql
