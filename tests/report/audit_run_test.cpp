#include "report/audit_run.h"

#include <gtest/gtest.h>

#include "audit/symbols.h"
#include "report/audit_report.h"
#include "spec/levels.h"

namespace isoscope {
namespace {

using audit::FoundAnomaly;
using audit::LocationKey;
using audit::ScenarioCallId;
using sql::ColumnId;
using sql::TableId;

sql::Value number(std::int64_t n) { return sql::Value(n); }

sql::Application application() {
  auto app = sql::parse_application(
      "CREATE TABLE account (id integer, owner text, balance integer, note text,"
      "  PRIMARY KEY (id, owner));\n"
      "CREATE FUNCTION pay(p integer) RETURNS void LANGUAGE plpgsql AS $$\n"
      "BEGIN UPDATE account SET balance = p WHERE id = p AND owner = 'ada'; END; $$;\n"
      "CREATE FUNCTION look(p integer) RETURNS void LANGUAGE plpgsql AS $$\n"
      "BEGIN UPDATE account SET balance = p WHERE id = p AND owner = 'bob'; END; $$;\n");
  EXPECT_TRUE(app.ok());
  return *std::move(app);
}

constexpr ScenarioCallId kFirst{0};
constexpr ScenarioCallId kSecond{1};
constexpr ScenarioCallId kThird{2};

const LocationKey kBalance{
    TableId{0}, {number(1), sql::Value(std::string("ada"))}, audit::Attribute(ColumnId{2})};
const LocationKey kRow{TableId{0}, {number(1), sql::Value(std::string("ada"))}, audit::kPresence};

// Three calls that take effect in the order 0, 2, 1; the last one reads from the second.
FoundAnomaly anomaly() {
  FoundAnomaly found;
  found.functions = {{0}, {1}};
  found.name = Anomaly::WriteSkew;
  found.scenario.rows = {
      {TableId{0},
       {number(1), sql::Value(std::string("ada")), number(5), sql::Value(std::string("a note"))}}};
  found.scenario.calls = {{{0}, {number(10)}}, {{0}, {number(20)}}, {{1}, {number(30)}}};
  found.scenario.prefix = 1;
  found.scenario.ar = {kFirst, kThird, kSecond};
  found.scenario.sees = {{false, false, false}, {true, false, true}, {true, false, false}};
  found.replay.label = audit::Label::ViewOnly;
  found.replay.why = "reasons";
  found.replay.traces.resize(3);
  found.replay.traces[kSecond].reads = {{kBalance, number(7)}, {kRow, sql::Value(false)}};
  found.replay.traces[kSecond].read_from = {{kBalance, kThird}, {kRow, std::nullopt}};
  found.replay.traces[kSecond].writes = {{kBalance, number(8)}, {kRow, sql::Value(false)}};
  found.replay.traces[kThird].writes = {{kBalance, number(7)}, {kRow, sql::Value(true)}};
  found.replay.cycle = {{kSecond, kThird, audit::EdgeKind::Rw, kRow},
                        {kThird, kSecond, audit::EdgeKind::Wr, kBalance}};
  return found;
}

TEST(AuditRun, NumbersCallsByArbitration) {
  const FoundAnomaly run = in_arbitration_order(anomaly());
  EXPECT_EQ(run.scenario.calls[kSecond].arguments, std::vector{number(30)});
  EXPECT_EQ(run.scenario.calls[kThird].arguments, std::vector{number(20)});
  EXPECT_EQ(run.scenario.ar, (std::vector{kFirst, kSecond, kThird}));
  EXPECT_TRUE(run.scenario.sees[kThird][kFirst]);
  EXPECT_TRUE(run.scenario.sees[kThird][kSecond]);
  EXPECT_FALSE(run.scenario.sees[kSecond][kThird]);
  EXPECT_EQ(run.replay.traces[kThird].read_from.at(kBalance), std::optional(kSecond));
  ASSERT_EQ(run.replay.cycle.size(), 2U);
  EXPECT_EQ(run.replay.cycle[0].from, kSecond);
  EXPECT_EQ(run.replay.cycle[0].kind, audit::EdgeKind::Wr);
  EXPECT_EQ(run.replay.cycle[1].to, kSecond);
}

TEST(AuditRun, PutsEdgesIntoWords) {
  const FoundAnomaly run = in_arbitration_order(anomaly());
  const auto story = [&](audit::EdgeKind kind, const LocationKey& at, ScenarioCallId from,
                         ScenarioCallId to) {
    return edge_story(run, {from, to, kind, at});
  };
  EXPECT_EQ(story(audit::EdgeKind::Wr, kBalance, kSecond, kThird), "T2 wrote 7, T3 read it");
  EXPECT_EQ(story(audit::EdgeKind::Rw, kBalance, kThird, kSecond), "T3 read 7, T2 wrote 7");
  EXPECT_EQ(story(audit::EdgeKind::Ww, kBalance, kSecond, kThird), "T2 wrote 7, then T3 wrote 8");
  EXPECT_EQ(story(audit::EdgeKind::Wr, kRow, kSecond, kThird),
            "T2 inserted it, T3 found no such row");
  EXPECT_EQ(story(audit::EdgeKind::Rw, kRow, kThird, kSecond),
            "T3 found no such row, T2 inserted it");
  EXPECT_EQ(story(audit::EdgeKind::Ww, kRow, kSecond, kThird),
            "T2 inserted it, then T3 deleted it");
  const LocationKey other{TableId{0}, kRow.row, audit::Attribute(ColumnId{3})};
  EXPECT_EQ(story(audit::EdgeKind::Ww, other, kSecond, kThird), "T2 and then T3 wrote the row");
}

TEST(AuditRun, SumsUpTheFunctionsOfACycle) {
  const sql::Application app = application();
  FoundAnomaly found = anomaly();
  EXPECT_EQ(headline(app, found), "write skew between pay and look");
  found.functions = {{1}, {0}, {1}, {1}};
  EXPECT_EQ(headline(app, found), "write skew between 3 calls of look and 1 of pay");
}

TEST(AuditText, LeavesOutColumnsThatNoCallTouches) {
  const sql::Application app = application();
  const auto level = LevelSet::built_in().find("ec");
  ASSERT_TRUE(level.ok());
  const audit::Problem problem{.app = app, .levels = {.base = *level}};
  AuditReport report{.problem = problem, .source = "bank.sql", .options = {}};
  report.answer.outcome = audit::AuditOutcome::Anomaly;
  report.answer.search.anomalies = {anomaly()};
  EXPECT_EQ(audit_text(report, Paint(false)),
            "bank.sql at ec: anomaly: write skew between pay and look\n"
            "view-only: reasons\n"
            "rows at the start\n"
            "  account (id 1, owner 'ada', balance 5, …)\n"
            "calls, in the order of arbitration\n"
            "  T1  pay(10)   prepares\n"
            "  T2  look(30)  sees T1\n"
            "  T3  pay(20)   sees T1, T2\n"
            "cycle\n"
            "  T2 look(30) --wr--> T3 pay(20)  account[1, 'ada'].balance: T2 wrote 7, T3 read it\n"
            "  T3 pay(20) --rw--> T2 look(30)  account[1, 'ada']: T3 found no such row, T2 "
            "inserted it\n");
}

TEST(AuditText, TellsUnrealizedCyclesFromImpossibleOnes) {
  const sql::Application app = application();
  const auto level = LevelSet::built_in().find("ec");
  ASSERT_TRUE(level.ok());
  const audit::Problem problem{.app = app, .levels = {.base = *level}};
  AuditReport report{.problem = problem, .source = "bank.sql", .options = {.max_length = 3}};
  report.answer.outcome = audit::AuditOutcome::None;
  report.answer.search.lengths = {{.length = 2, .cycles = 3, .impossible = 3},
                                  {.length = 3, .cycles = 4, .impossible = 3, .unrealized = 1}};
  EXPECT_EQ(audit_text(report, Paint(false)),
            "bank.sql at ec: none: no anomaly of 2 to 3 calls\n"
            "  2 calls: 3 cycles of functions, in no execution at all\n"
            "  3 calls: 4 cycles of functions, 3 in no execution at all, 1 not ruled out but "
            "without a run that shows it\n"
            "this is no proof: longer runs may have what these do not\n");
}

}  // namespace
}  // namespace isoscope
