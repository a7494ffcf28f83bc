// Small histories made from choices: every engine of check against brute force, against the
// grounded decision, and against laws. One judge an input, so that many histories are seen.
#include <cstdio>
#include <cstdlib>

#include "fuzz/judges.h"
#include "support/choices.h"
#include "target.h"

namespace isoscope {

bool fuzz(FuzzInput input) {
  Choices choices(input);
  const Judge judges[] = {compare_with_oracle, compare_with_ground, check_hierarchy,
                          compare_disguised, compare_mixture};
  const std::uint64_t which = choices.below(5);
  const Judge& judge = judges[which];
  RandomShape shape = random_shape(choices);
  if (which == 4) shape.levels = kMixtures[choices.below(kMixtures.size())];
  const SmallHistory small =
      choices.chance(0.1) ? near_long_fork(choices) : random_small(choices, shape);
  const std::string complaint = judge(small);
  if (complaint.empty()) return true;
  const SmallHistory least =
      shrink(small, [&](const SmallHistory& candidate) { return !judge(candidate).empty(); });
  std::fprintf(stderr, "%s\nshrunk to: %s\n%s", complaint.c_str(), judge(least).c_str(),
               to_hist(least).c_str());
  std::abort();
}

}  // namespace isoscope
