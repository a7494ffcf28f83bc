#pragma once
// What an SQL program says about its rows, in comments:
//
//     -- assert SELECT count(*) <= 1 FROM sale          about the rows when all sessions are done
//     -- invariant SELECT stock >= 0 FROM item          about every committed state
//
// A query (SELECT, WITH or VALUES) that gives one truth value a row. It holds if every one of them
// is true; NULL is not.
//
// A claim that is passed over in silence would count as checked. So a comment is an error if its
// first word is `assert` or `invariant` and what follows has the shape of SQL, though not that of a
// claim: a SELECT with a slip of the pen, or a comparison, which parses behind SELECT.
// `-- assert that the stock is right` is prose: it gets a remark.
#include <string>
#include <string_view>
#include <vector>

#include "program/executable.h"
#include "sql/application.h"

namespace isoscope::sql {

struct RowAssertion {
  bool is_invariant = false;
  std::string text;   // SELECT …
  Function function;  // returns the truth values
  Place place = {};
  // Of a `.txn` program: the number of the claim there, and no function.
  AssertionId number = {};
};

// All of a file, in order. Fails on the first that is no such query about the tables of `app`.
Result<std::vector<RowAssertion>> parse_assertions(std::string_view text, const Application& app);

// Remarks on the comments that begin like a claim or a session and are neither:
// `-- assert that …`, `-- session b f()`.
std::vector<Note> comments_passed_over(std::string_view text);

}  // namespace isoscope::sql
