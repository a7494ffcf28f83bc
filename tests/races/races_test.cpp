// Races of recorded runs: runs as `record` writes them, and what could have come of them.
#include "races/races.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "formats/jsonl.h"
#include "spec/levels.h"

namespace isoscope::races {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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

  // What all transactions declare.
  Recorded& at(const std::string& isolation) {
    constexpr std::string_view kDeclared = "read committed";
    for (auto at = text_.find(kDeclared); at != std::string::npos; at = text_.find(kDeclared, at))
      text_.replace(at, kDeclared.size(), isolation);
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

RaceAnswer races_of(const Recorded& recorded, PgLevel level = PgLevel::ReadCommitted) {
  const LevelSet levels = LevelSet::built_in();
  Budget budget;
  const char* names[] = {"pg-rc", "pg-rr", "pg-ser"};
  const auto text = levels.find(names[static_cast<std::size_t>(level)]);
  EXPECT_TRUE(text);
  return find_races(recorded.run(), {.level = level, .sessions_are_connections = false}, *text,
                    budget);
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

// The first reads what the second overwrites, and writes last what both write: in the order of its
// read, the second would have.
TEST(Races, FindsAReadThatTheLastWriteContradicts) {
  Recorded run(R"("p[1].qty":"10","q[1].v":"0")");
  run.add({{kLook, R"(["r","p[1].qty",{"from":"T0"}])"},
           {"UPDATE q SET v = 1 WHERE id = 1", R"(["w","q[1].v","1"])"}});
  run.add({{kSet, R"(["w","p[1].qty","7"])"},
           {"UPDATE q SET v = 2 WHERE id = 1", R"(["w","q[1].v","2"])"}});
  const RaceAnswer answer = races_of(run);
  ASSERT_EQ(answer.races.size(), 1U);
  EXPECT_EQ(answer.races[0].allowed->verdict.outcome, Outcome::Consistent);
  EXPECT_EQ(answer.races[0].interleaving.back.kind, Dependency::Kind::Ww);
  EXPECT_TRUE(answer.races[0].interleaving.first_commits_last);
  EXPECT_THAT(races_of(run, PgLevel::RepeatableRead).races, IsEmpty());
}

TEST(Races, LetsTheFirstUpdaterWinAtRepeatableRead) {
  const RaceAnswer answer = races_of(look_and_set(), PgLevel::RepeatableRead);
  EXPECT_THAT(answer.races, IsEmpty());
  EXPECT_EQ(answer.limit, "");
  ASSERT_EQ(answer.safe.size(), 1U);
  EXPECT_THAT(answer.safe[0].why, Contains(HasSubstr("40001")));
  EXPECT_TRUE(answer.safe[0].is_decided);
}

TEST(Races, KnowsTheDeclaredLevelInEverySpelling) {
  for (const char* declared : {"read uncommitted", "READ UNCOMMITTED", "Read Committed"})
    EXPECT_THAT(races_of(look_and_set().at(declared)).races, SizeIs(1)) << declared;
  for (const char* declared : {"repeatable read", "REPEATABLE READ", "Serializable"})
    EXPECT_THAT(races_of(look_and_set().at(declared)).races, IsEmpty()) << declared;
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
  for (const PgLevel level : {PgLevel::ReadCommitted, PgLevel::RepeatableRead}) {
    const RaceAnswer answer = races_of(run, level);
    EXPECT_THAT(answer.races, IsEmpty());
    EXPECT_THAT(answer.limit, HasSubstr("three could close a cycle"));
  }
  EXPECT_EQ(races_of(run, PgLevel::Serializable).limit, "");
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
  for (const PgLevel level : {PgLevel::ReadCommitted, PgLevel::RepeatableRead}) {
    const RaceAnswer answer = races_of(count_and_insert(), level);
    ASSERT_EQ(answer.races.size(), 1U);
    EXPECT_EQ(answer.races[0].unserializable.verdict.violation->anomaly, Anomaly::WriteSkew);
  }
  EXPECT_THAT(races_of(count_and_insert(), PgLevel::Serializable).races, IsEmpty());
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

// Only a call takes a lock: neither a constant nor a comment nor a column that has its name.
TEST(Races, TakesNoWordOfAConstantOrANameForALock) {
  for (const char* update : {"UPDATE p SET qty = 7, note = 'pg_advisory_lock(1)' WHERE id = 1",
                             "UPDATE p SET qty = 7 WHERE id = 1 /* pg_advisory_lock(1) */",
                             "UPDATE p SET qty = 7, advisory_lock_note = NULL WHERE id = 1"}) {
    Recorded run(kStock);
    run.add({{kLook, R"(["r","p[1].qty",{"from":"T0"}])"}, {update, R"(["w","p[1].qty","7"])"}});
    run.add({{kLook, R"(["r","p[1].qty",{"from":"T1"}])"}, {update, R"(["w","p[1].qty","3"])"}});
    EXPECT_EQ(races_of(run).races.size(), 1U) << update;
  }
}

TEST(RecordedStatement, IsReadByItsWordsAlone) {
  const auto statement = [](const std::string& sql) {
    return Recorded(kStock).add({{sql, ""}}).run().txns[RunTxn{1}].statements.at(0);
  };
  EXPECT_TRUE(statement("UPDATE p SET qty = 1 RETURNING qty").tells_rows);
  EXPECT_FALSE(statement("UPDATE p SET note = 'returning', returning_at = 1").tells_rows);
  EXPECT_FALSE(statement("UPDATE p SET \\\"a returning\\\" = 1").tells_rows);
  EXPECT_TRUE(statement("INSERT INTO p VALUES (1) ON /* a */ CONFLICT DO NOTHING").takes_conflicts);
  EXPECT_FALSE(statement("INSERT INTO p VALUES (N'on conflict')").takes_conflicts);
  EXPECT_TRUE(statement("(SELECT qty FROM p)FOR\\nNO KEY UPDATE").clauses.no_key_update);
  EXPECT_FALSE(statement("SELECT n'a for share', b AS \\\"x for update\\\" FROM p").clauses.any());
}

TEST(RecordedStatement, LocksWhateverItsTextCalls) {
  const auto holds = [](const std::string& sql) {
    return Recorded(kStock).add({{sql, ""}}).run().txns[RunTxn{1}].holds_other_locks;
  };
  EXPECT_TRUE(holds("SELECT pg_catalog.pg_advisory_xact_lock (1)"));
  EXPECT_TRUE(holds("DO $$ BEGIN PERFORM pg_advisory_lock(1); END $$"));
  EXPECT_TRUE(holds("SELECT our_advisory_lock('p')"));
  EXPECT_FALSE(holds("INSERT INTO s.advisory_locks (a) VALUES ('pg_advisory_lock(1)')"));
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
    const RaceAnswer answer = races_of(run, PgLevel::RepeatableRead);
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

// Each locks the row, gives the lock back, and writes what it has computed.
TEST(Races, FindsALostUpdateBehindALockThatWasGivenBack) {
  for (const char* lock : {R"(,["l","p[1]"])", ""}) {  // whether the lock is recorded or not
    Recorded run(kStock);
    for (int i = 1; i <= 2; ++i)
      run.add({{"SAVEPOINT a", ""},
               {"SELECT qty FROM p WHERE id = 1 FOR UPDATE",
                fmt::format(R"(["r","p[1]",{{"from":"T0"}}],["r","p[1].qty",{{"from":"T{}"}}]{})",
                            i - 1, lock)},
               {"ROLLBACK TO SAVEPOINT A", ""},
               {kSet, fmt::format(R"(["r","p[1]",{{"from":"T0"}}],["w","p[1].qty","{}"])", i)}});
    EXPECT_EQ(races_of(run).races.size(), 1U) << lock;
  }
}

// The second waits for the first, until that has given its lock back: it does not overtake it.
TEST(Races, WaitsForALockUntilItIsGivenBack) {
  Recorded run(R"("p[1]":"present","p[1].qty":"10","q[1].v":"0")");
  run.add({{"SAVEPOINT a", ""},
           {"SELECT qty FROM p WHERE id = 1 FOR UPDATE",
            R"(["r","p[1]",{"from":"T0"}],["r","p[1].qty",{"from":"T0"}])"},
           {"SELECT v FROM q WHERE id = 1", R"(["r","q[1].v",{"from":"T0"}])"},
           {"ROLLBACK TO a", ""}});
  run.add({{kSet, R"(["r","p[1]",{"from":"T0"}],["w","p[1].qty","7"])"},
           {"UPDATE q SET v = 1 WHERE id = 1", R"(["w","q[1].v","1"])"}});
  EXPECT_THAT(races_of(run).races, IsEmpty());
}

// A child is inserted beside FOR NO KEY UPDATE, not beside FOR UPDATE.
TEST(Races, KnowsThatForNoKeyUpdateDoesNotExcludeForeignKeys) {
  for (const char* mode : {"FOR UPDATE", "FOR NO KEY UPDATE"}) {
    Recorded run(R"("p[1]":"present","p[1].n":"0")");
    run.add({{"INSERT INTO c VALUES (1, 1)",
              R"(["r","c[1]",{"from":"T0"}],["r","p[1]",{"from":"T0"}],["lk","p[1]"],)"
              R"(["i","c[1]","present"],["i","c[1]{where p = 1}","yes"])"},
             {"SELECT n FROM p WHERE id = 1",
              R"(["r","p[1]",{"from":"T0"}],["r","p[1].n",{"from":"T0"}])"}});
    run.add(
        {{fmt::format("SELECT id FROM p WHERE id = 1 {}", mode),
          R"(["r","p[1]",{"from":"T0"}],["l","p[1]"])"},
         {"UPDATE p SET n = 5 WHERE id = 1", R"(["r","p[1]",{"from":"T0"}],["w","p[1].n","5"])"},
         {"SELECT count(*) FROM c WHERE p = 1", R"(["r","c[1]{where p = 1}",{"from":"T1"}])"}});
    EXPECT_EQ(races_of(run).races.size(), mode == std::string("FOR UPDATE") ? 0U : 1U) << mode;
  }
}

// The first reads, and then updates what the second has inserted: the reverse of the recording.
TEST(Races, DoesNotCallAPairSafeWhoseOnConflictWouldGoTheOtherWay) {
  Recorded run(R"("p[1]":"present","p[1].qty":"10")");
  const std::string upsert =
      "INSERT INTO q VALUES (7, 1) ON CONFLICT (id) DO UPDATE SET v = q.v + 1";
  run.add({{kLook, R"(["r","p[1]",{"from":"T0"}],["r","p[1].qty",{"from":"T0"}])"},
           {upsert, R"(["r","q[7]",{"from":"T0"}],["i","q[7]","present"],["i","q[7].v","1"])"}});
  run.add(
      {{kSet, R"(["r","p[1]",{"from":"T0"}],["w","p[1].qty","7"])"},
       {upsert, R"(["r","q[7].v",{"from":"T1"}],["r","q[7]",{"from":"T1"}],["w","q[7].v","2"])"}});
  const RaceAnswer answer = races_of(run);
  ASSERT_EQ(answer.safe.size(), 1U);
  EXPECT_FALSE(answer.safe[0].is_decided);
  EXPECT_THAT(answer.safe[0].why, Contains(HasSubstr("its key would be there")));
  EXPECT_THAT(answer.limit, HasSubstr("other rows than in the recording"));
}

// Two statements that insert or update one row come one after the other.
TEST(Races, FindsNoneBetweenTwoUpserts) {
  Recorded run("");
  const std::string upsert =
      "INSERT INTO q VALUES (7, 1) ON CONFLICT (id) DO UPDATE SET v = q.v + 1";
  run.add({{upsert, R"(["r","q[7]",{"from":"T0"}],["i","q[7]","present"],["i","q[7].v","1"])"}});
  run.add(
      {{upsert, R"(["r","q[7].v",{"from":"T1"}],["r","q[7]",{"from":"T1"}],["w","q[7].v","2"])"}});
  EXPECT_EQ(races_of(run).limit, "");
}

// Beside the first, the second would change row 2 only, and then see what the first has done.
TEST(Races, DoesNotTakeAStatementForGuardedThatLosesSomeOfItsRows) {
  Recorded run(R"("t[1].n":"0","t[2].n":"0","t[1]{where active}":"no","t[2]{where active}":"yes",)"
               R"("q[1].v":"0")");
  run.add({{"UPDATE t SET active = true WHERE id = 1",
            R"(["w","t[1].active","t"],["w","t[1]{where active}","yes"])"},
           {"UPDATE q SET v = 5 WHERE id = 1", R"(["w","q[1].v","5"])"}});
  run.add({{"UPDATE t SET n = n + 1 WHERE active",
            R"(["r","t[1]{where active}",{"from":"T1"}],["r","t[2]{where active}",{"from":"T0"}],)"
            R"(["r","t[1].n",{"from":"T0"}],["r","t[2].n",{"from":"T0"}],)"
            R"(["w","t[1].n","1"],["w","t[2].n","1"])"},
           {"SELECT v FROM q WHERE id = 1", R"(["r","q[1].v",{"from":"T1"}])"}});
  const RaceAnswer answer = races_of(run);
  ASSERT_EQ(answer.safe.size(), 1U);
  EXPECT_FALSE(answer.safe[0].is_decided);
  EXPECT_THAT(answer.safe[0].why, Contains(HasSubstr("would not match rows that it matched")));
  EXPECT_EQ(races_of(run, PgLevel::Serializable).limit, "");
}

// Beside the first, the second would find no row either, and might insert one too.
TEST(Races, DoesNotCallAPairSafeThatFindsARowOnlyAfterTheOther) {
  for (const char* sql : {"SELECT id FROM t WHERE name = 'x' FOR UPDATE",
                          "UPDATE t SET n = n + 1 WHERE name = 'x'"}) {
    Recorded run("");
    run.add({{sql, R"(["r","t[1]{where name = 'x'}",{"from":"T0"}])"},
             {"INSERT INTO t VALUES (1, 'x', 1)",
              R"(["r","t[1]",{"from":"T0"}],["i","t[1]","present"],["i","t[1].n","1"],)"
              R"(["i","t[1]{where name = 'x'}","yes"])"}});
    run.add(
        {{sql, R"(["r","t[1]{where name = 'x'}",{"from":"T1"}],["l","t[1]"])"},
         {"UPDATE t SET n = 2 WHERE id = 1", R"(["r","t[1]",{"from":"T1"}],["w","t[1].n","2"])"}});
    const RaceAnswer answer = races_of(run);
    EXPECT_NE(answer.limit, "") << sql;
    ASSERT_EQ(answer.safe.size(), 1U) << sql;
    EXPECT_FALSE(answer.safe[0].is_decided) << sql;
  }
}

// Before the first has committed, the second cannot refer to its row (23503).
TEST(Races, FindsNoneWhereAForeignKeyRefusesAnUpdate) {
  Recorded run(R"("c[1]":"present","c[1].p":"1","q[1].v":"0")");
  run.add({{"INSERT INTO p VALUES (2)", R"(["r","p[2]",{"from":"T0"}],["i","p[2]","present"])"},
           {"UPDATE q SET v = 5 WHERE id = 1", R"(["w","q[1].v","5"])"}});
  run.add({{"UPDATE c SET p = 2 WHERE id = 1",
            R"(["r","c[1]",{"from":"T0"}],["r","p[2]",{"from":"T1"}],["lk","p[2]"],)"
            R"(["w","c[1].p","2"])"},
           {"SELECT v FROM q WHERE id = 1", R"(["r","q[1].v",{"from":"T1"}])"}});
  const RaceAnswer answer = races_of(run);
  EXPECT_THAT(answer.races, IsEmpty());
  ASSERT_EQ(answer.safe.size(), 1U);
  EXPECT_THAT(answer.safe[0].why, Contains(HasSubstr("23503")));
}

// T1 sees the deposit of T3 and not the withdrawal of T2, which has not seen the deposit.
TEST(Races, DoesNotSayNoneWhereOneThatOnlyReadsClosesACycle) {
  Recorded run(R"("a[1].b":"0","a[2].b":"0")");
  const std::string both = R"(["r","a[1].b",{"from":"T0"}],["r","a[2].b",{"from":"T0"}])";
  run.add({{"SELECT b FROM a WHERE id IN (1, 2)", both}});
  run.add({{"SELECT sum(b) FROM a WHERE id IN (1, 2)", both},
           {"UPDATE a SET b = -11 WHERE id = 1", R"(["w","a[1].b","-11"])"}});
  run.add({{"UPDATE a SET b = 20 WHERE id = 2", R"(["w","a[2].b","20"])"}});
  EXPECT_THAT(races_of(run, PgLevel::RepeatableRead).limit, HasSubstr("three could close"));
  EXPECT_EQ(races_of(run, PgLevel::Serializable).limit, "");
}

// rev = 5 says nothing about a column v, nor does v = 5 OR f require it.
TEST(Races, TakesOnlyWhatAConditionRequiresForAVersionColumn) {
  for (const char* condition : {"rev = 5", "v = 5 OR f", "v = 5"}) {
    const std::string question = fmt::format("p[1]{{where id = 1 AND {}}}", condition);
    Recorded run(fmt::format(R"("p[1]":"present","p[1].v":"4","{}":"yes")", question));
    run.add(
        {{"UPDATE p SET v = 5 WHERE id = 1", R"(["r","p[1]",{"from":"T0"}],["w","p[1].v","5"])"}});
    run.add({{"SELECT v FROM p WHERE id = 1",
              R"(["r","p[1]",{"from":"T0"}],["r","p[1].v",{"from":"T1"}])"},
             {fmt::format("UPDATE p SET v = 6 WHERE id = 1 AND {}", condition),
              fmt::format(R"(["r","{}",{{"from":"T0"}}],["w","p[1].v","6"])", question)}});
    EXPECT_EQ(races_of(run).races.size(), condition == std::string("v = 5") ? 0U : 1U) << condition;
  }
}

// What a cursor shows is with its declaration.
TEST(Races, KnowsThatACursorShowsWhatItReads) {
  Recorded run(R"("p[1]":"present","p[1].qty":"1")");
  run.add({{kLook, R"(["r","p[1].qty",{"from":"T0"}])"},
           {"UPDATE p SET qty = 0 WHERE id = 1", R"(["w","p[1].qty","0"])"}});
  run.add(
      {{"DECLARE c CURSOR FOR SELECT qty FROM p WHERE id = 1", R"(["r","p[1].qty",{"from":"T1"}])"},
       {"FETCH ALL FROM c", ""}});
  EXPECT_THAT(races_of(run).limit, HasSubstr("may act on it"));
}

// A CHECK may refuse what an UPDATE computes from another version than in the recording.
TEST(Races, SaysThatAConstraintMayRefuseWhatIsComputed) {
  Recorded run(R"("p[1]":"present","p[1].qty":"3","q[1].v":"0")");
  run.add({{"SELECT v FROM q WHERE id = 1", R"(["r","q[1].v",{"from":"T0"}])"},
           {"UPDATE p SET qty = qty + 5 WHERE id = 1",
            R"(["r","p[1].qty",{"from":"T0"}],["w","p[1].qty","8"])"}});
  run.add({{"UPDATE q SET v = 1 WHERE id = 1", R"(["w","q[1].v","1"])"},
           {"UPDATE p SET qty = qty - 8 WHERE id = 1",
            R"(["r","p[1].qty",{"from":"T1"}],["w","p[1].qty","0"])"}});
  const RaceAnswer answer = races_of(run);
  ASSERT_EQ(answer.races.size(), 1U);
  EXPECT_THAT(answer.races[0].assumes, Contains(HasSubstr("no constraint of the table refuses")));
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
