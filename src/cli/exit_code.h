#pragma once
// What the program returns to the shell: the one place that maps outcomes to exit codes.
//
//   0  the good answer: consistent, nothing found, done
//   1  the interesting one: violated, found
//   2  the input is bad
//   3  unknown: a limit was reached, or what is asked is not known
#include "verdict/answer.h"

namespace isoscope {

enum ExitCode : int { kGood = 0, kInteresting = 1, kBadInput = 2, kUnknown = 3 };

int exit_code(Outcome outcome);

}  // namespace isoscope
