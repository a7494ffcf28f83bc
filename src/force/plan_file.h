#pragma once
// A plan: transactions of sessions, and one order of their statements and commits.
//
//     {"format":"isoscope-plan/1","level":"repeatable read",
//      "setup":["CREATE TABLE …"],"teardown":["DROP TABLE …"],
//      "sessions":[{"name":"s1","statements":["SELECT …","UPDATE …"]},
//                  {"name":"s2","transactions":[["SELECT …"],["UPDATE
//                  …"]],"level":"serializable"}],
//      "steps":[["s1",1],["s2",1],["s2","commit"],["s2",2],["s2","commit"],["s1",2],["s1","commit"]]}
//
// `statements` is short for one transaction. Statements of a session count from 1, through all of
// its transactions; `commit` ends the one that is open. `level` is what BEGIN declares; without it
// the server's default. A plan is a specification (spec_file.h) with one permutation.
#include <string>
#include <string_view>

#include "force/spec_file.h"

namespace isoscope::force {

inline constexpr std::string_view kPlanFormat = "isoscope-plan/1";

bool looks_like_plan(std::string_view text);
// Errors name the member that is wrong.
Result<Spec> read_plan(std::string_view text);

}  // namespace isoscope::force
