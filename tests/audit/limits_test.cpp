// A budget that ends in the middle of an audit: the answer is unknown, or the one that it has
// without a limit. Never a proof, or that there is nothing, without the whole of the work.
#include <gtest/gtest.h>

#include <string>

#include "audit/advise.h"
#include "audit/audit_of.h"

namespace isoscope::audit {
namespace {

// Deposits commute with themselves as columns go; the rest is a lost update, and a scan.
constexpr std::string_view kBank = R"(
CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL, owner INT);
CREATE FUNCTION withdraw(k INT, amount INT) RETURNS void LANGUAGE plpgsql AS $$
DECLARE b INT;
BEGIN
  SELECT balance INTO b FROM account WHERE id = k;
  IF b >= amount THEN UPDATE account SET balance = b - amount WHERE id = k; END IF;
END $$;
CREATE FUNCTION total(o INT) RETURNS INT LANGUAGE plpgsql AS $$
DECLARE s INT;
BEGIN
  SELECT sum(balance) INTO s FROM account WHERE owner = o;
  RETURN s;
END $$;
CREATE FUNCTION rename(k INT, o INT) RETURNS void LANGUAGE sql AS $$
  UPDATE account SET owner = o WHERE id = k; $$;
)";

// The budgets double, from one that is over at once to one that is enough.
template <class Ask>
void with_growing_budgets(const Ask& ask) {
  int unknown = 0;
  for (double seconds = 0.0005; seconds < 60; seconds *= 1.5) {
    Budget budget = Budget::seconds(seconds);
    if (ask(budget)) break;
    ++unknown;
  }
  EXPECT_GT(unknown, 0);  // else nothing was tried
}

void expect_same_or_unknown(const Problem& problem, const AuditOptions& options) {
  Budget unlimited;
  const AuditReport whole = audit(problem, options, unlimited);
  with_growing_budgets([&](Budget& budget) {
    const AuditReport report = audit(problem, options, budget);
    if (report.outcome != AuditOutcome::Unknown) {
      EXPECT_EQ(name_of(report.outcome), name_of(whole.outcome));
      if (report.search.is_complete()) {
        EXPECT_EQ(report.search.anomalies.size(), whole.search.anomalies.size());
      }
      EXPECT_TRUE(!report.search.is_proof() || whole.search.is_proof());
      return report.search.is_complete();
    }
    EXPECT_EQ(report.limit, "the time limit was reached");
    EXPECT_FALSE(report.search.is_complete());
    EXPECT_FALSE(report.search.is_proof());
    EXPECT_FALSE(report.proof && report.proof->holds);
    return false;
  });
}

TEST(AuditLimits, ASearchThatIsCutShortIsNoNone) {
  const sql::Application app = app_of(kBank);
  expect_same_or_unknown(problem_of(app, "ser"), {.max_length = 3});
}

TEST(AuditLimits, AProofThatIsCutShortIsNone) {
  const sql::Application app = app_of(kBank);
  expect_same_or_unknown(problem_of(app, "ser"), {.prove = true});
}

TEST(AuditLimits, AnomaliesFoundBeforeTheEndCount) {
  const sql::Application app = app_of(kBank);
  expect_same_or_unknown(problem_of(app, "cc"), {.max_length = 3, .all = true});
}

TEST(AuditLimits, AdviceThatIsCutShortSaysSo) {
  const sql::Application app = app_of(kBank);
  const Problem problem = problem_of(app, "cc");
  const std::vector<const Level*> levels = {level_of("cc"), level_of("si"), level_of("ser")};
  Budget unlimited;
  const Advice whole = advise(problem, levels, true, {.max_length = 2}, unlimited);
  ASSERT_TRUE(whole.is_complete);
  ASSERT_FALSE(whole.levels.empty());
  with_growing_budgets([&](Budget& budget) {
    const Advice advice = advise(problem, levels, true, {.max_length = 2}, budget);
    if (advice.levels.empty()) {
      EXPECT_FALSE(advice.has_all_levels);
    }
    if (advice.has_all_levels) {
      EXPECT_EQ(advice.levels, whole.levels);
    }
    if (!advice.is_complete) return false;
    EXPECT_EQ(advice.repairs.size(), whole.repairs.size());
    EXPECT_EQ(advice.repairs_undecided, whole.repairs_undecided);
    return true;
  });
}

// A run beyond what replay executes says nothing: it is neither an anomaly nor spurious.
TEST(AuditLimits, ARunThatIsTooLongIsUndecided) {
  const sql::Application app = app_of(R"(
CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL);
CREATE FUNCTION f(k INT) RETURNS void LANGUAGE plpgsql AS $$
DECLARE x INT;
BEGIN
  SELECT v INTO x FROM t WHERE id = k;
  UPDATE t SET v = x + 1 WHERE id = k;
  WHILE x > 0 LOOP x := x + 1; END LOOP;
END $$;
)");
  const Problem problem = problem_of(app, "cc");
  Scenario scenario;
  scenario.rows = {
      {sql::TableId{0}, {sql::Value(std::int64_t{1}), sql::Value(std::int64_t{0})}, {}}};
  for (int i = 0; i < 2; ++i) scenario.calls.push_back({{}, {sql::Value(std::int64_t{1})}});
  scenario.ar = {{0}, {1}};
  scenario.sees = {{false, false}, {false, false}};
  Budget unlimited;
  // Neither call sees the other: both end at once. But the second of a serial order does not.
  const auto lost = replay(problem, scenario, unlimited);
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->label, Label::Undecided) << lost->why;
  scenario.sees = {{false, false}, {true, false}};
  const auto serial = replay(problem, scenario, unlimited);
  ASSERT_TRUE(serial.has_value());
  EXPECT_EQ(serial->label, Label::Undecided) << serial->why;
  Budget over = Budget::seconds(0);
  EXPECT_FALSE(replay(problem, scenario, over).has_value());
}

// Each write asks what was there before it: with memory, a few milliseconds for each of these.
TEST(AuditLimits, ManyStatementsInARowAreNoExponent) {
  std::string body;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    body += "SELECT v INTO x FROM t WHERE id = k + " + n + ";\n";
    body += "IF x > " + n + " THEN UPDATE t SET v = v + 1 WHERE v > k; ";
    body += "ELSE DELETE FROM t WHERE v = k + " + n + "; END IF;\n";
  }
  const sql::Application app = app_of(
      "CREATE TABLE t (id INT PRIMARY KEY, v INT);\n"
      "CREATE FUNCTION f(k INT) RETURNS void LANGUAGE plpgsql AS $$ DECLARE x INT; BEGIN\n" +
      body + "END $$;\n");
  const Problem problem = problem_of(app, "cc");
  Budget budget = Budget::seconds(60);
  OpenWorld open(problem, budget);
  const sql::FunctionId twice[] = {{0}, {0}};
  const std::vector<Member> cast = open.cast(twice);
  EXPECT_FALSE(open.world().constraints(cast).empty());
  EXPECT_FALSE(budget.expired_now());
}

}  // namespace
}  // namespace isoscope::audit
