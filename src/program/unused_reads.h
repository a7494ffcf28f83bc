#pragma once
// Reads whose value no instruction uses: of a table that is scanned, all rows but the one that was
// looked for.
//
// Whether an assertion can fail does not depend on them, at any level that we name: what makes it
// fail is still allowed without the read, and a history without it can be given one, from the last
// writer that its transaction sees anyway (docs/explore.md). The histories are others, so this is
// for questions that have yes or no as an answer.
//
// A read is looked at when the code stops at it, with all other registers known, so that branches
// and loops behind it are followed as they will go; what is read later is not known, and where a
// branch depends on it, the read counts. So does one whose local is still there after some hundred
// instructions.
#include <atomic>
#include <memory>

#include "program/machine.h"

namespace isoscope {

// Executes the program without its unused reads, and without reads of keys that no call writes;
// says in `has_passed` if there was one of the former.
std::unique_ptr<Executor> executor_without_unused_reads(const Program& program,
                                                        std::atomic<bool>& has_passed);

}  // namespace isoscope
