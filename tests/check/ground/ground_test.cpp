#include "check/ground/ground.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "check/ground/user_levels.h"
#include "history/builder.h"
#include "spec/evaluate.h"
#include "support/history_of.h"

namespace isoscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const Level& level(std::string_view name) {
  auto found = levels_with_users().find(name);
  ISO_ASSERT(found.ok());
  return **found;
}

Verdict check(const History& h, std::string_view name, const GroundOptions& options = {}) {
  Budget budget;
  return check_ground(h, {&level(name), {}}, budget, options);
}

std::vector<std::string> core_of(const History& h, const Verdict& verdict) {
  std::vector<std::string> names;
  for (const TxnId t : verdict.violation->core) names.push_back(h.name(t));
  return names;
}

constexpr const char* kLongFork =
    "s1: [w(x,1)] s2: [w(y,1)] s3: [r(x,1) r(y,0)] s4: [r(y,1) r(x,0)] s5: [w(z,1)] [r(z,1)]";
constexpr const char* kLostUpdate = "s1: [r(x,0) w(x,1)] s2: [r(x,0) w(x,2)] s3: [w(y,1)]";
constexpr const char* kWriteSkew = "s1: [r(x,0) w(y,1)] s2: [r(y,0) w(x,1)]";

TEST(Ground, FindsAWitnessOverCo) {
  const History h = history_of(kWriteSkew);
  const Verdict verdict = check(h, "si");
  ASSERT_EQ(verdict.outcome, Outcome::Consistent);
  ASSERT_TRUE(verdict.witness.has_value());
  EXPECT_EQ(verdict.witness->framework, Framework::Co);
  EXPECT_THAT(verdict.witness->order, SizeIs(3));
  EXPECT_FALSE(evaluate({&level("si"), {}}, {h, *verdict.witness}).has_value());
}

TEST(Ground, FindsAWitnessOverVis) {
  const History h = history_of(kLongFork);
  const Verdict verdict = check(h, "psi");
  ASSERT_EQ(verdict.outcome, Outcome::Consistent);
  ASSERT_TRUE(verdict.witness->vis.has_value());
  EXPECT_EQ(verdict.witness->vis->size(), h.num_txns());
  EXPECT_FALSE(evaluate({&level("psi"), {}}, {h, *verdict.witness}).has_value());
}

TEST(Ground, NamesTheAxiomAndTheTransactionsThatMatter) {
  const History fork = history_of(kLongFork);
  for (const char* name : {"pc", "si", "pc@vis", "si@vis"}) {
    const Verdict verdict = check(fork, name);
    ASSERT_EQ(verdict.outcome, Outcome::Violated) << name;
    EXPECT_EQ(verdict.violation->axiom, "Prefix") << name;
    EXPECT_EQ(verdict.violation->anomaly, Anomaly::Unexplainable);
    EXPECT_THAT(verdict.violation->cycle, IsEmpty());
    EXPECT_THAT(core_of(fork, verdict), ElementsAre("T1", "T2", "T3", "T4")) << name;
  }
  const History lost = history_of(kLostUpdate);
  const Verdict si = check(lost, "si");
  ASSERT_EQ(si.outcome, Outcome::Violated);
  EXPECT_EQ(si.violation->axiom, "Conflict");
  EXPECT_THAT(core_of(lost, si), ElementsAre("T1", "T2"));
  const Verdict psi = check(lost, "psi");
  ASSERT_EQ(psi.outcome, Outcome::Violated);
  EXPECT_EQ(psi.violation->axiom, "NoConflict");
}

TEST(Ground, BlamesTheFrameworkWhereNoAxiomIsNeeded) {
  // A session that does not see its own write: no level over vis, ar has a witness.
  const History stale = history_of("s1: [w(x,1)] [r(x,0)]");
  const Verdict verdict = check(stale, "ra@vis");
  ASSERT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_EQ(verdict.violation->axiom, "EXT");
  EXPECT_THAT(core_of(stale, verdict), ElementsAre("T1", "T2"));
  // so and wr have a cycle: nothing has a witness.
  const History cycle = history_of("s1: [r(x,1)] [w(y,1)] s2: [r(y,1)] [w(x,1)] s3: [w(x,7)]");
  const Verdict any = check(cycle, "true");
  ASSERT_EQ(any.outcome, Outcome::Violated);
  EXPECT_EQ(any.violation->axiom, "");
  EXPECT_THAT(core_of(cycle, any), ElementsAre("T1", "T2", "T3", "T4"));
}

TEST(Ground, LetsSessionsForgetWithoutSessionOrder) {
  const History stale = history_of("s1: [w(x,1)] [r(x,0)]");
  EXPECT_EQ(check(stale, "ra@vis").outcome, Outcome::Violated);
  const Verdict ec = check(stale, "ec");
  ASSERT_EQ(ec.outcome, Outcome::Consistent);
  EXPECT_FALSE(evaluate({&level("ec"), {}}, {stale, *ec.witness}).has_value());
  // Even then a read shows one writer: two reads of one key from two writers have no view.
  EXPECT_EQ(check(history_of("s1: [w(x,1)] s2: [w(x,2)] s3: [r(x,1) r(x,2)]"), "ec").outcome,
            Outcome::Violated);
}

TEST(Ground, RequiresAnAxiomOnlyOfWhoeverHasTheLevel) {
  const History h = history_of(kLongFork);
  const auto mixed = [&](std::string_view of_t3) {
    Assignment levels{&level("cc"), std::vector<const Level*>(h.num_txns(), nullptr)};
    levels.own[3] = &level(of_t3);
    levels.own[4] = &level("pc");
    Budget budget;
    return check_ground(h, levels, budget);
  };
  EXPECT_EQ(mixed("pc").outcome, Outcome::Violated);
  EXPECT_EQ(mixed("cc").outcome, Outcome::Consistent);
  EXPECT_EQ(mixed("ser").outcome, Outcome::Violated);
}

TEST(Ground, ObeysKnownVersionOrders) {
  // T1 appends 1, T2 appends 2; a list read shows 1 before 2, though T2 comes first in so and wr.
  HistoryBuilder b(InitialValues::None);
  const KeyId x = b.key("x");
  const KeyId y = b.key("y");
  const TxnId t1 = b.begin(b.session("s1"), TxnStatus::Committed, {1, 1});
  const TxnId t2 = b.begin(b.session("s2"), TxnStatus::Committed, {2, 1});
  const TxnId t3 = b.begin(b.session("s3"), TxnStatus::Committed, {3, 1});
  b.set_initial(y, Value::of(0), {1, 1});
  b.append(t1, x, Value::of(1), {1, 1});
  b.read(t1, y, Value::of(1), {1, 2});
  b.append(t2, x, Value::of(2), {2, 1});
  b.write(t2, y, Value::of(1), {2, 2});
  b.read_list(t3, x, std::vector{Value::of(1), Value::of(2)}, {3, 1});
  auto h = std::move(b).build();
  ASSERT_TRUE(h.ok()) << render(h.error());
  const Verdict verdict = check(*h, "true");
  ASSERT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_EQ(verdict.violation->axiom, "");
  EXPECT_EQ(check(*h, "ec").outcome, Outcome::Violated);
}

TEST(Ground, ReportsInexcusableReads) {
  const History h = history_of("s1: [w(x,1)] s2: [r(x,7)]");
  const Verdict verdict = check(h, "true");
  ASSERT_EQ(verdict.outcome, Outcome::Violated);
  ASSERT_TRUE(verdict.violation->fault.has_value());
  EXPECT_EQ(verdict.violation->anomaly, Anomaly::ThinAirRead);
}

TEST(Ground, DecidesTheEmptyHistory) {
  const History h = history_of("");
  EXPECT_EQ(check(h, "ser").outcome, Outcome::Consistent);
  EXPECT_EQ(check(h, "psi").outcome, Outcome::Consistent);
  EXPECT_EQ(check(h, "nothing").outcome, Outcome::Violated);
  EXPECT_EQ(check(h, "needs-a-cycle").outcome, Outcome::Violated);
}

// Many blind writers, all unordered. Whether paths lead both ways between them takes a closure that
// nothing is known about.
History many_writers(int n) {
  std::string text;
  for (int i = 1; i <= n; ++i)
    text += fmt::format("s{}: [w(x{},{}) w(y{},{})]\n", i, i % 4, i, i % 3, i);
  return history_of(text);
}

TEST(Ground, NamesTheLimitOfGates) {
  const Verdict verdict = check(many_writers(30), "two-way", {.max_gates = 1000});
  ASSERT_EQ(verdict.outcome, Outcome::Unknown);
  EXPECT_THAT(verdict.limit, HasSubstr("1000 gates"));
  EXPECT_EQ(check(many_writers(6), "two-way").outcome, Outcome::Violated);
}

TEST(Ground, NamesTheLimitOfTransactions) {
  const Verdict verdict = check(many_writers(30), "ser", {.max_transactions = 20});
  ASSERT_EQ(verdict.outcome, Outcome::Unknown);
  EXPECT_THAT(verdict.limit, HasSubstr("20 transactions"));
}

TEST(Ground, StopsWhenTimeIsUp) {
  const History h = many_writers(150);
  for (const char* name : {"two-way", "causal", "ser"}) {
    Budget none = Budget::seconds(0);
    const Verdict verdict = check_ground(h, {&level(name), {}}, none);
    EXPECT_EQ(verdict.outcome, Outcome::Unknown) << name;
    EXPECT_EQ(verdict.limit, "the time limit") << name;
  }
  const auto start = Budget::Clock::now();
  Budget little = Budget::seconds(0.2);
  const Verdict verdict = check_ground(h, {&level("two-way"), {}}, little);
  EXPECT_EQ(verdict.outcome, Outcome::Unknown);
  EXPECT_LT(std::chrono::duration<double>(Budget::Clock::now() - start).count(), 5);
}

TEST(Ground, KeepsTheVerdictWhenTheCoreTakesTooLong) {
  const History h = history_of(kLongFork);
  const Verdict verdict = check(h, "pc", {.core_seconds = 0});
  ASSERT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_EQ(verdict.violation->axiom, "Prefix");
  EXPECT_THAT(verdict.violation->core, SizeIs(6));
}

// An axiom that asks for existence can be broken by leaving transactions out: the core must be
// about the whole history.
TEST(Ground, DoesNotBlameAPartForWhatItLacks) {
  LevelSet set;
  ASSERT_TRUE(set.add("level seen over co\n"
                      "axiom Seen: forall x: key, t: txn. writes(t, x) implies\n"
                      "    exists u: txn. wr[x](t, u)\n",
                      "seen.level")
                  .ok());
  const History h = history_of("s1: [w(x,1)] s2: [r(x,1)] s3: [r(x,0)] s4: [r(y,0) w(y,5)]");
  Budget budget;
  const Verdict verdict = check_ground(h, {set.all().front().get(), {}}, budget);
  ASSERT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_EQ(verdict.violation->axiom, "Seen");
  // T1 alone would break the axiom too, but in the whole history only T4 does.
  EXPECT_THAT(core_of(h, verdict), ElementsAre("T4"));
}

TEST(Ground, GivesTheSameBytesTwice) {
  const History h = history_of(kLongFork);
  const Verdict a = check(h, "psi");
  const Verdict b = check(h, "psi");
  EXPECT_EQ(a.witness->order, b.witness->order);
  EXPECT_EQ(a.witness->vis, b.witness->vis);
  EXPECT_EQ(a.stats.all(), b.stats.all());
}

}  // namespace
}  // namespace isoscope
