// Levels over co, snap: what statements and locks mean, by the literal evaluator and brute force.
#include "spec/statements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/jsonl.h"
#include "spec/brute_force.h"
#include "spec/levels.h"
#include "support/history_of.h"
#include "support/input.h"

namespace isoscope {
namespace {

bool allows(std::string_view level, const History& h) {
  return BruteForce(h).decide(**LevelSet::built_in().find(level)).has_value();
}
bool allows(std::string_view level, std::string_view hist) {
  return allows(level, history_of(hist));
}

History recorded_run(const std::string& jsonl) {
  LineReader in = LineReader::over(jsonl);
  auto h = read_jsonl(in);
  ISO_ASSERT(h.ok());
  return *std::move(h);
}

EventId event_of(const History& h, std::uint32_t t, std::uint32_t i) {
  return EventId{h.events(TxnId{t}).front().index + i};
}

TEST(StatementFacts, KnowCurrentReads) {
  const History h = history_of(
      "s1: [r(x,0) w(x,1) | r(y,0) | r(z,0) l(z) | r(u,0) ls(u) | r(v,0) lk(v) | r(w,0) w(x,2)]");
  const StatementFacts facts(h);
  std::vector<std::string> current;
  for (EventId e : h.all_events()) {
    if (h.is_read(e) && facts.is_current(e)) current.push_back(h.name(h.key(e)));
  }
  EXPECT_THAT(current, ::testing::ElementsAre("x", "z", "u"));
}

TEST(StatementFacts, KnowLocksOfRows) {
  const History h = history_of(
      "s1: [w(t[1].a,1) | i(t[2].a,1) | l(t[3])]! s2: [lk(t[1]) | r(t[1].b,0) r(t[3].b,0)]");
  const StatementFacts facts(h);
  const auto key = [&](std::string_view name) {
    for (KeyId x : h.keys()) {
      if (h.name(x) == name) return x;
    }
    return KeyId::none();
  };
  EXPECT_TRUE(facts.locks(TxnId{1}, key("t[1].b")));   // another column of the row
  EXPECT_FALSE(facts.locks(TxnId{1}, key("t[2].a")));  // an INSERT locks nothing
  EXPECT_TRUE(facts.locks(TxnId{1}, key("t[3].b")));
  EXPECT_FALSE(facts.locks(TxnId{2}, key("t[1].a")));       // KEY SHARE
  EXPECT_FALSE(facts.writes_row(TxnId{1}, key("t[1].a")));  // aborted
  EXPECT_TRUE(facts.writes_row(kInitialTxn, key("t[1].a")));
}

TEST(StatementFacts, KnowWhoHadToWait) {
  const History h = history_of(
      "s1: [w(x,1) | ls(y)] s2: [r(x,0) | l(x) | r(u,0) | ls(y) | r(u,0)] s3: [l(y)] s4: [lk(x)]");
  const StatementFacts facts(h);
  const auto waited = [&](std::uint32_t i) {
    std::vector<std::uint32_t> txns;
    facts.for_each_waited(event_of(h, 2, i), [&](TxnId t) { txns.push_back(t.index); });
    return txns;
  };
  EXPECT_THAT(waited(0), ::testing::IsEmpty());
  EXPECT_THAT(waited(1), ::testing::ElementsAre(1));
  EXPECT_THAT(waited(2), ::testing::UnorderedElementsAre(1, 3));  // shared locks go together
}

TEST(StatementFacts, TakeTheOrderOfConflictingCommitsFromTheirNumbers) {
  const History h = recorded_run(
      "{\"format\":\"isoscope-history/1\"}\n"
      "{\"session\":\"a\",\"id\":\"a\",\"status\":\"committed\",\"ops\":[[\"w\",\"x\",1]],"
      "\"commit\":7}\n"
      "{\"session\":\"b\",\"id\":\"b\",\"status\":\"committed\",\"ops\":[[\"w\",\"x\",2]],"
      "\"commit\":3}\n"
      "{\"session\":\"c\",\"id\":\"c\",\"status\":\"committed\",\"ops\":[[\"ls\",\"x\"]],"
      "\"commit\":5}\n"
      "{\"session\":\"d\",\"id\":\"d\",\"status\":\"committed\",\"ops\":[[\"w\",\"y\",1]],"
      "\"commit\":1}\n");
  EXPECT_THAT(
      StatementFacts(h).known_order(),
      ::testing::UnorderedElementsAre(std::pair(TxnId{2}, TxnId{3}), std::pair(TxnId{2}, TxnId{1}),
                                      std::pair(TxnId{3}, TxnId{1})));
}

// One history a rule, with the levels that forbid it.
struct Separation {
  const char* name;
  const char* hist;
  std::vector<const char*> allowed;
  std::vector<const char*> forbidden;
};

const Separation kSeparations[] = {
    {"serial",
     "s1: [r(x,0) w(x,1)] s2: [r(x,1) w(y,1)]",
     {"rc@snap", "pc@snap", "si@snap", "ser@snap", "pg-rc", "pg-rr", "pg-ser", "mysql-rc",
      "mysql-rr"},
     {}},
    {"two snapshots",
     "s1: [w(x,1)] s2: [r(x,0) | r(x,1)]",
     {"rc@snap", "pg-rc", "mysql-rc"},
     {"pc@snap", "si@snap", "ser@snap", "pg-rr", "pg-ser", "mysql-rr"}},
    {"one statement has one snapshot",
     "s1: [w(x,1) | w(y,1)] s2: [r(x,0) r(y,1) |]",
     {},
     {"rc@snap", "pg-rc", "pg-rr", "mysql-rc", "mysql-rr"}},
    {"snapshots go forwards",
     "s1: [w(x,1)] s2: [r(x,1) | r(x,0)]",
     {"rc@snap"},
     {"pg-rc", "mysql-rc", "pc@snap"}},
    {"a session sees its past",
     "s1: [w(x,1)] [r(x,0)]",
     {"rc@snap"},
     {"pg-rc", "pg-rr", "mysql-rr", "pc@snap"}},
    // The second statement waited for T1, so the third one sees all of T1.
    {"waiting",
     "s1: [w(x,1) | w(y,1)] s2: [r(y,0) | r(x,1) w(x,2) | r(y,0)]",
     {"rc@snap", "pc@snap"},
     {"pg-rc", "mysql-rc", "pg-rr", "si@snap"}},
    {"the statement that waits has its old snapshot",
     "s1: [w(x,1) | w(y,1)] s2: [r(x,1) r(y,0) w(x,2) |]",
     {"rc@snap", "pg-rc", "mysql-rc", "mysql-rr"},
     {"pg-rr", "pg-ser", "ser@snap"}},
    {"FOR SHARE waits, too",
     "s1: [w(x,1) | w(y,1)] s2: [r(y,0) | r(x,1) ls(x) | r(y,0)]",
     {"pc@snap", "mysql-rr"},
     {"pg-rc", "pg-rr"}},
    {"KEY SHARE does not",
     "s1: [w(x,1) | w(y,1)] s2: [r(y,0) | r(x,0) lk(x) | r(y,0)]",
     {"pg-rc", "pg-rr", "mysql-rr"},
     {}},
    {"lost update",
     "s1: [r(x,0) | w(x,1)] s2: [r(x,0) | w(x,2)]",
     {"rc@snap", "pc@snap", "pg-rc", "mysql-rc", "mysql-rr"},
     {"si@snap", "ser@snap", "pg-rr", "pg-ser"}},
    {"columns of a row conflict on the server",
     "s1: [r(t[1].a,0) | w(t[1].a,1)] s2: [r(t[1].a,0) | w(t[1].b,2)] s3: [r(t[1].a,1) "
     "r(t[1].b,0)]",
     {"si@snap", "pg-rc"},
     {}},
    {"write skew",
     "s1: [r(x,0) | w(y,1)] s2: [r(y,0) | w(x,1)]",
     {"pg-rc", "pg-rr", "si@snap", "mysql-rr"},
     {"pg-ser", "ser@snap"}},
    {"an aborted transaction may read what no serial order has",
     "s1: [r(x,0) | w(y,1)] s2: [r(y,0) | w(x,1)]!",
     {"pg-ser"},
     {}},
    {"a snapshot of an own read counts at mysql-rr",
     "s1: [w(x,1) | w(y,1)] s2: [w(z,1) | r(z,1) | r(x,1) w(x,2) | r(y,0)]",
     {"mysql-rr"},
     {"pg-rc"}},
    {"the first plain read comes after the wait",
     "s1: [w(x,1) | w(y,1)] s2: [r(x,1) w(x,2) | r(y,0)]",
     {"rc@snap"},
     {"mysql-rr", "pg-rc"}},
};

TEST(LevelsOverCoSnap, SeparateWhatServersDo) {
  for (const Separation& s : kSeparations) {
    SCOPED_TRACE(s.name);
    for (const char* level : s.allowed) EXPECT_TRUE(allows(level, s.hist)) << level;
    for (const char* level : s.forbidden) EXPECT_FALSE(allows(level, s.hist)) << level;
  }
}

TEST(LevelsOverCoSnap, FollowTheNumbersOfCommits) {
  const auto recorded = [](int first, int second) {
    return recorded_run(
        fmt::format("{{\"format\":\"isoscope-history/1\"}}\n"
                    "{{\"session\":\"a\",\"id\":\"a\",\"status\":\"committed\",\"ops\":[[\"w\","
                    "\"x\",1],[\"w\",\"y\",1]],\"commit\":{}}}\n"
                    "{{\"session\":\"b\",\"id\":\"b\",\"status\":\"committed\",\"ops\":[[\"r\","
                    "\"y\",0],[\"w\",\"x\",2],[\"r\",\"y\",0]],\"commit\":{"
                    "}}}\n",
                    first, second));
  };
  // Whoever comes second waited: if that is the reader, its last read is stale.
  EXPECT_FALSE(allows("pg-rc", recorded(1, 2)));
  EXPECT_TRUE(allows("pc@snap", recorded(1, 2)));
  EXPECT_TRUE(allows("pg-rc", recorded(2, 1)));
}

TEST(LevelsOverCoSnap, HaveWitnessesThatTheEvaluatorJudges) {
  const History h = history_of("s1: [w(x,1)] s2: [r(x,0) | r(x,1) r(x,1)]");
  const Level& level = **LevelSet::built_in().find("pg-rc");
  Witness witness{.framework = Framework::CoSnap,
                  .order = {kInitialTxn, TxnId{1}, TxnId{2}},
                  .snap = {0, 1, 2, 2}};
  EXPECT_FALSE(evaluate({&level, {}}, {h, witness}).has_value());
  const auto fails = [&](std::vector<std::uint32_t> snap) {
    witness.snap = std::move(snap);
    return evaluate({&level, {}}, {h, witness})->rule;
  };
  EXPECT_EQ(fails({0, 0, 2, 2}), "T0 is in each snapshot");
  EXPECT_EQ(fails({0, 1, 3, 3}), "snapshots end before their transaction");
  EXPECT_EQ(fails({0, 1, 2, 1}), "reads of a statement share their snapshot");
  EXPECT_EQ(fails({0, 2, 2, 2}), "the writer is the last one in the snapshot");
  EXPECT_EQ(fails({0, 1, 1, 1}), "the writer is in the snapshot");
}

}  // namespace
}  // namespace isoscope
