#include "sql/interpreter.h"

#include <gmock/gmock.h>

#include "sql/app_of.h"
#include "sql/memory_database.h"

namespace isoscope::sql {
namespace {

Value number(std::int64_t n) { return Value(n); }

// account(acc_id, balance) with one row, and withdraw() as the paper has it.
Application bank() {
  Application app;
  app.tables.push_back({.name = "account",
                        .columns = {{.name = "acc_id"}, {.name = "balance", .not_null = true}},
                        .primary_key = {0},
                        .unique = {},
                        .foreign_keys = {},
                        .checks = {}});
  app.initial_rows.push_back({TableId{0}, {number(1), number(100)}});
  Function withdraw{.name = "withdraw",
                    .variables = {{.name = "p_id"}, {.name = "p_amount"}, {.name = "v_bal"}},
                    .num_parameters = 2,
                    .body = {}};
  const Expr by_key = make(ExprOp::Equal, {col(0), var(0)});
  Statement select{.op = StatementOp::Select};
  select.query = {.sources = {TableId{0}}, .where = by_key};
  select.query.outputs.push_back({.expr = col(1)});
  select.targets = {VarId{2}};
  Statement update{.op = StatementOp::Update};
  update.table = TableId{0};
  update.where = by_key;
  update.sets.push_back({1, make(ExprOp::Subtract, {var(2), var(1)})});
  Statement check{.op = StatementOp::If};
  check.expr = make(ExprOp::Greater, {var(2), var(1)});
  check.body.push_back(std::move(update));
  withdraw.body.push_back(std::move(select));
  withdraw.body.push_back(std::move(check));
  app.functions.push_back(std::move(withdraw));
  return app;
}

TEST(RunCall, RunsTheExampleOfThePaper) {
  const Application app = bank();
  MemoryDatabase database(app);
  const std::vector<Value> arguments = {number(1), number(60)};
  for (const std::int64_t balance : {40, 40}) {
    auto result = run_call(app, app.functions[0], arguments, database);
    ASSERT_TRUE(result.ok());
    EXPECT_TRUE(result->committed);
    EXPECT_EQ(database.read(TableId{0}, {number(1)}, 1), number(balance));
  }
}

}  // namespace
}  // namespace isoscope::sql
