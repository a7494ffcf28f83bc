// EXCLUDE constraints: what the front end understands, what rows exclude each other, and what they
// do to schedules.
#include <gtest/gtest.h>

#include <set>

#include "sql/exclusions.h"
#include "sql/server/schedules.h"
#include "sql/well_formed.h"

namespace isoscope::sql::server {
namespace {

Application application(const std::string& text) {
  auto app = parse_application(text);
  EXPECT_TRUE(app.ok()) << app.error().what;
  EXPECT_EQ(find_flaw(*app), "");
  return *std::move(app);
}

std::string table(const std::string& constraint) {
  return "CREATE TABLE b (id int PRIMARY KEY, room int, lo int, hi int, EXCLUDE " + constraint +
         ");\n";
}

// Do the rows (room, lo, hi) exclude each other?
bool excluded(const std::string& constraint, std::vector<std::optional<int>> a,
              std::vector<std::optional<int>> b) {
  const Application app = application(table(constraint));
  EXPECT_TRUE(app.notes.empty());
  const auto row = [](const std::vector<std::optional<int>>& numbers) {
    TableRow values = {Value(std::int64_t{0})};
    for (const std::optional<int>& number : numbers)
      values.push_back(number ? Value(std::int64_t{*number}) : Value());
    return values;
  };
  const Exclusion& exclusion = app.tables[0].exclusions[ExclusionId{0}];
  return conflict(exclusion, *values_of(exclusion, row(a)), *values_of(exclusion, row(b)));
}

TEST(Exclusions, CompareValuesAndRanges) {
  const std::string booked = "USING gist (room WITH =, int4range(lo, hi) WITH &&)";
  EXPECT_TRUE(excluded(booked, {1, 1, 3}, {1, 2, 5}));
  EXPECT_FALSE(excluded(booked, {1, 1, 3}, {2, 2, 5}));
  EXPECT_FALSE(excluded(booked, {1, 1, 3}, {1, 3, 5}));    // the upper end is not in it
  EXPECT_FALSE(excluded(booked, {1, 2, 2}, {1, 1, 5}));    // an empty range
  EXPECT_TRUE(excluded(booked, {1, {}, 3}, {1, 2, {}}));   // without ends
  EXPECT_FALSE(excluded(booked, {{}, 1, 3}, {{}, 1, 3}));  // NULL is equal to nothing
  EXPECT_TRUE(excluded("USING gist (int4range(lo, hi, '[]') WITH &&)", {1, 1, 3}, {2, 3, 5}));
  EXPECT_FALSE(excluded("USING gist (int4range(lo, hi, '()') WITH &&)", {1, 1, 3}, {2, 2, 4}));
  EXPECT_TRUE(excluded("USING gist (numrange(lo, hi, '()') WITH &&)", {1, 1, 3}, {2, 2, 4}));
  EXPECT_TRUE(excluded("USING btree (room WITH =)", {1, 1, 3}, {1, 7, 8}));
}

TEST(Exclusions, ThatAreNotUnderstoodAreGapsWithTheirPlace) {
  const std::vector<std::string> constraints = {
      "USING gist (room WITH =) WHERE (id > 3)",
      "USING gist (room WITH <>)",
      "USING gist (int4range(lo, hi) WITH =)",
      "USING gist (lo WITH &&)",
      "USING gist (room WITH =) DEFERRABLE",
      "USING gist (daterange(lo, hi, '[]') WITH &&)",
      "USING gist (int4range(lo, hi, '[[[') WITH &&)",
  };
  for (const std::string& constraint : constraints) {
    SCOPED_TRACE(constraint);
    const Application app = application(table(constraint));
    EXPECT_TRUE(app.tables[0].exclusions.empty());
    ASSERT_FALSE(app.notes.empty());
    EXPECT_EQ(app.notes[0].kind, NoteKind::Gap);
    EXPECT_EQ(app.notes[0].where.line, 1);
    EXPECT_TRUE(app.notes[0].what.starts_with("this EXCLUDE constraint is ignored: "))
        << app.notes[0].what;
  }
}

TEST(Exclusions, AreDroppedWithTheirNameOrAColumn) {
  const std::string named =
      "CREATE TABLE b (id int PRIMARY KEY, lo int, hi int);\n"
      "ALTER TABLE b ADD CONSTRAINT apart EXCLUDE USING gist (int4range(lo, hi) WITH &&);\n";
  EXPECT_EQ(application(named).tables[0].exclusions.size(), 1U);
  const Application dropped = application(named + "ALTER TABLE b DROP CONSTRAINT apart;\n");
  EXPECT_TRUE(dropped.tables[0].exclusions.empty());
  EXPECT_TRUE(dropped.notes.empty());
  EXPECT_TRUE(application(named + "ALTER TABLE b DROP COLUMN hi;\n").tables[0].exclusions.empty());
}

std::set<std::string> ends(const std::string& body, PgLevel level) {
  auto app = application(
      table("USING gist (room WITH =, int4range(lo, hi) WITH &&)") +
      "CREATE FUNCTION f(p int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE n int; BEGIN\n" + body +
      "\nRETURN n; END $$;\nINSERT INTO b VALUES (7, 7, 1, 9);\n"
      "-- session a: f(1)\n-- session b: f(2)\n");
  EXPECT_TRUE(app.problems.empty());
  EXPECT_TRUE(app.notes.empty());
  const auto program = SqlProgram::create(std::move(app));
  const Machine machine(**program, {level, level});
  const Schedules all = explore(machine, {}, {.wants_outcomes = true});
  EXPECT_FALSE(all.fault);
  std::set<std::string> found;
  for (const RunOutcome& outcome : all.outcomes) {
    std::string end;
    for (const CallEnd& call : outcome.end.calls)
      end += (call.is_committed ? "commit" : call.failure.sqlstate) + " ";
    found.insert(end + std::to_string(outcome.end.rows.front().size()));
  }
  return found;
}

// The check before the INSERT sees nothing of the other one; the constraint does.
TEST(Exclusions, LetOneOfTwoBookingsPass) {
  const std::string book =
      "SELECT count(*) INTO n FROM b WHERE room = 1 AND lo < 4 AND hi > 2;\n"
      "IF n = 0 THEN INSERT INTO b VALUES (p, 1, 2, 4); END IF;";
  for (const PgLevel level : {PgLevel::ReadCommitted, PgLevel::RepeatableRead}) {
    EXPECT_EQ(ends(book, level),
              (std::set<std::string>{"commit commit 2", "commit 23P01 2", "23P01 commit 2"}));
  }
}

TEST(Exclusions, AreCheckedByUpdatesToo) {
  EXPECT_EQ(ends("INSERT INTO b VALUES (p, 1, 10 * p, 10 * p + 5);\n"
                 "UPDATE b SET lo = 12, hi = 14 WHERE id = p;",
                 PgLevel::ReadCommitted),
            (std::set<std::string>{"commit 23P01 2", "23P01 commit 2", "40P01 commit 2",
                                   "commit 40P01 2"}));
}

TEST(Exclusions, AreConflictsOfDoNothing) {
  EXPECT_EQ(
      ends("INSERT INTO b VALUES (p, 1, 2, 4) ON CONFLICT DO NOTHING;", PgLevel::ReadCommitted),
      (std::set<std::string>{"commit commit 2"}));
}

}  // namespace
}  // namespace isoscope::sql::server
