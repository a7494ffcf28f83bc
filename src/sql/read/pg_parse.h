#pragma once
// The door to libpg_query: text in, trees and tokens out.
//
// The parser is PostgreSQL's own and trusts its input, so what would bring it down is refused
// before it is asked: texts that are too long, nest too deeply or are no UTF-8, and bodies in the
// style of the SQL standard (BEGIN ATOMIC), on which its PL/pgSQL part aborts the process.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql/read/tree.h"
#include "support/budget.h"
#include "support/result.h"

namespace isoscope::sql {

// Part of a text: keyword, name, number, string, operator or comment. [begin, end) in bytes.
struct SqlToken {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// The tokens of a text, comments included. Errors bear the place in `text`.
Result<std::vector<SqlToken>> scan_sql(std::string_view text);

// The tree of each statement in the text: {"stmt": …, "stmt_location": …, "stmt_len": …}.
// Errors bear the place in `text`; a limit_error if the budget is over.
Result<Tree> parse_sql(std::string_view text, Budget* budget = nullptr);

// The tree of the body of one CREATE FUNCTION statement in PL/pgSQL: {"datums": …, "action": …}.
// The place of an error is the line of the body; its column is not known.
// Requires: parse_sql() took the statement; `body` is the string of its AS part.
Result<Tree> parse_plpgsql(std::string_view create_function, std::string_view body);

}  // namespace isoscope::sql
