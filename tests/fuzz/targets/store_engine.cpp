// Small programs made from choices, run on the weak store: what a run recorded satisfies its level,
// says check, and brute force where it can; and the history replays.
#include "check/check.h"
#include "spec/brute_force.h"
#include "store/policies.h"
#include "store/store_of.h"
#include "support/choices.h"
#include "support/random_program.h"
#include "target.h"

namespace isoscope {

bool fuzz(FuzzInput input) {
  using namespace store;
  const char* names[] = {"rc", "ra", "cc", "pc", "psi", "si", "ser", "ua", "cc@vis", "update-ser"};
  Choices choices(input);
  const std::string name = names[choices.below(10)];
  const std::uint64_t seed = choices.below(256);
  const std::string text = random_program(choices, {.sessions = 3, .max_calls = 6, .aborts = 0.2});
  SCOPED_TRACE(name + "\n" + text);
  const Program program = program_of(text);
  Store store = weak_store(program, name);
  const auto end = run_once(store, seed);
  EXPECT_TRUE(end.ok());
  const History h = to_history(program, store.recording());
  const auto levels = assign_levels(h, level_of(name), LevelSet::built_in());
  EXPECT_TRUE(levels.ok());
  Budget budget;
  EXPECT_EQ(Checker(h).check(*levels, budget).verdict.outcome, Outcome::Consistent);
  if (is_small_enough(h, levels->base->framework)) {
    EXPECT_TRUE(BruteForce(h).decide(*levels).has_value());
  }
  const Outcome ser = check(h, level_of("ser"), budget).verdict.outcome;
  EXPECT_EQ(is_serializable(program, store.recording(), budget), ser == Outcome::Consistent);
  return true;
}

}  // namespace isoscope
