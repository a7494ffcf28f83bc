// Races of recorded runs: runs as `record` writes them, and what could have come of them.
#include "races/races.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "formats/jsonl.h"

namespace isoscope::races {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// A run, line by line.
class Recorded {
 public:
  explicit Recorded(const std::string& initial)
      : text_(fmt::format("{{\"format\":\"isoscope-history/1\",\"init\":{{{}}}}}\n", initial)) {}

  // `statements`: the text of each, and its operations in JSON.
  Recorded& add(const std::vector<std::pair<std::string, std::string>>& statements,
                const std::string& more = "") {
    std::string ops;
    std::string texts;
    for (const auto& [sql, list] : statements) {
      ops += fmt::format("{}[{}]", ops.empty() ? "" : ",", list);
      texts += fmt::format("{}{{\"sql\":\"{}\"}}", texts.empty() ? "" : ",", sql);
    }
    ++count_;
    text_ += fmt::format(
        "{{\"session\":\"s{0}\",\"id\":\"T{0}\",\"status\":\"committed\",\"ops\":[{1}],"
        "\"isolation\":\"read committed\",\"commit\":{0},\"stmts\":[{2}]{3}}}\n",
        count_, ops, texts, more);
    return *this;
  }

  // The same, rolled back; `error`: the SQLSTATE that ended it, if one did.
  Recorded& roll_back(const std::vector<std::pair<std::string, std::string>>& statements,
                      const std::string& error) {
    add(statements, error.empty() ? "" : fmt::format(",\"error\":\"{}\"", error));
    const auto replace = [&](const std::string& old, const std::string& by) {
      text_.replace(text_.rfind(old), old.size(), by);
    };
    replace("committed\",\"ops", "aborted\",\"ops");
    replace(fmt::format("\"commit\":{},", count_), "");
    return *this;
  }

  Run run() const {
    LineReader lines = LineReader::over(text_);
    RunNotes notes;
    auto h = read_jsonl(lines, &notes);
    if (!h) ADD_FAILURE() << h.error().what << "\n" << text_;
    return run_of(*h);
  }

 private:
  std::string text_;
  int count_ = 0;
};

RaceAnswer races_of(const Recorded& recorded, ServerLevel level = ServerLevel::ReadCommitted) {
  const LevelSet levels = LevelSet::built_in();
  Budget budget;
  const char* names[] = {"pg-rc", "pg-rr", "pg-ser"};
  const auto text = levels.find(names[static_cast<std::size_t>(level)]);
  EXPECT_TRUE(text);
  return find_races(recorded.run(), {.level = level, .sessions_are_connections = false}, *text,
                    levels, budget);
}

constexpr const char* kStock = R"("p[1]":"present","p[1].qty":"10")";
constexpr const char* kLook = "SELECT qty FROM p WHERE id = 1";
constexpr const char* kSet = "UPDATE p SET qty = 7 WHERE id = 1";

// Two customers, one after the other, who look and then write.
Recorded look_and_set() {
  Recorded run(kStock);
  run.add({{kLook, R"(["r","p[1]",{"from":"T0"}],["r","p[1].qty",{"from":"T0"}])"},
           {kSet, R"(["r","p[1]",{"from":"T0"}],["w","p[1].qty","7"])"}});
  run.add({{kLook, R"(["r","p[1]",{"from":"T0"}],["r","p[1].qty",{"from":"T1"}])"},
           {kSet, R"(["r","p[1]",{"from":"T0"}],["w","p[1].qty","3"])"}});
  return run;
}

TEST(Races, FindsALostUpdateBetweenReadAndWrite) {
  const RaceAnswer answer = races_of(look_and_set());
  ASSERT_EQ(answer.races.size(), 1U);
  const Race& race = answer.races[0];
  EXPECT_EQ(race.unserializable.verdict.violation->anomaly, Anomaly::LostUpdate);
  EXPECT_EQ(race.allowed->verdict.outcome, Outcome::Consistent);
  ASSERT_EQ(race.interleaving.changed.size(), 1U);
  EXPECT_EQ(race.interleaving.changed[0].txn, RunTxn{2});
  EXPECT_EQ(race.interleaving.changed[0].predicted, kT0);
  EXPECT_THAT(race.assumes, Contains(HasSubstr("computed by the application")));
}

TEST(Races, LetsTheFirstUpdaterWinAtRepeatableRead) {
  const RaceAnswer answer = races_of(look_and_set(), ServerLevel::RepeatableRead);
  EXPECT_THAT(answer.races, IsEmpty());
  EXPECT_EQ(answer.limit, "");
  ASSERT_EQ(answer.safe.size(), 1U);
  EXPECT_THAT(answer.safe[0].why, Contains(HasSubstr("40001")));
  EXPECT_TRUE(answer.safe[0].is_decided);
}

TEST(Races, FindsNoneBehindALock) {
  Recorded run(kStock);
  const std::string lock = "SELECT qty FROM p WHERE id = 1 FOR UPDATE";
  for (int i = 1; i <= 2; ++i)
    run.add({{lock,
              fmt::format(
                  R"(["r","p[1]",{{"from":"T0"}}],["r","p[1].qty",{{"from":"T{}"}}],["l","p[1]"])",
                  i - 1)},
             {kSet, fmt::format(R"(["r","p[1]",{{"from":"T0"}}],["w","p[1].qty","{}"])", i)}});
  const RaceAnswer answer = races_of(run);
  EXPECT_THAT(answer.races, IsEmpty());
  EXPECT_EQ(answer.limit, "");
  ASSERT_EQ(answer.safe.size(), 1U);
  EXPECT_THAT(answer.safe[0].why, Contains(HasSubstr("took while reading")));
}

TEST(Races, FindsNoneInOneGuardedStatement) {
  Recorded run(R"("p[1]":"present","p[1].qty":"10","p[1]{where qty >= 3}":"yes")");
  const std::string sql = "UPDATE p SET qty = qty - 3 WHERE id = 1 AND qty >= 3";
  for (int i = 1; i <= 2; ++i)
    run.add(
        {{sql,
          fmt::format(
              R"(["r","p[1]{{where qty >= 3}}",{{"from":"T0"}}],["r","p[1].qty",{{"from":"T{}"}}],["w","p[1].qty","{}"])",
              i - 1, 10 - 3 * i)}});
  const RaceAnswer answer = races_of(run);
  EXPECT_THAT(answer.races, IsEmpty());
  EXPECT_EQ(answer.limit, "");
}

// The second finds too few. Had it come first, it would have matched, and what it does then is not
// in the recording: no race is known, and none is ruled out.
TEST(Races, DoesNotCallAPairSafeWhoseStatementWouldMatchFurtherRows) {
  Recorded run(
      R"("p[1]{where id = 2 AND qty >= 3}":"no","p[2].qty":"4","p[2]{where id = 2 AND qty >= 3}":"yes")");
  const std::string sql = "UPDATE p SET qty = qty - 3 WHERE id = 2 AND qty >= 3";
  run.add(
      {{sql,
        R"(["r","p[1]{where id = 2 AND qty >= 3}",{"from":"T0"}],["r","p[2]{where id = 2 AND qty >= 3}",{"from":"T0"}],["r","p[2].qty",{"from":"T0"}],["w","p[2].qty","1"],["w","p[2]{where id = 2 AND qty >= 3}","no"])"}});
  run.add(
      {{sql,
        R"(["r","p[1]{where id = 2 AND qty >= 3}",{"from":"T0"}],["r","p[2]{where id = 2 AND qty >= 3}",{"from":"T1"}])"}});
  const RaceAnswer answer = races_of(run);
  EXPECT_THAT(answer.races, IsEmpty());
  EXPECT_NE(answer.limit, "");
  ASSERT_EQ(answer.safe.size(), 1U);
  EXPECT_FALSE(answer.safe[0].is_decided);
  EXPECT_THAT(answer.safe[0].why, Contains(HasSubstr("did not match in the recording")));
}

// Three on one row, where each takes the row as it is: no two and no three of them race.
TEST(Races, FindsNoneAmongThreeThatHoldWhatTheyRead) {
  Recorded run(kStock);
  for (int i = 1; i <= 3; ++i)
    run.add(
        {{"UPDATE p SET qty = qty - 1 WHERE id = 1",
          fmt::format(
              R"(["r","p[1]",{{"from":"T0"}}],["r","p[1].qty",{{"from":"T{}"}}],["w","p[1].qty","{}"])",
              i - 1, 10 - i)}});
  const RaceAnswer answer = races_of(run);
  EXPECT_THAT(answer.races, IsEmpty());
  EXPECT_EQ(answer.limit, "");
}

// Each reads what the next one writes: any two have a serial order, three have none. They write
// what is there already, so that the application is told nothing else.
TEST(Races, DoesNotSayNoneWhereThreeCloseACycle) {
  Recorded run(
      R"("p[1]":"present","p[1].v":"0","p[2]":"present","p[2].v":"0","p[3]":"present","p[3].v":"0")");
  const auto add = [&](int reads, int from, int writes) {
    run.add({{fmt::format("SELECT v FROM p WHERE id = {}", reads),
              fmt::format(R"(["r","p[{}].v",{{"from":"T{}"}}])", reads, from)},
             {fmt::format("UPDATE p SET v = 0 WHERE id = {}", writes),
              fmt::format(R"(["r","p[{0}]",{{"from":"T0"}}],["w","p[{0}].v","0"])", writes)}});
  };
  add(1, 0, 2);
  add(2, 1, 3);
  add(3, 2, 1);
  for (const ServerLevel level : {ServerLevel::ReadCommitted, ServerLevel::RepeatableRead}) {
    const RaceAnswer answer = races_of(run, level);
    EXPECT_THAT(answer.races, IsEmpty());
    EXPECT_THAT(answer.limit, HasSubstr("three could close a cycle"));
  }
  EXPECT_EQ(races_of(run, ServerLevel::Serializable).limit, "");
}

TEST(Races, FindsNoneWhereAVersionColumnNoLongerMatches) {
  Recorded run(
      R"("p[1]":"present","p[1].qty":"10","p[1].v":"1","p[1]{where v = 1}":"yes","p[1]{where v = 2}":"no")");
  const std::string look = "SELECT qty, v FROM p WHERE id = 1";
  run.add(
      {{look, R"(["r","p[1].qty",{"from":"T0"}],["r","p[1].v",{"from":"T0"}])"},
       {"UPDATE p SET qty = 9, v = 2 WHERE id = 1 AND v = 1",
        R"(["r","p[1]{where v = 1}",{"from":"T0"}],["w","p[1].qty","9"],["w","p[1].v","2"],["w","p[1]{where v = 1}","no"],["w","p[1]{where v = 2}","yes"])"}});
  run.add(
      {{look, R"(["r","p[1].qty",{"from":"T1"}],["r","p[1].v",{"from":"T1"}])"},
       {"UPDATE p SET qty = 8, v = 3 WHERE id = 1 AND v = 2",
        R"(["r","p[1]{where v = 2}",{"from":"T1"}],["w","p[1].qty","8"],["w","p[1].v","3"],["w","p[1]{where v = 2}","no"])"}});
  const RaceAnswer answer = races_of(run);
  EXPECT_THAT(answer.races, IsEmpty());
  ASSERT_EQ(answer.safe.size(), 1U);
  EXPECT_THAT(answer.safe[0].why, Contains(HasSubstr("WHERE no longer matches")));
}

// Each counts the rows, and inserts one: a phantom of each is missing from the other's count.
Recorded count_and_insert() {
  Recorded run(R"("c[1]":"present")");
  const std::string count = "SELECT count(*) FROM r WHERE coupon = 1";
  const std::string insert = "INSERT INTO r VALUES (1, 1)";
  run.add(
      {{count,
        R"(["r","r[1]{where coupon = 1}",{"from":"T0"}],["r","r[2]{where coupon = 1}",{"from":"T0"}])"},
       {insert,
        R"(["r","r[1]",{"from":"T0"}],["i","r[1]","present"],["i","r[1]{where coupon = 1}","yes"])"}});
  run.add(
      {{count,
        R"(["r","r[1]{where coupon = 1}",{"from":"T1"}],["r","r[2]{where coupon = 1}",{"from":"T0"}])"},
       {insert,
        R"(["r","r[2]",{"from":"T0"}],["i","r[2]","present"],["i","r[2]{where coupon = 1}","yes"])"}});
  return run;
}

TEST(Races, FindsWriteSkewByPhantomsAtRepeatableReadToo) {
  for (const ServerLevel level : {ServerLevel::ReadCommitted, ServerLevel::RepeatableRead}) {
    const RaceAnswer answer = races_of(count_and_insert(), level);
    ASSERT_EQ(answer.races.size(), 1U);
    EXPECT_EQ(answer.races[0].unserializable.verdict.violation->anomaly, Anomaly::WriteSkew);
  }
  EXPECT_THAT(races_of(count_and_insert(), ServerLevel::Serializable).races, IsEmpty());
}

TEST(Races, TellsARaceOnceForManyRows) {
  Recorded run("");
  constexpr int kRows = 600;
  for (int i = 0; i < 2 * kRows; ++i) {
    const int row = i / 2;
    const std::string from = i % 2 == 0 ? "T0" : fmt::format("T{}", i);
    run.add({{fmt::format("SELECT qty FROM p WHERE id = {}", row),
              fmt::format(R"(["r","p[{}].qty",{{"from":"{}"}}])", row, from)},
             {fmt::format("UPDATE p SET qty = {} WHERE id = {}", i, row),
              fmt::format(R"(["w","p[{}].qty","{}"])", row, i)}});
  }
  const auto start = std::chrono::steady_clock::now();
  const RaceAnswer answer = races_of(run);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ASSERT_EQ(answer.races.size(), 1U);
  EXPECT_EQ(answer.races[0].pairs, 64U);
  EXPECT_THAT(answer.limit, HasSubstr("not all pairs"));
  EXPECT_LT(took.count(), 20.0);
}

TEST(Races, SaysThatAGapMayHideOne) {
  Recorded run(kStock);
  run.add({{kLook, R"(["r","p[1].qty",{"from":"T0"}])"}, {kSet, R"(["w","p[1].qty","7"])"}});
  run.add({{kLook, R"(["r","p[1].qty",{"from":"T1"}])"}, {kSet, R"(["w","p[1].qty","3"])"}},
          R"(,"gaps":[{"stmt":1,"why":"a join"}])");
  const RaceAnswer answer = races_of(run);
  EXPECT_THAT(answer.races, IsEmpty());
  EXPECT_EQ(answer.pairs_with_gaps, 1U);
  EXPECT_THAT(answer.limit, HasSubstr("gaps"));
}

// The second only reads, since nothing is left. Beside the first it would have read that something
// is, and what it does then is not in the recording.
TEST(Races, DoesNotCallAPairSafeWhoseApplicationWouldReadSomethingElse) {
  Recorded run(R"("p[1]":"present","p[1].qty":"1")");
  run.add({{kLook, R"(["r","p[1].qty",{"from":"T0"}])"},
           {"UPDATE p SET qty = 0 WHERE id = 1", R"(["w","p[1].qty","0"])"}});
  run.add({{kLook, R"(["r","p[1].qty",{"from":"T1"}])"}});
  const RaceAnswer answer = races_of(run);
  EXPECT_THAT(answer.races, IsEmpty());
  ASSERT_EQ(answer.safe.size(), 1U);
  EXPECT_FALSE(answer.safe[0].is_decided);
  EXPECT_THAT(answer.safe[0].why, Contains(HasSubstr("it would read something else")));
  EXPECT_THAT(answer.limit, HasSubstr("may act on it"));
}

// Who writes blindly tells nobody anything: the pair is safe whatever it reads.
TEST(Races, CallsAPairSafeIfOnlyStatementsReadSomethingElse) {
  Recorded run(kStock);
  run.add({{"UPDATE p SET qty = qty - 1 WHERE id = 1",
            R"(["r","p[1].qty",{"from":"T0"}],["w","p[1].qty","9"])"},
           {"SELECT 1", ""}});
  run.add({{"UPDATE p SET qty = qty - 1 WHERE id = 1",
            R"(["r","p[1].qty",{"from":"T1"}],["w","p[1].qty","8"])"}});
  const RaceAnswer answer = races_of(run);
  EXPECT_THAT(answer.races, IsEmpty());
  EXPECT_EQ(answer.limit, "");
}

TEST(Races, DoesNotFollowOtherLocksThanThoseOfRows) {
  for (const char* lock : {"SELECT pg_advisory_xact_lock(1)", "LOCK TABLE p IN EXCLUSIVE MODE",
                           "SELECT pg_try_advisory_xact_lock(1)"}) {
    Recorded run(kStock);
    run.add({{lock, ""},
             {kLook, R"(["r","p[1].qty",{"from":"T0"}])"},
             {kSet, R"(["w","p[1].qty","7"])"}});
    run.add({{lock, ""},
             {kLook, R"(["r","p[1].qty",{"from":"T1"}])"},
             {kSet, R"(["w","p[1].qty","3"])"}});
    const RaceAnswer answer = races_of(run);
    EXPECT_THAT(answer.races, IsEmpty()) << lock;
    ASSERT_EQ(answer.safe.size(), 1U) << lock;
    EXPECT_FALSE(answer.safe[0].is_decided);
    EXPECT_THAT(answer.safe[0].why, Contains(HasSubstr("advisory locks or locks of tables")));
    EXPECT_NE(answer.limit, "");
  }
  // One that only the first takes excludes nobody.
  Recorded run(kStock);
  run.add({{"SELECT pg_advisory_xact_lock(1)", ""},
           {kLook, R"(["r","p[1].qty",{"from":"T0"}])"},
           {kSet, R"(["w","p[1].qty","7"])"}});
  run.add({{kLook, R"(["r","p[1].qty",{"from":"T1"}])"}, {kSet, R"(["w","p[1].qty","3"])"}});
  EXPECT_EQ(races_of(run).races.size(), 1U);
}

TEST(Races, PredictsNothingByWhatAStatementMayNotDependOn) {
  for (const bool is_coarse : {false, true}) {
    Recorded run(R"("o[1]{o in from o join c}":"yes","c[1].ok":"no")");
    run.add({{"SELECT v FROM o JOIN c ON c.id = o.c WHERE c.ok",
              fmt::format(R"(["r","o[1]{{o in from o join c}}",{{"from":"T0"{}}}])",
                          is_coarse ? R"(,"coarse":true)" : "")},
             {"UPDATE c SET ok = false WHERE id = 1", R"(["w","c[1].ok","no"])"}});
    run.add({{"SELECT ok FROM c WHERE id = 1", R"(["r","c[1].ok",{"from":"T1"}])"},
             {"UPDATE o SET v = 7 WHERE id = 1", R"(["w","o[1]{o in from o join c}","yes,7"])"}});
    const RaceAnswer answer = races_of(run, ServerLevel::RepeatableRead);
    EXPECT_EQ(answer.races.size(), is_coarse ? 0U : 1U);
    if (!is_coarse) continue;
    ASSERT_EQ(answer.safe.size(), 1U);
    EXPECT_FALSE(answer.safe[0].is_decided);
    EXPECT_THAT(answer.safe[0].why, Contains(HasSubstr("it may depend on what the other changes")));
    EXPECT_NE(answer.limit, "");
  }
}

TEST(Races, SaysThatARolledBackTransactionCouldHaveGoneOn) {
  Recorded run(kStock);
  run.add({{kSet, R"(["w","p[1].qty","7"])"}});
  run.roll_back({{kLook, R"(["r","p[1].qty",{"from":"T1"}])"}}, "");
  EXPECT_THAT(races_of(run).limit, HasSubstr("1 transaction was rolled back"));
  Recorded ended(kStock);
  ended.add({{kSet, R"(["w","p[1].qty","7"])"}});
  ended.roll_back({{kLook, R"(["r","p[1].qty",{"from":"T1"}])"}}, "40001");
  EXPECT_EQ(races_of(ended).limit, "");
}

TEST(StatementShape, HasNoConstantsAndNoComments) {
  EXPECT_EQ(shape_of("SELECT a FROM t WHERE x = 5 AND y IN (1, 2, 3) /*file='a.py'*/ ;"),
            "SELECT a FROM t WHERE x = ? AND y IN (?)");
  EXPECT_EQ(shape_of("UPDATE t SET v = $1\n  WHERE id = 'a''b'"),
            "UPDATE t SET v = ? WHERE id = ?");
}

TEST(StatementShape, TellsThePlaceInTheCode) {
  EXPECT_EQ(code_place("SELECT 1 /*file='shop.py',line='12',function='buy'*/"),
            "shop.py:12 in buy");
  EXPECT_EQ(code_place("/*controller='cart',route='%2Fcart'*/ SELECT 1"), "/cart");
  EXPECT_EQ(code_place("SELECT 1 /* nothing */"), "");
}

}  // namespace
}  // namespace isoscope::races
