// Explorations against the naive enumeration, on thousands of random programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore/comparison.h"
#include "support/random_program.h"
#include "support/read_from_map.h"

namespace isoscope::explore {
namespace {

class ExploreFuzz : public testing::TestWithParam<const char*> {};

// Each level over many seeds: the same histories, each once, and no dead end where the paper
// promises none.
TEST_P(ExploreFuzz, FindsExactlyTheHistoriesThatBruteForceAllows) {
  const Level& base = level(GetParam());
  const bool is_vis = base.framework == Framework::VisAr;
  int num_compared = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Rng rng(seed * 7919);
    const std::string text =
        random_program(rng, {.sessions = 4, .max_calls = is_vis ? 4 : 5, .max_statements = 4});
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto program = parse_program(text);
    ASSERT_TRUE(program.ok());
    const Naive naive(*program, kLimit);
    if (!naive.is_complete()) continue;
    ++num_compared;
    expect_exactly(*program, base, expected(*program, naive, base));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(num_compared, 1000);
}
INSTANTIATE_TEST_SUITE_P(Levels, ExploreFuzz,
                         testing::Values("rc", "ra", "cc", "pc", "psi", "si", "ser", "ua"),
                         [](const auto& name) { return std::string(name.param); });

TEST(ExploreMixtures, FindExactlyTheHistoriesThatBruteForceAllows) {
  int num_compared = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Rng rng(seed * 104729);
    const bool is_weak = seed % 2 == 0;
    const std::vector<std::string> own =
        is_weak ? std::vector<std::string>{"rc", "ra", "cc"}
                : std::vector<std::string>{"rc", "ra", "cc", "pc", "si", "ser"};
    const std::string text =
        random_program(rng, {.sessions = 4, .max_calls = 5, .max_statements = 4, .levels = own});
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto program = parse_program(text);
    ASSERT_TRUE(program.ok());
    const Naive naive(*program, kLimit);
    if (!naive.is_complete()) continue;
    ++num_compared;
    const Level& base = level(own[seed / 2 % own.size()]);
    const std::set<Map> allowed = expected(*program, naive, base);
    const Found found = explored(*program, base, Algorithm::Best);
    ASSERT_EQ(found.maps, allowed);
    ASSERT_FALSE(found.has_duplicates);
    if (is_weak) {
      ASSERT_EQ(found.all.blocked, 0U);
    }
  }
  EXPECT_GT(num_compared, 1000);
}

// Every prefix of a consistent history is consistent, and its last transaction can go on: the two
// properties that explore-ce stands on, for mixtures too.
TEST(ExploreMixtures, ArePrefixClosed) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Rng rng(seed * 31);
    const std::string text = random_program(
        rng, {.sessions = 3, .max_calls = 5, .max_statements = 3, .levels = {"rc", "ra", "cc"}});
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto program = parse_program(text);
    ASSERT_TRUE(program.ok());
    const Found found = explored(*program, level("cc"), Algorithm::Best);
    if (found.all.histories > 200) continue;
    const auto plan = make_plan(*program, level("cc"), levels(), Algorithm::Best, {});
    std::vector<store::Recording> runs;
    (void)explore(*program, *plan,
                  {.on_history = [&](const store::Recording& run) { runs.push_back(run); }});
    for (const store::Recording& run : runs) {
      for (std::size_t size = 0; size < run.order.size(); ++size) {
        store::Recording prefix;
        prefix.txns.resize(run.txns.size());
        prefix.order.assign(run.order.begin(),
                            run.order.begin() + static_cast<std::ptrdiff_t>(size));
        for (const CallId call : prefix.order) prefix.txns[call] = run.txns[call];
        const History h = to_history(*program, prefix);
        const auto assignment = assign_levels(h, level("cc"), levels());
        ASSERT_TRUE(assignment.ok());
        ASSERT_TRUE(BruteForce(h).decide(*assignment).has_value());
      }
    }
  }
}

// Two engines that have little in common, on programs too large for brute force.
TEST(ExploreEngines, AgreeOnLargerPrograms) {
  int num_compared = 0;
  std::uint64_t num_histories = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Rng rng(seed * 49979687);
    const bool is_mixed = seed % 2 == 0;
    const std::string text =
        random_program(rng, {.sessions = 4,
                             .max_calls = 9,
                             .max_statements = 4,
                             .levels = is_mixed ? std::vector<std::string>{"true", "rc", "ra", "cc"}
                                                : std::vector<std::string>{}});
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto program = parse_program(text);
    ASSERT_TRUE(program.ok());
    for (const char* name : {"rc", "ra", "cc"}) {
      const auto ce = make_plan(*program, level(name), levels(), Algorithm::Ce, {});
      const auto by_txn = make_plan(*program, level(name), levels(), Algorithm::ByTxn, {});
      ASSERT_TRUE(ce.ok() && by_txn.ok());
      const Exploration one = explore(*program, *ce, {.budget = Budget::seconds(0.1)});
      if (one.is_out_of_time) continue;
      const Exploration other = explore(*program, *by_txn, {.budget = Budget::seconds(1)});
      if (other.is_out_of_time) continue;
      ASSERT_EQ(one.histories, other.histories) << name;
      ASSERT_EQ(one.violating, other.violating) << name;
      ASSERT_EQ(one.blocked, 0U) << name;
      ++num_compared;
      num_histories += one.histories;
    }
  }
  EXPECT_GT(num_compared, 600);
  EXPECT_GT(num_histories, 20'000U);
}

// A transaction that reads nothing, and writes what nobody reads, changes nothing; at a level of
// its own it makes the program a mixture, which other engines explore.
TEST(ExploreEngines, AgreeOnMixturesOnLargerPrograms) {
  int num_compared = 0;
  std::uint64_t num_histories = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Rng rng(seed * 15485863);
    const std::string text =
        random_program(rng, {.sessions = 4, .max_calls = 7, .max_statements = 3});
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto program = parse_program(text);
    const auto mixed = parse_program(text + "\nsession other { @cc { write(elsewhere, 1) } }\n");
    ASSERT_TRUE(program.ok() && mixed.ok());
    for (const char* name : {"pc", "si", "ser", "psi"}) {
      const auto plan = make_plan(*program, level(name), levels(), Algorithm::Best, {});
      const auto mixed_plan = make_plan(*mixed, level(name), levels(), Algorithm::Best, {});
      if (!plan || !mixed_plan) continue;  // final(key) of a mixture with psi
      const Exploration one = explore(*program, *plan, {.budget = Budget::seconds(0.05)});
      if (one.is_out_of_time || one.histories > 2'000) continue;
      const Exploration other = explore(*mixed, *mixed_plan, {.budget = Budget::seconds(1)});
      if (other.is_out_of_time) continue;
      ASSERT_EQ(one.histories, other.histories) << name;
      ASSERT_EQ(one.violating, other.violating) << name;
      ++num_compared;
      num_histories += one.histories;
    }
  }
  EXPECT_GT(num_compared, 1'000);
  EXPECT_GT(num_histories, 20'000U);
}

// Schedules against histories that grow by checked reads. Programs with more blind writes, more
// sessions and longer sessions than brute force can have.
TEST(ExploreSchedules, AgreeWithCheckedReadsOnLargerPrograms) {
  int num_compared = 0;
  std::uint64_t num_histories = 0;
  std::uint64_t num_repeated = 0;
  for (std::uint64_t seed = 1; seed <= 1200; ++seed) {
    Rng rng(seed * 86028121);
    const std::string text = random_program(
        rng, {.sessions = 2 + static_cast<int>(seed % 4), .max_calls = 8, .max_statements = 4});
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto program = parse_program(text);
    ASSERT_TRUE(program.ok());
    for (const char* name : {"pc", "si", "ser"}) {
      const auto by_txn = make_plan(*program, level(name), levels(), Algorithm::ByTxn, {});
      const auto schedules = make_plan(*program, level(name), levels(), Algorithm::Schedules, {});
      ASSERT_TRUE(by_txn.ok() && schedules.ok());
      const Exploration one = explore(*program, *by_txn, {.budget = Budget::seconds(0.02)});
      if (one.is_out_of_time) continue;
      const Exploration other = explore(*program, *schedules, {});
      ASSERT_EQ(one.histories, other.histories) << name;
      ASSERT_EQ(one.violating, other.violating) << name;
      ++num_compared;
      num_histories += one.histories;
      num_repeated += other.end_states - other.histories;
    }
  }
  EXPECT_GT(num_compared, 1'000);
  EXPECT_GT(num_histories, 10'000U);
  EXPECT_GT(num_repeated, 1'000U);
}

TEST(ExploreSchedules, DoNotPermuteTransactionsOnDifferentRows) {
  std::string text =
      "txn pay(i) { k := read(row[i]); v := read(acct[k]); write(acct[k], v - 1) }\n";
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    text += "init row[" + n + "] = " + n + "\nsession s" + n + " { pay(" + n + ") }\n";
  }
  const auto program = parse_program(text);
  ASSERT_TRUE(program.ok());
  for (const char* name : {"pc", "si", "ser"}) {
    const auto plan = make_plan(*program, level(name), levels(), Algorithm::Best, {});
    ASSERT_TRUE(plan.ok());
    const Exploration all = explore(*program, *plan, {});
    EXPECT_EQ(all.histories, 1U) << name;
    EXPECT_EQ(all.end_states, 1U) << name;
    EXPECT_EQ(all.blocked, 0U) << name;
    EXPECT_EQ(all.calls, std::string(name) == "ser" ? 41U : 81U) << name;
  }
}

// Nobody reads what is overwritten: one history, and as many schedules as orders.
TEST(ExploreSchedules, GiveWayWhereManyHaveTheSameHistory) {
  std::string text;
  for (int i = 0; i < 12; ++i)
    text += "session s" + std::to_string(i) + " { { write(x, " + std::to_string(i) + ") } }\n";
  const auto program = parse_program(text);
  ASSERT_TRUE(program.ok());
  for (const char* name : {"pc", "si", "ser"}) {
    const auto plan = make_plan(*program, level(name), levels(), Algorithm::Best, {});
    ASSERT_TRUE(plan.ok());
    const Exploration all = explore(*program, *plan, {.budget = Budget::seconds(60)});
    EXPECT_FALSE(all.is_out_of_time) << name;
    EXPECT_EQ(all.histories, 1U) << name;
  }
}

std::vector<Map> shown(const Exploration& all) {
  std::vector<Map> maps;
  for (const store::Recording& run : all.violations) maps.push_back(read_from_map(run));
  return maps;
}

TEST(ExploreThreads, ChangeNeitherCountsNorWhatIsShown) {
  std::size_t num_violating = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed * 17);
    const std::string text = random_program(
        rng, {.sessions = 4, .max_calls = 8, .max_statements = 4, .levels = {"rc", "ra", "cc"}});
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto program = parse_program(text);
    ASSERT_TRUE(program.ok());
    for (const char* name : {"cc", "pc", "si", "ser"}) {
      const auto plan = make_plan(*program, level(name), levels(), Algorithm::Best, {});
      ASSERT_TRUE(plan.ok());
      const Exploration one = explore(*program, *plan, {.budget = Budget::seconds(1)});
      if (one.is_out_of_time) continue;
      num_violating += one.violations.size();
      for (const unsigned threads : {2U, 5U}) {
        const Exploration many = explore(*program, *plan, {.threads = threads});
        ASSERT_EQ(many.histories, one.histories);
        ASSERT_EQ(many.violating, one.violating);
        ASSERT_EQ(many.end_states, one.end_states);
        ASSERT_EQ(many.blocked, one.blocked);
        ASSERT_EQ(many.calls, one.calls);
        ASSERT_EQ(shown(many), shown(one));
      }
      // Threads that had begun may find more; the one that is kept is the same.
      const Exploration first =
          explore(*program, *plan, {.stop_at_violation = true, .max_violations = 1});
      const Exploration same =
          explore(*program, *plan, {.threads = 3, .stop_at_violation = true, .max_violations = 1});
      ASSERT_EQ(first.violations.size(), same.violations.size());
      if (first.violations.empty()) continue;
      ASSERT_EQ(shown(first).front(), shown(same).front());
      ASSERT_EQ(shown(first).front(), shown(one).front());
    }
  }
  EXPECT_GT(num_violating, 30U);
}

// A fault is the same one, too: the first that one thread comes to.
TEST(ExploreThreads, DoNotChangeTheFault) {
  const std::string text =
      "init m = 9223372036854775807\n"
      "txn f() { a := read(x); b := read(y); write(x, a + 1); write(y, b + 1)\n"
      "  if (a + b == 2) { v := read(m); z := v + a }\n"
      "  if (a + b == 1) { v := read(m); z := v * 2 }\n"
      "}\n"
      "session a { f() f() }\nsession b { f() }\nsession c { f() }\nassert a[1].a == 0\n";
  const auto program = parse_program(text);
  ASSERT_TRUE(program.ok());
  for (const char* name : {"rc", "cc", "ser"}) {
    const auto plan = make_plan(*program, level(name), levels(), Algorithm::Best, {});
    ASSERT_TRUE(plan.ok());
    const Exploration one = explore(*program, *plan, {});
    ASSERT_TRUE(one.fault);
    for (int i = 0; i < 20; ++i) {
      const Exploration many = explore(*program, *plan, {.threads = 4});
      ASSERT_TRUE(many.fault);
      EXPECT_EQ(many.fault->error.where, one.fault->error.where);
      EXPECT_EQ(many.fault->error.hint, one.fault->error.hint);
    }
  }
}

}  // namespace
}  // namespace isoscope::explore
