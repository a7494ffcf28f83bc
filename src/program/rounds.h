#pragma once
// Analyses of programs whose rows become known only while they run.
//
// A scan of an SQL program reads, for every row that could match, whether it is there. Which rows
// calls insert is not known beforehand, so an analysis is repeated until none of its runs inserts a
// row that the scans did not look at: a fixpoint, and every answer before it is thrown away. Each
// engine that runs programs does this itself; no other code has to.
//
//     return until_rows_are_known(program, [&] { return run_all(program); },
//                                 [](const Runs& runs) { return runs.is_expired; });
#include "program/executable.h"
#include "support/result.h"

namespace isoscope {

// Calls that each insert a row behind the one before need a round a call; more rounds mean that
// keys depend on something that is not seen.
int most_rounds(const Executable& program);
// There were so many, and new rows still.
Error too_many_rounds(const Executable& program);

// The answer of the last round. `analyse` returns a Result; `is_over` says of its value whether
// more rounds are in vain, because the time is over. An error if the rounds have no end.
template <class Analyse, class IsOver>
auto until_rows_are_known(const Executable& program, const Analyse& analyse, const IsOver& is_over)
    -> decltype(analyse()) {
  for (int round = 1;; ++round) {
    auto answer = analyse();
    if (!answer || is_over(*answer) || !program.has_new_rows()) return answer;
    if (round == most_rounds(program)) return too_many_rounds(program);
    program.adopt_rows();
  }
}

}  // namespace isoscope
