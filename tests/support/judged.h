#pragma once
// What the checker says about a history, for tests that hold files to the verdicts in them.
#include <string>

#include "check/check.h"
#include "history/history.h"
#include "spec/levels.h"

namespace isoscope {

// "consistent", "violated", or why there is no answer: the error, the limit, or "unchecked" if the
// reason for the verdict does not hold.
inline std::string judged(const History& h, const std::string& level_name) {
  const LevelSet& levels = LevelSet::built_in();
  auto level = levels.find(level_name);
  if (!level) return render(level.error());
  auto assignment = assign_levels(h, **level, levels);
  if (!assignment) return render(assignment.error());
  Budget budget = Budget::seconds(120);
  const CheckAnswer answer = Checker(h).check(*assignment, budget);
  if (answer.confirmation.how == Confirmation::Unchecked) return "unchecked";
  if (answer.verdict.outcome == Outcome::Unknown) return answer.verdict.limit;
  return std::string(name_of(answer.verdict.outcome));
}

}  // namespace isoscope
