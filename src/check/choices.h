#pragma once
// Decides histories in which a value has several writers, so that its reads may be from any of
// them.
//
// Such a history satisfies a level if one way to choose the writers does. The choices are variables
// of a SAT solver, one of a read's writers each; the engines of the level judge what it proposes:
//
//     propose a writer for every read  ->  check  ->  consistent: done
//           ^                                 |
//           +---- not these together  <-------+  violated: the reads that the reason rests on
//
// A cycle rests on the reads that its edges name, and stands whatever the others read. So a clause
// excludes all ways to choose that contain it, mostly two or three reads; every reason is confirmed
// before it excludes anything. A violation by a core of transactions rests on the reads of the
// core, and one by a level of the user's, of which less is known, on all reads.
//
// The first proposal has every read from the last writer before it in the file: recorded runs are
// mostly written down as they happened.
//
// Cost   A check per proposal. Reads whose writer no level can accept cost nothing.
#include <cstddef>
#include <memory>

#include "check/check.h"

namespace isoscope {

struct ChoiceAnswer {
  CheckAnswer answer;
  // The history with the writers that the answer speaks of.
  std::shared_ptr<const History> chosen;
  bool for_all_choices = false;  // violated with a reason that rests on no choice
  std::size_t proposals = 0;     // ways to choose that were tried
};

// Requires: h.choices() is not empty.
ChoiceAnswer check_choices(const History& h, const Assignment& levels, Budget& budget,
                           const CheckOptions& options = {});

}  // namespace isoscope
