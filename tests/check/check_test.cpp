#include "check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/all_violations.h"
#include "check/minimize.h"
#include "generate/generate.h"
#include "generate/injection.h"
#include "support/history_of.h"

namespace isoscope {
namespace {

const LevelSet& levels() { return LevelSet::built_in(); }
const Level& level(std::string_view name) { return **levels().find(name); }

CheckAnswer answer(const History& h, std::string_view name, Engine engine = Engine::Best) {
  Budget budget;
  return check(h, level(name), budget, {.engine = engine});
}

TEST(Checker, BlamesTheAxiomThatFails) {
  const History fork =
      history_of("s1: [w(x,1)]  s2: [w(y,1)]  s3: [r(x,1) r(y,0)]  s4: [r(y,1) r(x,0)]");
  EXPECT_EQ(answer(fork, "si").verdict.violation->axiom, "Prefix");
  const History lost = history_of("s1: [r(x,0) w(x,1)]  s2: [r(x,0) w(x,2)]");
  EXPECT_EQ(answer(lost, "si").verdict.violation->axiom, "Conflict");
  EXPECT_EQ(answer(lost, "psi").verdict.violation->axiom, "NoConflict");
  EXPECT_EQ(answer(history_of("s1: [w(x,1)] [r(x,0)]"), "ra@vis").verdict.violation->axiom, "EXT");
  EXPECT_EQ(answer(history_of("s1: [r(x,7)]"), "ser").verdict.violation->axiom, "");
}

TEST(Checker, PutsAnUnsoundReasonIntoWordsInsteadOfAnswering) {
  const History h = history_of("s1: [r(x,0) w(x,1)]  s2: [r(x,0) w(x,2)]");
  const Verdict wrong =
      Verdict::consistent({.framework = Framework::Co, .order = {TxnId{0}, TxnId{1}, TxnId{2}}});
  const ConfirmResult result = confirm(h, {.base = &level("si"), .own = {}}, wrong);
  EXPECT_FALSE(result.holds());
  EXPECT_EQ(result.how, Confirmation::Evaluated);
}

TEST(Checker, GivesUpWhenTheTimeIsOver) {
  const auto h =
      generate_history({.level = Logic::Rc, .sessions = 10, .txns = 20'000, .keys = 500});
  ASSERT_TRUE(h.ok());
  Budget budget = Budget::seconds(1e-9);
  budget.expired_now();
  const Verdict verdict = check(*h, level("ser"), budget).verdict;
  EXPECT_EQ(verdict.outcome, Outcome::Unknown);
  EXPECT_THAT(verdict.limit, ::testing::HasSubstr("time"));
}

TEST(Checker, TellsItsProgressFromThePhasesOfItsEngines) {
  const History h = history_of("s1: [r(x,0) w(x,1)]  s2: [r(x,0) w(x,2)]");
  std::vector<std::string> phases;
  const auto listen = [&](std::string_view phase, double) { phases.emplace_back(phase); };
  Budget budget;
  check(h, level("si"), budget, {.progress = listen});
  EXPECT_EQ(phases.front(), "ordering the commits");  // cc comes first
  EXPECT_THAT(phases,
              ::testing::IsSupersetOf({"collecting reads and writes", "explaining the violation",
                                       "confirming the answer"}));
  phases.clear();
  check(h, level("update-ser"), budget, {.progress = listen});
  EXPECT_THAT(phases, ::testing::IsSupersetOf({"writing out the level", "searching for an order",
                                               "explaining the violation"}));
  phases.clear();
  const auto violation = *answer(h, "si").verdict.violation;
  minimize(h, level("si"), levels(), violation, budget, listen);
  EXPECT_THAT(phases, ::testing::Contains("minimizing: 1 transactions"));
}

TEST(Minimize, KeepsOnlyWhatViolates) {
  HistoryPlan plan{
      .level = Logic::Si, .sessions = 8, .txns = 400, .keys = 100, .inject = "lost-update"};
  const auto h = generate_history(plan);
  ASSERT_TRUE(h.ok());
  const CheckAnswer found = answer(*h, "si");
  ASSERT_TRUE(found.verdict.violation.has_value());
  Budget budget;
  const auto [small, is_minimal] =
      minimize(*h, level("si"), levels(), *found.verdict.violation, budget);
  EXPECT_TRUE(is_minimal);
  EXPECT_EQ(small.num_txns(), 3U);
  EXPECT_EQ(small.num_events(), 4U);
  EXPECT_EQ(answer(small, "si").verdict.outcome, Outcome::Violated);
  EXPECT_EQ(answer(small, "pc").verdict.outcome, Outcome::Consistent);
}

TEST(Minimize, SaysThatItHadNoTime) {
  const History h = history_of("s1: [r(x,0) w(x,1)]  s2: [r(x,0) w(x,2)]  s3: [w(y,1)]");
  const auto violation = *answer(h, "si").verdict.violation;
  Budget budget = Budget::seconds(0);
  const auto [part, is_minimal] = minimize(h, level("si"), levels(), violation, budget);
  EXPECT_FALSE(is_minimal);
  EXPECT_EQ(answer(part, "si").verdict.outcome, Outcome::Violated);
}

TEST(Minimize, KeepsAnAbortedReadAnAbortedRead) {
  const History h = history_of("s1: [w(y,1) w(x,1)]!  s2: [r(z,0) r(x,1) w(z,1)]  s3: [r(z,1)]");
  Budget budget;
  const auto violation = *answer(h, "rc").verdict.violation;
  const History small = minimize(h, level("rc"), levels(), violation, budget).part;
  ASSERT_EQ(small.faults().size(), 1U);
  EXPECT_EQ(small.faults()[0].kind, FaultKind::AbortedRead);
  EXPECT_EQ(small.num_events(), 2U);
}

TEST(AllViolations, CountsThemByAnomaly) {
  const History h = history_of(
      "a: [r(x,0) w(x,1)]  b: [r(x,0) w(x,2)]\n"                // a lost update
      "c: [r(y,0) w(y,1)]  d: [r(y,0) w(y,2)]\n"                // another
      "e: [r(p,0) r(q,0) w(p,1)]  f: [r(p,0) r(q,0) w(q,1)]");  // a write skew
  Budget budget;
  const auto first = *answer(h, "ser").verdict.violation;
  const AllViolations all = all_violations(h, level("ser"), levels(), first, 100, budget);
  EXPECT_TRUE(all.complete);
  ASSERT_EQ(all.groups.size(), 2U);
  EXPECT_EQ(all.groups[0].anomaly, Anomaly::LostUpdate);
  EXPECT_EQ(all.groups[0].count, 2U);
  EXPECT_EQ(all.groups[1].anomaly, Anomaly::WriteSkew);
  EXPECT_EQ(all.groups[1].count, 1U);
  for (const AnomalyGroup& group : all.groups)
    EXPECT_EQ(check_cycle(h, Logic::Ser, group.example.cycle), std::nullopt);
  const AllViolations some = all_violations(h, level("ser"), levels(), first, 2, budget);
  EXPECT_FALSE(some.complete);
  EXPECT_EQ(some.total(), 2U);
}

// An anomaly hidden in a history that is otherwise serializable: the weakest level that forbids it
// is the first to fail, and the violation has its name.
class InjectedAnomalies : public ::testing::TestWithParam<std::string> {};

TEST_P(InjectedAnomalies, AreFoundAndNamed) {
  const Injection& injection = *find_injection(GetParam());
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto h = generate_history({.level = Logic::Ser,
                                     .sessions = 12,
                                     .txns = 1500,
                                     .keys = 300,
                                     .inject = GetParam(),
                                     .seed = seed});
    ASSERT_TRUE(h.ok());
    for (Logic broken : kStoreLevels) {
      const bool breaks = implies(broken, injection.weakest_broken);
      const CheckAnswer found = answer(*h, name_of(broken));
      EXPECT_EQ(found.verdict.outcome, breaks ? Outcome::Violated : Outcome::Consistent)
          << name_of(broken);
      if (!found.verdict.violation) continue;
      EXPECT_EQ(common_name(found.verdict.violation->anomaly), common_name(injection.anomaly))
          << name_of(broken);
    }
  }
}

std::vector<std::string> injection_names() {
  std::vector<std::string> names;
  for (const Injection& injection : injections()) names.emplace_back(injection.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, InjectedAnomalies, ::testing::ValuesIn(injection_names()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace isoscope
