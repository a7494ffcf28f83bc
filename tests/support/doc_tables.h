#pragma once
// The tables of a page, so that tests can hold a list in the documents to what it lists.
#include <string>
#include <string_view>
#include <vector>

#include "support/input.h"

namespace isoscope {

using DocRow = std::vector<std::string>;  // its cells, without blanks around them

// "| `a\|b` | c |": {"`a\|b`", "c"}. A bar behind a backslash belongs to its cell.
inline DocRow doc_cells(std::string_view line) {
  DocRow cells;
  std::string cell;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] != '|' || line[i - 1] == '\\') {
      cell += line[i];
      continue;
    }
    const std::size_t first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos
                        ? ""
                        : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
    cell.clear();
  }
  return cells;
}

// The rows of the first table whose first column has this title; none if there is no such table.
inline std::vector<DocRow> doc_table(std::string_view page, std::string_view first_column) {
  std::vector<DocRow> rows;
  bool inside = false;
  LineReader lines = LineReader::over(page);
  for (std::string_view line; lines.next(line);) {
    const bool is_row = line.starts_with("|");
    if (inside && !is_row) break;
    if (inside && !line.starts_with("|--")) rows.push_back(doc_cells(line));
    if (is_row && !inside) inside = doc_cells(line).front() == first_column;
  }
  return rows;
}

// "check" of "`check`".
inline std::string without_ticks(std::string text) {
  std::erase(text, '`');
  return text;
}

}  // namespace isoscope
