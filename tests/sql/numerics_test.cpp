// Programs over numerics: what the reader makes of them, and what a call returns.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "sql/read/pg_parse.h"
#include "sql/run/interpreter.h"
#include "sql/run/memory_database.h"

namespace isoscope::sql {
namespace {

using ::testing::IsEmpty;

constexpr std::string_view kSchema =
    "CREATE TABLE account (id int PRIMARY KEY, balance numeric(6,2) NOT NULL, rate numeric, whole "
    "numeric(4));\n"
    "INSERT INTO account VALUES (1, 9.999, 0.5, 2.5), (2, 1, 1.25, NULL);\n";

Application program(const std::string& body, std::string_view returns = "numeric") {
  auto app = parse_application(fmt::format(
      "{}CREATE FUNCTION f(p numeric(5,1)) RETURNS {} LANGUAGE plpgsql AS $$\nDECLARE n "
      "numeric(5,2); i int; u numeric;\nBEGIN\n{}\nEND $$;\n-- session s: f(1.25)\n",
      kSchema, returns, body));
  if (!app) ADD_FAILURE() << render(app.error());
  for (const Error& problem : app->problems) ADD_FAILURE() << render(problem);
  return *std::move(app);
}

std::string result(const std::string& body) {
  const Application app = program(body);
  MemoryDatabase database(app);
  const auto end =
      run_call(app, app.functions[0], app.sessions[0].calls[0].arguments, database, 1'000);
  if (!end) return end.error().what;
  return end->committed ? print(end->returned.front()) : end->why_aborted;
}

std::vector<std::string> gaps(const std::string& body) {
  std::vector<std::string> found;
  for (const Note& note : program(body).notes) {
    if (note.kind != NoteKind::Remark) found.push_back(note.what);
  }
  return found;
}

TEST(Numerics, OfRowsAtTheStartAreRounded) {
  EXPECT_EQ(result("SELECT balance INTO u FROM account WHERE id = 1; RETURN u;"), "10.00");
  EXPECT_EQ(result("SELECT balance INTO u FROM account WHERE id = 2; RETURN u;"), "1.00");
  EXPECT_EQ(result("SELECT whole INTO u FROM account WHERE id = 1; RETURN u;"), "3");
}

TEST(Numerics, OfParametersKeepTheirDigits) { EXPECT_EQ(result("RETURN p;"), "1.25"); }

TEST(Numerics, ThatAreStoredAreRounded) {
  EXPECT_EQ(result("n := 1.005; RETURN n;"), "1.01");
  EXPECT_EQ(result("n := 7; RETURN n;"), "7.00");
  EXPECT_EQ(result("i := -2.5; RETURN i;"), "-3");
  EXPECT_EQ(result("SELECT sum(rate) INTO n FROM account; RETURN n;"), "1.75");
  EXPECT_EQ(result("SELECT avg(rate) INTO i FROM account; RETURN i;"), "1");
  EXPECT_EQ(result("UPDATE account SET balance = balance * 1.0055 WHERE id = 1 RETURNING balance "
                   "INTO u; RETURN u;"),
            "10.06");
  EXPECT_EQ(result("n := 999.994; RETURN n;"), "999.99");
  EXPECT_EQ(result("n := 999.995; RETURN n;"), "numeric field overflow");
  EXPECT_EQ(result("UPDATE account SET balance = 10000; RETURN 1;"), "numeric field overflow");
}

TEST(Numerics, MeetWholeNumbersAsNumerics) {
  EXPECT_EQ(result("i := 3; RETURN i / 2 + 0.5;"), "1.5");
  EXPECT_EQ(result("i := 3; RETURN i / 2.0;"), "1.5000000000000000");
  EXPECT_EQ(result("i := 2147483647; RETURN i + 1.0;"), "2147483648.0");
  EXPECT_EQ(result("IF 1 = 1.00 AND 0.999 < 1 THEN RETURN 1.10; END IF; RETURN 2;"), "1.10");
  EXPECT_EQ(result("RETURN coalesce(NULL, 1, 2.5);"), "1");
  EXPECT_EQ(result("RETURN nullif(3, 0.1) / 2;"), "1.5000000000000000");
  EXPECT_EQ(result("RETURN (SELECT count(*) FROM account WHERE rate IN (0.50, 7));"), "1");
}

TEST(Numerics, EndACallAtOurLimit) {
  EXPECT_EQ(result("u := 1e30; RETURN u * u;"), kTooManyDigits);
}

TEST(Numerics, LeaveNoGapWhereTheyAreExact) {
  EXPECT_THAT(gaps("UPDATE account SET balance = balance - p * 2 WHERE balance >= p AND id = 1; "
                   "SELECT max(rate) * 1.5 INTO u FROM account; RETURN abs(u) % 2;"),
              IsEmpty());
}

TEST(Numerics, LeaveAGapWhereDigitsThatAreShownMatter) {
  for (const char* body :
       {"RETURN p / 3;", "INSERT INTO account VALUES (length(p::text), 1);",
        "IF 'x' || p = 'x1' THEN RETURN 1; END IF; RETURN 2;", "RETURN length(concat(p, 'x'));"})
    EXPECT_FALSE(gaps(body).empty()) << body;
}

}  // namespace
}  // namespace isoscope::sql
