// The linearizer against the checker, on random histories of random programs.
#include <gtest/gtest.h>

#include "check/check.h"
#include "explore/explore.h"
#include "program/program.h"
#include "store/linearizer.h"
#include "support/random_program.h"

namespace isoscope::explore {
namespace {

using Set = TxnSet<1>;

bool is_linear(const Program& program, const store::Recording& run, StrongRule rule) {
  LinearFacts<Set> facts(static_cast<std::uint32_t>(run.txns.size()));
  std::map<ProgramKey, Set> writers;
  for (const CallId call : run.order) {
    Set read_from;
    for (const store::Access& access : run.txns[call].accesses) {
      if (access.is_read && access.writer != kInitialWriter) read_from.insert(access.writer);
      if (!access.is_read && run.txns[call].is_committed) writers[access.key].insert(call);
    }
    facts.add_txn(call, program.outline().calls[call].session, read_from);
  }
  for (const CallId call : run.order) {
    for (const store::Access& access : run.txns[call].accesses) {
      if (access.is_read) {
        facts.add_read(call, access.writer == kInitialWriter ? nullptr : &access.writer,
                       writers[access.key]);
      } else if (run.txns[call].is_committed) {
        Set others = writers[access.key];
        others.erase(call);
        facts.add_conflict(call, others);
      }
    }
  }
  Linearizer<Set> linearizer;
  Budget budget;
  const bool is_possible = linearizer.is_possible(facts, rule, budget);
  if (is_possible) {
    EXPECT_EQ(linearizer.order().size(), run.txns.size());
  }
  return is_possible;
}

TEST(Linearizer, AgreesWithTheChecker) {
  const std::pair<const char*, StrongRule> rules[] = {
      {"pc", StrongRule::Pc}, {"si", StrongRule::Si}, {"ser", StrongRule::Ser}};
  const LevelSet& levels = LevelSet::built_in();
  int num_checked = 0;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    Rng rng(seed * 65537);
    const std::string text =
        random_program(rng, {.sessions = 4, .max_calls = 7, .max_statements = 4});
    const auto program = parse_program(text);
    ASSERT_TRUE(program.ok());
    const auto plan = make_plan(*program, **levels.find("rc"), levels, Algorithm::Best, {});
    std::vector<store::Recording> runs;
    (void)explore(*program, *plan,
                  {.budget = Budget::seconds(0.2), .on_history = [&](const store::Recording& run) {
                     if (runs.size() < 60 || rng.below(50) == 0) runs.push_back(run);
                   }});
    for (std::size_t i = 0; i < runs.size() && i < 100; ++i) {
      const History h = to_history(*program, runs[i]);
      Checker checker(h);
      for (const auto& [name, rule] : rules) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << " run " << i << " " << name << "\n"
                                        << text);
        Budget budget;
        const bool expected = checker.check({.base = *levels.find(name)}, budget).verdict.outcome ==
                              Outcome::Consistent;
        ASSERT_EQ(is_linear(*program, runs[i], rule), expected);
        ++num_checked;
      }
    }
  }
  EXPECT_GT(num_checked, 3000);
}

}  // namespace
}  // namespace isoscope::explore
