// What single constructs of SQL, levels and options mean to an audit.
#include <gmock/gmock.h>

#include "audit/advise.h"
#include "audit_of.h"

namespace isoscope::audit {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

AuditOutcome proof_of(std::string_view text, const std::string& level,
                      const std::vector<std::string>& more = {}) {
  const sql::Application app = app_of(text);
  return audited(problem_of(app, level, more), {.max_length = 3, .prove = true}).outcome;
}

std::string plpgsql(const std::string& name, const std::string& parameters,
                    const std::string& body) {
  return "CREATE FUNCTION " + name + "(" + parameters +
         ") RETURNS integer LANGUAGE plpgsql AS $$ DECLARE x integer; BEGIN " + body +
         " RETURN x; END; $$;\n";
}

const std::string kDoctors =
    "CREATE TABLE doctor (id integer PRIMARY KEY, shift integer NOT NULL, on_call integer NOT "
    "NULL);\n";

std::string leave(const std::string& lock) {
  return kDoctors + plpgsql("leave", "p integer, s integer, q integer",
                            "SELECT on_call INTO x FROM doctor WHERE id = q" + lock +
                                "; IF x = 1 THEN UPDATE doctor SET on_call = 0 WHERE id = p; END "
                                "IF;");
}

TEST(AuditLocks, StopWriteSkew) {
  EXPECT_EQ(proof_of(leave(""), "si"), AuditOutcome::Anomaly);
  EXPECT_EQ(proof_of(leave(" FOR UPDATE"), "si"), AuditOutcome::Serializable);
  EXPECT_EQ(proof_of(leave(" FOR SHARE"), "si"), AuditOutcome::Serializable);
}

const std::string kUsers = "CREATE TABLE person (id integer PRIMARY KEY, mail text NOT NULL";
const std::string kSignUp =
    plpgsql("sign_up", "p_id integer, p_mail text",
            "SELECT id INTO x FROM person WHERE mail = p_mail; IF x IS NULL THEN INSERT INTO "
            "person VALUES (p_id, p_mail); END IF;");

TEST(AuditUnique, StopsTwoInsertsOfOneValueWhereConflictsAreSeen) {
  EXPECT_EQ(proof_of(kUsers + ");" + kSignUp, "si"), AuditOutcome::Anomaly);
  const std::string unique = kUsers + " UNIQUE);";
  EXPECT_EQ(proof_of(unique + kSignUp, "cc"), AuditOutcome::Anomaly);
  const sql::Application app =
      app_of(unique + plpgsql("add", "p_id integer, p_mail text",
                              "INSERT INTO person VALUES (p_id, p_mail);"));
  EXPECT_EQ(audited(problem_of(app, "cc"), {.max_length = 2}).outcome, AuditOutcome::Anomaly);
  EXPECT_EQ(audited(problem_of(app, "si"), {.prove = true}).outcome, AuditOutcome::Serializable);
}

TEST(AuditForeignKeys, StopOrphans) {
  const std::string tables =
      "CREATE TABLE parent (id integer PRIMARY KEY);\n"
      "CREATE TABLE child (id integer PRIMARY KEY, parent_id integer NOT NULL";
  const std::string functions =
      plpgsql("add_parent", "p integer", "INSERT INTO parent VALUES (p);") +
      plpgsql("add_child", "p integer, c integer",
              "SELECT id INTO x FROM parent WHERE id = p; IF x IS NOT NULL THEN INSERT INTO child "
              "VALUES (c, p); END IF;") +
      plpgsql("drop_parent", "p integer",
              "SELECT count(*) INTO x FROM child WHERE parent_id = p; IF x = 0 THEN DELETE FROM "
              "parent WHERE id = p; END IF;");
  const sql::Application without = app_of(tables + ");" + functions);
  const Problem problem = problem_of(without, "si");
  const AuditReport report = audited(problem, {.max_length = 2});
  ASSERT_EQ(report.outcome, AuditOutcome::Anomaly);
  EXPECT_THAT(functions_of(problem, report),
              ElementsAre(std::vector<std::string>{"add_child", "drop_parent"}));
  EXPECT_EQ(report.search.anomalies.front().name, Anomaly::WriteSkew);
  const sql::Application with = app_of(tables + " REFERENCES parent (id));" + functions);
  EXPECT_EQ(audited(problem_of(with, "si"), {.max_length = 2}).outcome, AuditOutcome::None);
}

TEST(AuditChecks, ReadTheColumnsThatStay) {
  const std::string text =
      "CREATE TABLE account (id integer PRIMARY KEY, checking integer NOT NULL, savings integer "
      "NOT NULL, CHECK (checking + savings >= 0));\n" +
      plpgsql("from_checking", "p integer, a integer",
              "UPDATE account SET checking = checking - a WHERE id = p;") +
      plpgsql("from_savings", "p integer, a integer",
              "UPDATE account SET savings = savings - a WHERE id = p;");
  const sql::Application app = app_of(text);
  Problem problem = problem_of(app, "si");
  const AuditReport report = audited(problem);
  ASSERT_EQ(report.outcome, AuditOutcome::Anomaly);
  EXPECT_EQ(report.search.anomalies.front().replay.label, Label::Observable);
  // Both write the row, though not the same columns of it.
  problem.conflicts = Conflicts::Rows;
  EXPECT_EQ(audited(problem, {.prove = true}).outcome, AuditOutcome::Serializable);
}

TEST(AuditFreshKeys, NeverMeet) {
  const std::string table =
      "CREATE TABLE log (id integer GENERATED ALWAYS AS IDENTITY PRIMARY "
      "KEY, what integer);\n";
  EXPECT_EQ(
      proof_of(table + plpgsql("note", "p integer", "INSERT INTO log (what) VALUES (p);"), "ec"),
      AuditOutcome::Serializable);
}

TEST(AuditFreshKeys, OfOneSequenceNeverMeet) {
  const std::string tables =
      "CREATE SEQUENCE a; CREATE SEQUENCE b;\n"
      "CREATE TABLE t (id bigint PRIMARY KEY, v integer);\n";
  const auto look = [](const std::string& name, const std::string& sequence) {
    return "CREATE FUNCTION " + name +
           "() RETURNS integer LANGUAGE plpgsql AS $$ DECLARE k bigint; w integer; BEGIN\n"
           "k := nextval('" +
           sequence +
           "'); SELECT v INTO w FROM t WHERE id = k;\n"
           "INSERT INTO t VALUES (k, 1) ON CONFLICT DO NOTHING; RETURN w; END $$;\n";
  };
  EXPECT_EQ(proof_of(tables + look("f", "a") + look("g", "a"), "ec"), AuditOutcome::Serializable);
  // The third of one may be the third of the other.
  EXPECT_NE(proof_of(tables + look("f", "a") + look("g", "b"), "ec"), AuditOutcome::Serializable);
}

TEST(AuditLevels, CanBeTheUsersOwn) {
  LevelSet levels = LevelSet::built_in();
  const auto added = levels.add(
      "level mine over vis, ar\n"
      "axiom WritersSeeEachOther: forall x: key, t1, t2: txn.\n"
      "  writes(t1, x) and writes(t2, x) and ar(t1, t2) implies vis(t1, t2)\n"
      "level theirs over vis, ar\n"
      "axiom Chain: acyclic(ww | wr | rw)\n",
      "own.level");
  ASSERT_TRUE(added.ok()) << render(added.error());
  const sql::Application bank = corpus_app("bank");
  for (const char* name : {"mine", "theirs"}) {
    SCOPED_TRACE(name);
    const Problem problem{bank, {*levels.find(name, Framework::VisAr), {}}};
    ASSERT_TRUE(check_problem(problem).ok());
    EXPECT_EQ(audited(problem).outcome, AuditOutcome::None);
  }
}

TEST(AuditLevels, OverCoAreRefused) {
  const sql::Application bank = corpus_app("bank");
  const Problem problem{bank, {*LevelSet::built_in().find("rc"), {}}};
  const auto checked = check_problem(problem);
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().what, HasSubstr("not over vis, ar"));
  EXPECT_THAT(checked.error().hint, HasSubstr("READ COMMITTED of PostgreSQL is pg-rc"));
}

TEST(AuditInitialRows, MayBeThereIfAsked) {
  // Nobody can insert into stock but by taking from it: it is empty for ever, unless it was not.
  const std::string text =
      "CREATE TABLE stock (id integer PRIMARY KEY, n integer NOT NULL);\n" +
      plpgsql("move", "p integer, q integer",
              "SELECT n INTO x FROM stock WHERE id = p; IF x > 0 THEN UPDATE stock SET n = x - 1 "
              "WHERE id = p; INSERT INTO stock VALUES (q, 1) ON CONFLICT (id) DO UPDATE SET n = "
              "stock.n + 1; END IF;");
  const sql::Application app = app_of(text);
  Problem problem = problem_of(app, "cc");
  EXPECT_EQ(audited(problem, {.max_length = 2}).outcome, AuditOutcome::None);
  problem.rows_at_start = true;
  const AuditReport report = audited(problem, {.max_length = 2});
  ASSERT_EQ(report.outcome, AuditOutcome::Anomaly);
  EXPECT_FALSE(report.search.anomalies.front().scenario.rows.empty());
}

TEST(AuditInitialRows, MeetTheirChecks) {
  const std::string text =
      "CREATE TABLE tank (id integer PRIMARY KEY, level integer NOT NULL CHECK (level > 90));\n" +
      plpgsql("drain", "p integer",
              "SELECT level INTO x FROM tank WHERE id = p; IF x < 10 THEN UPDATE tank SET level = "
              "x + 100 WHERE id = p; END IF;");
  const sql::Application app = app_of(text);
  EXPECT_EQ(audited(problem_of(app, "ec"), {.max_length = 2}).outcome, AuditOutcome::None);
}

TEST(AuditPrefixes, InsertAndThenUpdate) {
  const std::string text =
      "CREATE TABLE gate (id integer PRIMARY KEY, val integer NOT NULL);\n"
      "CREATE TABLE pair (id integer PRIMARY KEY, a integer NOT NULL, b integer NOT NULL);\n" +
      plpgsql("fill", "p integer", "INSERT INTO gate VALUES (p, 1);") +
      plpgsql("open_gate", "p integer", "UPDATE gate SET val = 5 WHERE id = p;") +
      plpgsql("left_side", "p integer",
              "SELECT val INTO x FROM gate WHERE id = p; IF x = 5 THEN SELECT a INTO x FROM pair "
              "WHERE id = p; UPDATE pair SET b = x + 1 WHERE id = p; END IF;") +
      plpgsql("right_side", "p integer",
              "SELECT val INTO x FROM gate WHERE id = p; IF x = 5 THEN SELECT b INTO x FROM pair "
              "WHERE id = p; UPDATE pair SET a = x + 1 WHERE id = p; END IF;");
  const sql::Application app = app_of(text);
  const Problem problem = problem_of(app, "si");
  const AuditReport report = audited(problem, {.max_length = 2});
  ASSERT_EQ(report.outcome, AuditOutcome::Anomaly);
  EXPECT_EQ(report.search.anomalies.front().name, Anomaly::WriteSkew);
  EXPECT_EQ(report.search.anomalies.front().scenario.prefix, 2U);
}

TEST(AuditOnly, LeavesFunctionsOut) {
  const sql::Application app = app_in("examples/audit/smallbank.sql");
  const auto some = only(app, {"balance", "write_check"});
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(some->functions.size(), 2U);
  EXPECT_EQ(audited(problem_of(*some, "si"), {.prove = true}).outcome, AuditOutcome::Serializable);
  const auto none = only(app, {"balence"});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().hint, "did you mean 'balance'?");
}

TEST(AuditKeys, ThatChangeAreRefused) {
  const sql::Application app =
      app_of(kDoctors + plpgsql("rename", "p integer", "UPDATE doctor SET id = p WHERE id = 1;"));
  const Problem problem{app, {level_of("si"), {}}};
  const auto checked = check_problem(problem);
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().what, HasSubstr("rename changes a primary key"));
  EXPECT_EQ(checked.error().where.line, 2U);
}

TEST(AuditTime, EndsWithUnknown) {
  const sql::Application app = app_in("examples/audit/tpcc.sql");
  Budget budget = Budget::seconds(0.05);
  const AuditReport report = audit(problem_of(app, "psi"), {.all = true}, budget);
  EXPECT_EQ(report.outcome, AuditOutcome::Unknown);
  EXPECT_EQ(report.limit, "the time limit was reached");
}

TEST(Advice, FindsTheWeakestLevels) {
  const sql::Application app = app_of(leave(""));
  const Problem problem = problem_of(app, "si");
  Budget budget;
  const Advice advice = advise(problem, {level_of("cc"), level_of("si"), level_of("ser")}, true,
                               {.max_length = 2}, budget);
  ASSERT_EQ(advice.levels.size(), 1U);
  EXPECT_EQ(advice.levels.front()->name, "ser");
  ASSERT_EQ(advice.repairs.size(), 1U);
  EXPECT_EQ(advice.repairs.front().kind, RepairKind::Lock);
  EXPECT_TRUE(advice.repairs.front().is_proved);
  EXPECT_THAT(advice.repairs.front().what, HasSubstr("FOR UPDATE"));
}

TEST(Advice, SuggestsAUniqueConstraintThatHelps) {
  const sql::Application app = app_of(kUsers + ");" + kSignUp);
  Budget budget;
  const Advice advice = advise(problem_of(app, "si"), {level_of("si"), level_of("ser")}, true,
                               {.max_length = 2}, budget);
  EXPECT_THAT(advice.repairs,
              Contains(testing::Field(&Repair::what, "ALTER TABLE person ADD UNIQUE (mail)")));
}

TEST(Advice, KeepsTheBankAtUpdateAtomicity) {
  const sql::Application bank = corpus_app("bank");
  Budget budget;
  const Advice advice =
      advise(problem_of(bank, "ec"),
             {level_of("ec"), level_of("cc"), level_of("ua"), level_of("si"), level_of("ser")},
             false, {}, budget);
  ASSERT_EQ(advice.levels.size(), 1U);
  EXPECT_EQ(advice.levels.front()->name, "ua");
}

}  // namespace
}  // namespace isoscope::audit
