// The inventory that sells more than it has, its usual repairs, and what PostgreSQL's levels make
// of each: every schedule, with claims about rows.
#include <gtest/gtest.h>

#include "sql/read/assertions.h"
#include "sql/server/schedules.h"

namespace isoscope::sql::server {
namespace {

constexpr std::string_view kTables =
    "CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL);\n"
    "CREATE TABLE line (id int PRIMARY KEY, item int NOT NULL REFERENCES item (id));\n";
constexpr std::string_view kRest =
    "INSERT INTO item VALUES (1, 1);\n"
    "-- session alice: buy(1)\n"
    "-- session bob: buy(2)\n"
    "-- invariant SELECT stock >= 0 FROM item\n"
    "-- assert SELECT count(*) <= 1 FROM line\n";

struct Sold {
  bool is_fine = false;  // no claim is broken
  bool can_deadlock = false;
  bool sells = false;             // in some run one is sold
  std::vector<std::string> rows;  // that break a claim, of the first violation
};

Sold sell(const std::string& body, PgLevel level, std::string_view tables = kTables) {
  const std::string text =
      std::string(tables) +
      "CREATE FUNCTION buy(p_line int) RETURNS boolean LANGUAGE plpgsql AS $$\n"
      "DECLARE v_stock int;\nBEGIN\n" +
      body + "\nRETURN true;\nEND $$;\n" + std::string(kRest);
  auto app = parse_application(text);
  EXPECT_TRUE(app.ok()) << app.error().what;
  EXPECT_TRUE(app->problems.empty()) << app->problems.front().what;
  auto claims = parse_assertions(text, *app);
  EXPECT_TRUE(claims.ok()) << claims.error().what;
  EXPECT_EQ(claims->size(), 2U);
  const auto program = SqlProgram::create(*std::move(app));
  EXPECT_TRUE(program.ok());
  const Machine machine(**program, {level, level});
  Sold sold;
  ScheduleOptions options{.wants_outcomes = true};
  const Schedules all = explore(machine, *claims, options);
  EXPECT_FALSE(all.fault) << all.fault->what;
  sold.is_fine = all.violating == 0;
  sold.can_deadlock = all.deadlocks > 0;
  for (const RunOutcome& outcome : all.outcomes)
    sold.sells = sold.sells || !outcome.end.rows[TableId{1}].empty();
  if (!all.violations.empty()) {
    for (const ShownRow& row : all.violations.front().broken.front().answer.rows) {
      std::string text_of_row;
      for (const Value& value : row.values)
        text_of_row += (text_of_row.empty() ? "" : " ") + print(value);
      sold.rows.push_back(text_of_row);
    }
  }
  return sold;
}

constexpr PgLevel kRc = PgLevel::ReadCommitted;
constexpr PgLevel kRr = PgLevel::RepeatableRead;
constexpr PgLevel kSer = PgLevel::Serializable;

const std::string kLook = "SELECT stock INTO v_stock FROM item WHERE id = 1;\n";
const std::string kGuard = "IF v_stock < 1 THEN RETURN false; END IF;\n";
const std::string kTake = "UPDATE item SET stock = v_stock - 1 WHERE id = 1;\n";
const std::string kOrder = "INSERT INTO line VALUES (p_line, 1);\n";

TEST(ServerShop, TheTextbookOversellsAtReadCommittedAlone) {
  const Sold sold = sell(kLook + kGuard + kTake + kOrder, kRc);
  EXPECT_FALSE(sold.is_fine);
  EXPECT_EQ(sold.rows, (std::vector<std::string>{"1 1", "2 1"}));
  EXPECT_TRUE(sell(kLook + kGuard + kTake + kOrder, kRr).is_fine);
  EXPECT_TRUE(sell(kLook + kGuard + kTake + kOrder, kSer).is_fine);
}

TEST(ServerShop, AForeignKeyCheckedFirstDoesNotHelp) {
  const Sold sold = sell(kOrder + kLook + kGuard + kTake, kRc);
  EXPECT_FALSE(sold.is_fine);
  EXPECT_FALSE(sold.can_deadlock);  // KEY SHARE lets UPDATE pass
}

TEST(ServerShop, AnUpdateOfWhatIsThereGoesBelowZero) {
  const Sold sold =
      sell(kLook + kGuard + "UPDATE item SET stock = stock - 1 WHERE id = 1;\n" + kOrder, kRc);
  EXPECT_FALSE(sold.is_fine);
  EXPECT_EQ(sold.rows, (std::vector<std::string>{"1 -1"}));
}

TEST(ServerShop, AGuardInASubqueryIsNotAskedAgain) {
  const Sold sold = sell(
      "UPDATE item SET stock = stock - 1 WHERE id = 1 AND (SELECT stock FROM item WHERE id = 1) > "
      "0;\n"
      "IF NOT FOUND THEN RETURN false; END IF;\n" +
          kOrder,
      kRc);
  EXPECT_FALSE(sold.is_fine);
  EXPECT_EQ(sold.rows, (std::vector<std::string>{"1 -1"}));
}

TEST(ServerShop, ForShareDeadlocksAndSellsOnce) {
  const Sold sold = sell(
      "SELECT stock INTO v_stock FROM item WHERE id = 1 FOR SHARE;\n" + kGuard + kTake + kOrder,
      kRc);
  EXPECT_TRUE(sold.is_fine);
  EXPECT_TRUE(sold.can_deadlock);
}

TEST(ServerShop, ForKeyShareDoesNotHelp) {
  EXPECT_FALSE(sell("SELECT stock INTO v_stock FROM item WHERE id = 1 FOR KEY SHARE;\n" + kGuard +
                        kTake + kOrder,
                    kRc)
                   .is_fine);
}

// The three usual repairs: right at every level.
TEST(ServerShop, ForUpdateRepairs) {
  for (const PgLevel level : {kRc, kRr, kSer}) {
    for (const std::string lock : {"FOR UPDATE", "FOR NO KEY UPDATE"}) {
      const Sold sold = sell("SELECT stock INTO v_stock FROM item WHERE id = 1 " + lock + ";\n" +
                                 kGuard + kTake + kOrder,
                             level);
      EXPECT_TRUE(sold.is_fine) << name_of(level) << " " << lock;
      EXPECT_TRUE(sold.sells);
      EXPECT_FALSE(sold.can_deadlock);
    }
  }
}

TEST(ServerShop, AGuardedUpdateRepairs) {
  for (const PgLevel level : {kRc, kRr, kSer}) {
    const Sold sold = sell(
        "UPDATE item SET stock = stock - 1 WHERE id = 1 AND stock > 0;\n"
        "IF NOT FOUND THEN RETURN false; END IF;\n" +
            kOrder,
        level);
    EXPECT_TRUE(sold.is_fine) << name_of(level);
    EXPECT_TRUE(sold.sells);
  }
}

TEST(ServerShop, ACheckRepairs) {
  constexpr std::string_view kChecked =
      "CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL CHECK (stock >= 0));\n"
      "CREATE TABLE line (id int PRIMARY KEY, item int NOT NULL REFERENCES item (id));\n";
  for (const PgLevel level : {kRc, kRr, kSer}) {
    const Sold sold =
        sell("UPDATE item SET stock = stock - 1 WHERE id = 1;\n" + kOrder, level, kChecked);
    EXPECT_TRUE(sold.is_fine) << name_of(level);
    EXPECT_TRUE(sold.sells);
  }
}

}  // namespace
}  // namespace isoscope::sql::server
