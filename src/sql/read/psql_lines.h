#pragma once
// Scripts for psql, such as pg_dump writes them, hold lines that are no SQL: commands of psql
// (\restrict, \connect) and the rows behind COPY … FROM stdin.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace isoscope::sql {

// The text with blanks in place of all that: every byte that stays keeps its place.
std::string without_psql_lines(std::string_view text);

// Commands that decide what else is SQL here: \if, \i and others that read a file, \gexec.
struct PsqlChoice {
  std::size_t offset = 0;
  std::string command;  // "\if"
};
std::vector<PsqlChoice> psql_choices(std::string_view text);

}  // namespace isoscope::sql
