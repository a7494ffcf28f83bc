#pragma once
// Analyses of SQL programs, whose rows become known only while they run.
//
// A scan reads, for every row that could match, whether it is there (program.h). Which rows calls
// insert is not known beforehand, so an analysis is repeated until none of its runs inserts a row
// that the scans did not look at. That is a fixpoint: rows are never forgotten, and every answer
// before the last is thrown away.
//
//     auto runs = until_rows_are_known(
//         program, [&] { return store::run_many(*program, plan, options, budget); },
//         [](const store::Runs& runs) { return runs.is_expired; });
#include <fmt/format.h>

#include <algorithm>

#include "sql/program.h"
#include "support/result.h"

namespace isoscope::sql {

// Calls that each insert a row behind the one before need a round a call; more rounds mean that
// keys depend on something that is not seen.
inline int most_rounds(const Executable& program) {
  constexpr int kFewest = 20;
  return std::max(kFewest, static_cast<int>(program.outline().calls.size()) + 2);
}
// There were so many, and new rows still.
inline Error too_many_rounds(const Executable& program) {
  return {.what = fmt::format("calls insert new rows again and again: {} rounds are not enough to "
                              "know them all",
                              most_rounds(program)),
          .hint = "use fewer calls, or keys that do not depend on what was read"};
}

// The answer of the last round. `analyse` returns a Result; `is_over` tells of its value whether
// more rounds are in vain, because the time is over. An error if the rounds have no end. Where
// `program` is null, the analysis is of another kind of program, and there is one round.
template <class Analyse, class IsOver>
auto until_rows_are_known(SqlProgram* program, const Analyse& analyse, const IsOver& is_over)
    -> decltype(analyse()) {
  for (int round = 1;; ++round) {
    auto answer = analyse();
    if (program == nullptr || !answer || is_over(*answer) || !program->grew()) return answer;
    if (round == most_rounds(*program)) return too_many_rounds(*program);
    program->adopt();
  }
}

}  // namespace isoscope::sql
