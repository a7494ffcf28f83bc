#include "sql/run/interpreter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "sql/logging_database.h"

namespace isoscope::sql {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Value number(std::int64_t n) { return Value(n); }

// Three accounts, of which two are in the same town, which never changes; transfers come and go.
constexpr std::string_view kBank = R"(
CREATE TABLE account (
  id integer PRIMARY KEY,
  town text NOT NULL,
  balance integer CHECK (balance >= 0),
  note text
);
CREATE TABLE transfer (
  source integer NOT NULL REFERENCES account (id),
  number integer NOT NULL,
  amount integer NOT NULL DEFAULT 7,
  label text UNIQUE,
  PRIMARY KEY (source, number)
);
CREATE TABLE event (id serial PRIMARY KEY, what text);
INSERT INTO account VALUES (1, 'Rome', 100, NULL);
INSERT INTO account VALUES (2, 'Oslo', 50, 'old');
INSERT INTO account VALUES (3, 'Rome', 20, NULL);
INSERT INTO transfer VALUES (1, 1, 10, 'a');
INSERT INTO transfer VALUES (1, 4, 40, 'b');
INSERT INTO transfer VALUES (2, 2, 20, NULL);
CREATE FUNCTION changes() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE account SET balance = 0, note = '';
  INSERT INTO transfer VALUES (1, 1);
  DELETE FROM transfer;
END; $$;
)";

// What a call of a function with this body does.
struct Done {
  std::string result;  // values as SQL prints them, or why it aborted
  std::vector<std::string> accesses;
};

std::string print_all(const std::vector<Value>& values) {
  std::string list;
  for (const Value& value : values) list += (list.empty() ? "" : " ") + print(value);
  return list;
}

class Bank {
 public:
  explicit Bank(std::string_view more = "") : more_(more) {}

  // `declared` is the DECLARE part: "v integer;".
  Done run(std::string_view returns, std::string_view declared, std::string_view body) {
    const std::string text = fmt::format(
        "{}{}\nCREATE FUNCTION f() RETURNS {} LANGUAGE plpgsql AS $$\nDECLARE {}\nBEGIN\n{}\nEND; "
        "$$;\n",
        kBank, more_, returns, declared, body);
    auto parsed = parse_application(text);
    if (!parsed) return {"no SQL: " + render(parsed.error()), {}};
    for (const Error& problem : parsed->problems) return {"problem: " + problem.what, {}};
    app_ = std::make_unique<Application>(*std::move(parsed));
    database_ = std::make_unique<LoggingDatabase>(*app_);
    const Function& function = app_->functions[app_->find_function("f")->index];
    auto result = run_call(*app_, function, {}, *database_, 2'000);
    if (!result) return {"limit: " + result.error().what, database_->accesses()};
    if (!result->committed) return {"aborted: " + result->why_aborted, database_->accesses()};
    return {print_all(result->returned), database_->accesses()};
  }
  Done run(std::string_view body) { return run("void", "v integer;", body); }
  Done value(std::string_view body) { return run("integer", "v integer;", body); }

  std::string row(std::uint32_t table, RowKey key) {
    const auto values = database_->database().row(TableId{table}, key);
    return values ? print_all(values->entries()) : "none";
  }

 private:
  std::string more_;
  std::unique_ptr<Application> app_;
  std::unique_ptr<LoggingDatabase> database_;
};

// --- Limits --------------------------------------------------------------------------------------

TEST(RunCall, StopsWithTheBudget) {
  const auto app = parse_application(
      "CREATE TABLE t (id INT PRIMARY KEY, v INT);\n"
      "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN\n"
      "  FOR i IN 1..1000000000 LOOP UPDATE t SET v = i WHERE id = 1; END LOOP; END $$;\n");
  ASSERT_TRUE(app.ok());
  MemoryDatabase database(*app);
  Budget over = Budget::seconds(0);
  const auto result =
      run_call(*app, app->functions.front(), {}, database, std::size_t{1} << 40U, &over);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().what, "the time limit was reached");
}

TEST(RunCall, GoesThroughLongChainsOfBranches) {
  std::string body = "IF v = 0 THEN RETURN 0; ";
  for (int i = 1; i < 900; ++i) body += fmt::format("ELSIF v = {} THEN RETURN {}; ", i, i);
  Bank bank;
  EXPECT_EQ(bank.value("v := 890; " + body + "ELSE RETURN -1; END IF;").result, "890");
  EXPECT_EQ(bank.value("v := 900; " + body + "ELSE RETURN -1; END IF;").result, "-1");
  EXPECT_EQ(bank.value("v := 5; " + body + "END IF; RETURN -2;").result, "5");
}

// --- What is read ------------------------------------------------------------------------------

TEST(RunCall, ReadsWhatASelectByKeyNames) {
  Bank bank;
  const Done done = bank.value("SELECT balance INTO v FROM account WHERE id = 2; RETURN v;");
  EXPECT_EQ(done.result, "50");
  EXPECT_THAT(done.accesses, ElementsAre("? account(2)", "r account.balance(2)"));
}

TEST(RunCall, ReadsNoColumnsOfARowThatIsNotThere) {
  Bank bank;
  const Done done = bank.value("SELECT balance INTO v FROM account WHERE id = 9; RETURN v;");
  EXPECT_EQ(done.result, "NULL");
  EXPECT_THAT(done.accesses, ElementsAre("? account(9)"));
}

TEST(RunCall, LetsKeysDecideWhichRowsAreLookedAt) {
  Bank bank;
  const Done done = bank.value(
      "SELECT sum(amount) INTO v FROM transfer WHERE source = 1 AND number > 2; RETURN v;");
  EXPECT_EQ(done.result, "40");
  EXPECT_THAT(done.accesses, ElementsAre("? transfer(1, 4)", "r transfer.amount(1, 4)"));
}

TEST(RunCall, DecidesByColumnsThatNeverChangeBeforeItReadsOthers) {
  Bank bank;
  const Done done = bank.value(
      "SELECT count(*) INTO v FROM account WHERE balance > 50 AND town = 'Rome'; RETURN v;");
  EXPECT_EQ(done.result, "1");
  EXPECT_THAT(done.accesses,
              ElementsAre("? account(1)", "r account.town(1)", "r account.balance(1)",
                          "? account(2)", "r account.town(2)", "? account(3)", "r account.town(3)",
                          "r account.balance(3)"));
}

TEST(RunCall, LooksAtNoRowBehindTheMinimumOfAKey) {
  Bank bank;
  EXPECT_EQ(bank.value("SELECT min(number) INTO v FROM transfer; RETURN v;").result, "1");
  const Done least =
      bank.value("SELECT min(number) INTO v FROM transfer WHERE amount > 10; RETURN v;");
  EXPECT_EQ(least.result, "2");
  EXPECT_THAT(least.accesses, ElementsAre("? transfer(1, 1)", "r transfer.amount(1, 1)",
                                          "? transfer(2, 2)", "r transfer.amount(2, 2)"));
  const Done most = bank.value("SELECT max(number) INTO v FROM transfer; RETURN v;");
  EXPECT_EQ(most.result, "4");
  EXPECT_THAT(most.accesses, ElementsAre("? transfer(1, 4)"));
}

TEST(RunCall, StopsAtTheLastRowOfALimitIfKeysOrderTheRows) {
  Bank bank;
  const Done done =
      bank.value("SELECT amount INTO v FROM transfer ORDER BY number DESC LIMIT 1; RETURN v;");
  EXPECT_EQ(done.result, "40");
  EXPECT_THAT(done.accesses, ElementsAre("? transfer(1, 4)", "r transfer.amount(1, 4)"));
}

TEST(RunCall, JoinsThroughKeys) {
  Bank bank;
  const Done done = bank.value(
      "SELECT a.balance INTO v FROM account a, transfer t "
      "WHERE a.id = t.source AND t.source = 1 AND t.number = 4; RETURN v;");
  EXPECT_EQ(done.result, "100");
  EXPECT_THAT(done.accesses,
              ElementsAre("? transfer(1, 4)", "? account(1)", "r account.balance(1)"));
}

TEST(RunCall, DeletesByKeyWithoutALook) {
  Bank bank;
  EXPECT_THAT(bank.run("DELETE FROM transfer WHERE source = 1 AND number = 9;").accesses,
              ElementsAre("- transfer(1, 9)"));
  EXPECT_THAT(bank.run("DELETE FROM transfer WHERE source = 1 AND number = 9; "
                       "IF FOUND THEN v := 1; END IF;")
                  .accesses,
              ElementsAre("? transfer(1, 9)"));
  EXPECT_THAT(bank.run("DELETE FROM transfer WHERE source = 1 AND number = NULL;").accesses,
              IsEmpty());
}

TEST(RunCall, DoesNotLookForAFreshKey) {
  Bank bank;
  const Done done =
      bank.value("INSERT INTO event (what) VALUES ('x') RETURNING id INTO v; RETURN v;");
  EXPECT_EQ(done.result, "1");
  EXPECT_THAT(done.accesses, ElementsAre("+ event(1)", "w event.what(1)"));
}

TEST(RunCall, LocksRowsThatAreReadForUpdate) {
  Bank bank;
  EXPECT_THAT(bank.run("SELECT balance INTO v FROM account WHERE id = 2 FOR UPDATE;").accesses,
              ElementsAre("? account(2)", "r account.balance(2)", "lock account(2)"));
  EXPECT_THAT(bank.run("PERFORM 1 FROM account WHERE id < 3 FOR UPDATE;").accesses,
              ElementsAre("? account(1)", "? account(2)", "lock account(1)", "lock account(2)"));
}

// --- What is written ---------------------------------------------------------------------------

TEST(RunCall, UpdatesWhatMatchesAndSeesItsOwnWrites) {
  Bank bank;
  const Done done = bank.value(
      "UPDATE account SET balance = balance + 1 WHERE id > 1;"
      "SELECT sum(balance) INTO v FROM account; RETURN v;");
  EXPECT_EQ(done.result, "172");
  EXPECT_EQ(bank.row(0, {number(2)}), "2 'Oslo' 51 'old'");
}

TEST(RunCall, MovesARowWhoseKeyIsUpdated) {
  Bank bank;
  EXPECT_EQ(bank.run("UPDATE transfer SET number = 5 WHERE source = 2;").result, "");
  EXPECT_EQ(bank.row(1, {number(2), number(2)}), "none");
  EXPECT_EQ(bank.row(1, {number(2), number(5)}), "2 5 20 NULL");
  EXPECT_EQ(bank.run("UPDATE transfer SET number = 4 WHERE number = 1;").result,
            "aborted: transfer has a row (1, 4) already");
}

TEST(RunCall, InsertsDefaults) {
  Bank bank;
  EXPECT_EQ(bank.run("INSERT INTO transfer (source, number) VALUES (3, 1);").result, "");
  EXPECT_EQ(bank.row(1, {number(3), number(1)}), "3 1 7 NULL");
}

TEST(RunCall, DoesWhatOnConflictSays) {
  Bank bank;
  EXPECT_EQ(bank.run("INSERT INTO transfer VALUES (1, 1) ON CONFLICT DO NOTHING;").result, "");
  EXPECT_EQ(bank.row(1, {number(1), number(1)}), "1 1 10 'a'");
  EXPECT_EQ(bank.run("INSERT INTO transfer VALUES (1, 1, 5) ON CONFLICT (source, number) "
                     "DO UPDATE SET amount = transfer.amount + EXCLUDED.amount;")
                .result,
            "");
  EXPECT_EQ(bank.row(1, {number(1), number(1)}), "1 1 15 'a'");
  EXPECT_EQ(bank.run("INSERT INTO transfer VALUES (3, 3, 5, 'a') ON CONFLICT (source, number) "
                     "DO NOTHING;")
                .result,
            "aborted: transfer has a row (1, 1) with the same unique values already");
}

TEST(RunCall, TellsHowManyRowsItChanged) {
  Bank bank;
  EXPECT_EQ(bank.value("UPDATE account SET balance = 1 WHERE town = 'Rome';"
                       "GET DIAGNOSTICS v = ROW_COUNT; RETURN v;")
                .result,
            "2");
  EXPECT_EQ(bank.value("UPDATE account SET balance = 1 WHERE id = 9;"
                       "IF NOT FOUND THEN RETURN 1; END IF; RETURN 2;")
                .result,
            "1");
}

// --- What aborts -------------------------------------------------------------------------------

TEST(RunCall, AbortsWithAReason) {
  Bank bank;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"v := 1 / 0;", "division by zero"},
      {"INSERT INTO transfer VALUES (1, 1);", "transfer has a row (1, 1) already"},
      {"INSERT INTO transfer VALUES (2, NULL);", "transfer.number must not be NULL"},
      {"INSERT INTO transfer VALUES (2, 9, NULL);", "transfer.amount must not be NULL"},
      {"INSERT INTO transfer VALUES (9, 9);",
       "a row of transfer refers to (9) of account, which is not there"},
      {"UPDATE account SET balance = -1 WHERE id = 1;", "a row of account does not meet its CHECK"},
      {"DELETE FROM account WHERE id = 1;", "a row of transfer still refers to (1) of account"},
      {"SELECT balance INTO STRICT v FROM account WHERE id = 9;", "a query returned no rows"},
      {"SELECT balance INTO STRICT v FROM account;", "a query returned more than one row"},
  };
  for (const auto& [body, reason] : cases) EXPECT_EQ(bank.run(body).result, "aborted: " + reason);
  EXPECT_THAT(bank.run("RAISE EXCEPTION 'too poor';").result, testing::StartsWith("aborted: "));
}

TEST(RunCall, LetsRowsGoToWhichNobodyRefers) {
  Bank bank;
  EXPECT_EQ(bank.run("DELETE FROM account WHERE id = 3;").result, "");
  EXPECT_EQ(bank.row(0, {number(3)}), "none");
}

TEST(RunCall, ReportsALoopWithoutEndAsALimit) {
  Bank bank;
  EXPECT_EQ(bank.run("LOOP v := 1; END LOOP;").result, "limit: f runs more than 2000 statements");
  EXPECT_EQ(bank.run("LOOP NULL; END LOOP;").result, "limit: f runs more than 2000 statements");
}

// --- Queries and control flow ------------------------------------------------------------------

TEST(RunCall, KnowsNegativeNumbers) {
  Bank bank;
  EXPECT_EQ(bank.value("v := -12; RETURN v;").result, "-12");
  EXPECT_EQ(bank.value("v := - /* minus */ 3; RETURN v + -4 - 5;").result, "-12");
  EXPECT_EQ(bank.run("bigint", "", "RETURN -3000000000;").result, "-3000000000");
}

TEST(RunCall, ComputesInTheTypesOfTheOperands) {
  Bank bank;
  const auto of = [&](std::string_view expression) {
    return bank
        .run("bigint",
             "s smallint := 32767; i integer := 2147483647; b bigint := 9223372036854775807; "
             "n numeric := 2147483647; a integer[] := ARRAY[2147483647]; w i%TYPE := 2147483647;",
             fmt::format("RETURN {};", expression))
        .result;
  };
  for (const std::string_view wide :
       {"i + 1::bigint", "i::bigint + 1", "least(i, b) + 1", "n + 1", "s::bigint * 0 + 2147483648",
        "CASE WHEN i > 0 THEN i ELSE b END + 1", "(ARRAY[i, b])[1] + 1", "nullif(i, 0)::bigint + 1",
        "(SELECT count(*) FROM account) * 0 + i + 1", "(i + 0)::bigint + 1",
        "(SELECT sum(balance) FROM account) * 0 + i + 1"})
    EXPECT_EQ(of(wide), "2147483648") << wide;
  EXPECT_EQ(of("s + 1"), "32768");
  EXPECT_EQ(of("-2147483648 + s"), "-2147450881");
  for (const std::string_view integer :
       {"i + 1",
        "2147483647 + 1",
        "(i + 1)::bigint",
        "i + '1'",
        "-i - 2",
        "i * s",
        "-2147483648 / -1",
        "abs(-2147483648)",
        "coalesce(i, 0) + 1",
        "greatest(s, i) + 1",
        "CASE WHEN i > 0 THEN i ELSE 0 END + 1",
        "b::integer",
        "3000000000::int",
        "a[1] + 1",
        "cardinality(a) + i",
        "length('x') + i",
        "w + 1",
        "nullif(i, 0) + 1",
        "mod(i, 2) + i",
        "(SELECT max(balance) FROM account) * 100000000",
        "(SELECT balance FROM account WHERE id = 1) * 100000000",
        "(SELECT max(x) FROM (SELECT balance AS x FROM account UNION SELECT 1) q) + i"})
    EXPECT_EQ(of(integer), "aborted: integer out of range") << integer;
  for (const std::string_view small : {"s + s", "s * '2'", "-s - s", "40000::smallint"})
    EXPECT_EQ(of(small), "aborted: smallint out of range") << small;
  EXPECT_EQ(of("b + 1"), "aborted: bigint out of range");
  EXPECT_EQ(bank.value("RETURN 3000000000;").result, "aborted: integer out of range");
}

TEST(RunCall, ComputesInTheTypesOfRowsAndLoops) {
  Bank bank;
  const auto of = [&](std::string_view body) {
    return bank.run("void", "r record; q account%ROWTYPE; b bigint;", body).result;
  };
  for (const std::string_view body :
       {"SELECT balance, note INTO r FROM account WHERE id = 1; b := r.balance * 100000000;",
        "SELECT * INTO q FROM account WHERE id = 1; b := q.balance * 100000000;",
        "FOR k IN 2147483647..2147483647 LOOP b := k + 1; END LOOP;",
        "FOR k IN 1..3000000000 LOOP b := 1; END LOOP;",
        "FOR r IN SELECT balance FROM account LOOP b := r.balance * 100000000; END LOOP;",
        "WITH w AS (SELECT balance AS x FROM account) SELECT max(x) * 100000000 INTO b FROM w;",
        "UPDATE account SET note = 'x' WHERE balance * 100000000 > 5;",
        "SELECT g * 1000000 INTO b FROM generate_series(3000, 3000) g;"})
    EXPECT_EQ(of(body), "aborted: integer out of range") << body;
}

TEST(RunCall, AggregatesNothingToNullAndZero) {
  Bank bank;
  for (const std::string_view of : {"sum(amount)", "min(amount)", "max(number)", "avg(amount)"}) {
    const auto body = fmt::format("SELECT {} INTO v FROM transfer WHERE source = 9; RETURN v;", of);
    EXPECT_EQ(bank.value(body).result, "NULL") << of;
  }
  EXPECT_EQ(bank.value("SELECT count(*) INTO v FROM transfer WHERE source = 9; RETURN v;").result,
            "0");
}

TEST(RunCall, Aggregates) {
  Bank bank;
  const auto of = [&](std::string_view what) {
    return bank.value(fmt::format("SELECT {} INTO v FROM transfer; RETURN v;", what)).result;
  };
  EXPECT_EQ(of("count(*)"), "3");
  EXPECT_EQ(of("count(label)"), "2");
  EXPECT_EQ(of("count(DISTINCT source)"), "2");
  EXPECT_EQ(of("sum(amount)"), "70");
  EXPECT_EQ(of("avg(amount)"), "23");
  EXPECT_EQ(of("max(amount)"), "40");
}

TEST(RunCall, OrdersAndCutsTheRows) {
  Bank bank;
  const auto rows = [&](std::string_view query) {
    return bank
        .run("SETOF integer", "v integer;",
             fmt::format("FOR v IN {} LOOP RETURN NEXT v; END LOOP;", query))
        .result;
  };
  EXPECT_EQ(rows("SELECT amount FROM transfer"), "10 40 20");
  EXPECT_EQ(rows("SELECT amount FROM transfer ORDER BY amount DESC"), "40 20 10");
  EXPECT_EQ(rows("SELECT amount FROM transfer ORDER BY amount LIMIT 1 OFFSET 1"), "20");
  EXPECT_EQ(rows("SELECT DISTINCT source FROM transfer"), "1 2");
  EXPECT_EQ(rows("SELECT number FROM transfer ORDER BY label"), "1 4 2");
}

TEST(RunCall, LeavesAndContinuesLoops) {
  Bank bank;
  EXPECT_EQ(bank.value("v := 0; FOR i IN 1..10 LOOP CONTINUE WHEN i % 2 = 0; EXIT WHEN i > 6;"
                       " v := v + i; END LOOP; RETURN v;")
                .result,
            "9");
  EXPECT_EQ(bank.value("v := 0; <<outer>> FOR i IN 1..3 LOOP FOR j IN 1..3 LOOP"
                       " CONTINUE outer WHEN j = 2; EXIT outer WHEN i = 3; v := v + 10 * i + j;"
                       " END LOOP; END LOOP; RETURN v;")
                .result,
            "32");
  EXPECT_EQ(
      bank.value("v := 0; FOR i IN REVERSE 7..1 BY 3 LOOP v := 10 * v + i; END LOOP; RETURN v;")
          .result,
      "741");
  EXPECT_EQ(bank.value("v := 0; WHILE v < 5 LOOP v := v + 2; END LOOP; RETURN v;").result, "6");
}

TEST(RunCall, TellsByFoundWhetherALoopHadARound) {
  Bank bank;
  EXPECT_EQ(bank.value("FOR v IN SELECT id FROM account WHERE id > 9 LOOP NULL; END LOOP;"
                       "IF FOUND THEN RETURN 1; END IF; RETURN 0;")
                .result,
            "0");
  EXPECT_EQ(bank.value("FOR v IN SELECT id FROM account LOOP NULL; END LOOP;"
                       "IF FOUND THEN RETURN 1; END IF; RETURN 0;")
                .result,
            "1");
}

TEST(RunCall, GoesThroughArrays) {
  Bank bank;
  EXPECT_EQ(bank.run("integer", "v integer := 0; x integer; xs integer[] := ARRAY[1, 2, 3];",
                     "FOREACH x IN ARRAY xs LOOP v := v + x; END LOOP; RETURN v;")
                .result,
            "6");
}

TEST(RunCall, KeepsFoundThroughSubqueries) {
  Bank bank;
  EXPECT_EQ(bank.value("SELECT id INTO v FROM account WHERE id = 9;"
                       "v := (SELECT balance FROM account WHERE id = 1);"
                       "IF FOUND THEN RETURN 1; END IF; RETURN v;")
                .result,
            "100");
}

}  // namespace
}  // namespace isoscope::sql
