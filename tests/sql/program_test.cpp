#include "sql/run/program.h"

#include <gmock/gmock.h>

#include "explore/explore.h"
#include "explore/outcomes.h"
#include "spec/levels.h"
#include "sql/run/key_names.h"
#include "store/runs.h"
#include "support/input.h"
#include "support/paths.h"

namespace isoscope::sql {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::unique_ptr<SqlProgram> program_of(std::string_view text) {
  auto app = parse_application(text);
  EXPECT_TRUE(app.ok()) << render(app.error());
  for (const Error& problem : app->problems) ADD_FAILURE() << render(problem);
  auto program = SqlProgram::create(*std::move(app));
  EXPECT_TRUE(program.ok()) << render(program.error());
  return *std::move(program);
}

std::unique_ptr<SqlProgram> example(const std::string& name) {
  auto text = read_whole(source_dir() + "/examples/sql/" + name + ".sql");
  EXPECT_TRUE(text.ok());
  return program_of(*text);
}

struct Explored {
  std::uint64_t histories = 0;
  std::vector<std::string> outcomes;  // "alice[1]: x = 1; bob[1] aborts: x = 2"
};

Explored explored(SqlProgram& program, std::string_view level_name) {
  const LevelSet& levels = LevelSet::built_in();
  const auto plan = explore::make_plan(program, **levels.find(level_name), levels,
                                       explore::Algorithm::Best, std::nullopt);
  Explored all;
  explore::Outcomes outcomes(program);
  all.histories =
      explore::explore(program, *plan,
                       {.on_history = [&](const store::Recording& run) { outcomes.add(run); }})
          .histories;
  for (const explore::ProgramOutcome& outcome : outcomes.sorted()) {
    std::string line;
    for (const CallId call : outcome.txns.ids()) {
      const store::RecordedTxn& txn = outcome.txns[call];
      line += (call == CallId{0} ? "" : "; ") + store::name_of(program, call);
      line += txn.is_committed ? ":" : " aborts:";
      const auto names = program.local_names(call);
      for (std::size_t i = 0; i < names.size(); ++i)
        line += " " + names[i] + "=" + program.print_local(call, i, txn.locals[i]);
    }
    all.outcomes.push_back(std::move(line));
  }
  return all;
}

// Runs a call with each read answered by the initial value, and says what it does.
std::vector<std::string> accesses(const SqlProgram& program, CallId call) {
  std::vector<std::string> list;
  const auto executor = program.executor();
  executor->start(call);
  for (;;) {
    const Stop stop = executor->run();
    if (stop.kind == StopKind::Read) {
      const std::int64_t value = program.keys().initial(stop.key);
      list.push_back("r " + program.keys().name(stop.key) + " " +
                     program.print_value(stop.key, value));
      executor->answer(value);
    } else if (stop.kind == StopKind::Write) {
      list.push_back("w " + program.keys().name(stop.key) + " " +
                     program.print_value(stop.key, stop.value));
    } else {
      list.emplace_back(stop.kind == StopKind::Commit  ? "commit"
                        : stop.kind == StopKind::Abort ? "abort"
                                                       : executor->fault().what);
      return list;
    }
  }
}

// --- The examples -------------------------------------------------------------------------------

TEST(SqlProgram, LosesAnUpdateOfTheBankBelowSi) {
  const auto bank = example("bank");
  const std::string alice_first = "alice[1]: v_bal=100; alice[2]: v_bal=80; bob[1]: v_bal=40";
  const std::string bob_first = "alice[1]: v_bal=70; alice[2]: v_bal=80; bob[1]: v_bal=100";
  for (const std::string_view level : {"ser", "si"}) {
    const Explored all = explored(*bank, level);
    EXPECT_EQ(all.histories, 2U) << level;
    EXPECT_THAT(all.outcomes, UnorderedElementsAre(alice_first, bob_first)) << level;
  }
  const Explored all = explored(*bank, "cc");
  EXPECT_EQ(all.histories, 3U);
  EXPECT_THAT(all.outcomes,
              UnorderedElementsAre(alice_first, bob_first,
                                   "alice[1]: v_bal=100; alice[2]: v_bal=80; bob[1]: v_bal=100"));
}

TEST(SqlProgram, EnrolsAStudentWhoIsRemovedBelowSer) {
  const auto courseware = example("courseware");
  const std::string enrols =
      "alice[1]: result=true v_s='ada' v_cap=2; bob[1]: result=false v_c='logic'";
  const std::string removes =
      "alice[1]: result=false v_s=NULL v_cap=2; bob[1]: result=true v_c=NULL";
  const Explored serial = explored(*courseware, "ser");
  EXPECT_EQ(serial.histories, 2U);
  EXPECT_THAT(serial.outcomes, UnorderedElementsAre(enrols, removes));
  for (const std::string_view level : {"si", "cc"}) {
    const Explored all = explored(*courseware, level);
    EXPECT_EQ(all.histories, 3U) << level;
    EXPECT_THAT(all.outcomes,
                UnorderedElementsAre(
                    enrols, removes,
                    "alice[1]: result=true v_s='ada' v_cap=2; bob[1]: result=true v_c=NULL"))
        << level;
  }
}

// --- Keys and values ----------------------------------------------------------------------------

constexpr std::string_view kShop = R"(
CREATE TABLE item (name text, size integer, price integer NOT NULL, stock integer, label text,
                   PRIMARY KEY (name, size));
CREATE TABLE sale (id serial PRIMARY KEY, what text);
INSERT INTO item VALUES ('hat', 3, 10, 5, 'x');
INSERT INTO item VALUES ('red hat', 3, 20, NULL, NULL);
CREATE FUNCTION sell(p_name text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE v_stock integer; v_price integer;
BEGIN
  SELECT stock, price INTO v_stock, v_price FROM item WHERE name = p_name AND size = 3;
  IF v_stock IS NULL THEN RAISE EXCEPTION 'none left'; END IF;
  UPDATE item SET stock = stock - 1, label = 'it''s sold' WHERE name = p_name AND size = 3;
  INSERT INTO sale (what) VALUES (p_name);
  RETURN v_price;
END; $$;
CREATE FUNCTION restock() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE item SET price = 1;
  INSERT INTO item VALUES ('shoe', 1, 1, 1, '');
END; $$;
)";

TEST(SqlProgram, HasKeysForWhatCallsChangeAndNoOthers) {
  const auto shop = program_of(std::string(kShop) + "-- session a: sell('hat'); sell('red hat')\n");
  EXPECT_THAT(accesses(*shop, CallId{0}),
              ElementsAre("r item.stock[hat, 3] 5", "r item.stock[hat, 3] 5",
                          "w item.stock[hat, 3] 4", "w item.label[hat, 3] 'it''s sold'",
                          "w sale[1] 1", "w sale.what[1] 'hat'", "commit"));
  EXPECT_THAT(accesses(*shop, CallId{1}), ElementsAre("r item.stock['red hat', 3] NULL", "abort"));
  EXPECT_EQ(shop->outline().calls[CallId{1}].name, "sell('red hat')");
}

TEST(SqlProgram, ReadsPresenceAndColumnsThatACalledFunctionChanges) {
  const auto shop =
      program_of(std::string(kShop) + "-- session a: sell('red hat')\n-- session b: restock()\n");
  EXPECT_THAT(accesses(*shop, CallId{0}),
              ElementsAre("r item['red hat', 3] 1", "r item.stock['red hat', 3] NULL",
                          "r item.price['red hat', 3] 20", "abort"));
}

TEST(SqlProgram, GivesEachCallFreshValuesOfItsOwn) {
  const auto shop =
      program_of(std::string(kShop) + "-- session a: sell('hat')\n-- session b: sell('hat')\n");
  EXPECT_THAT(accesses(*shop, CallId{0}), testing::Contains("w sale[1] 1"));
  EXPECT_THAT(accesses(*shop, CallId{1}), testing::Contains("w sale[2] 1"));
}

TEST(SqlProgram, GoesBackToAReadAndOnWithAnotherAnswer) {
  const auto bank = example("bank");
  const auto executor = bank->executor();
  executor->start(CallId{0});
  ASSERT_EQ(executor->run().kind, StopKind::Read);
  const std::vector<std::int64_t> state(executor->state().begin(), executor->state().end());
  executor->answer(100);
  const Stop write = executor->run();
  EXPECT_EQ(write.kind, StopKind::Write);
  EXPECT_EQ(write.value, 40);
  EXPECT_EQ(executor->run().kind, StopKind::Commit);
  EXPECT_EQ(executor->state()[0], 100);  // v_bal
  executor->restore(CallId{0}, state);
  EXPECT_EQ(executor->run().kind, StopKind::Read);
  executor->answer(60);
  EXPECT_EQ(executor->run().kind, StopKind::Commit);
}

TEST(SqlProgram, SaysWhatItMayReadAndWrite) {
  const auto shop = program_of(std::string(kShop) + "-- session a: sell('hat')\n");
  std::vector<std::string> written;
  for (const FamilyId family : shop->may_write(CallId{0}))
    written.emplace_back(shop->keys().name(family));
  EXPECT_THAT(written,
              UnorderedElementsAre("item.stock", "item.label", "sale", "sale.id", "sale.what"));
}

// --- Rows that calls insert ---------------------------------------------------------------------

constexpr std::string_view kQueue = R"(
CREATE TABLE job (id integer PRIMARY KEY);
CREATE FUNCTION add() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE v integer;
BEGIN
  SELECT coalesce(max(id), 0) + 1 INTO v FROM job;
  INSERT INTO job VALUES (v);
  RETURN v;
END; $$;
-- session a: add(); add()
-- session b: add()
)";

TEST(SqlProgram, RepeatsUntilScansKnowAllInsertedRows) {
  const auto queue = program_of(kQueue);
  EXPECT_FALSE(queue->has_new_rows());
  const Explored all = explored(*queue, "ser");
  EXPECT_FALSE(queue->has_new_rows());
  EXPECT_THAT(all.outcomes,
              UnorderedElementsAre("a[1]: result=1 v=1; a[2]: result=2 v=2; b[1]: result=3 v=3",
                                   "a[1]: result=1 v=1; a[2]: result=3 v=3; b[1]: result=2 v=2",
                                   "a[1]: result=2 v=2; a[2]: result=3 v=3; b[1]: result=1 v=1"));
}

// One after the other, no two calls add the same number.
TEST(SqlProgram, RunsUntilScansKnowAllInsertedRows) {
  const auto queue = program_of(kQueue);
  Budget budget;
  const auto runs = store::run_many(*queue, nullptr, {.seed = 1, .runs = 4}, budget);
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(runs->runs, 4U);
  EXPECT_EQ(runs->unserializable, 0U);
  EXPECT_FALSE(queue->has_new_rows());
  std::set<std::int64_t> added;
  for (const store::RecordedTxn& txn : runs->shown.txns) added.insert(txn.locals[0]);
  EXPECT_EQ(added.size(), 3U);
}

TEST(SqlProgram, AdoptsRowsOfKeysThatAHistoryNames) {
  const auto queue = program_of(kQueue);
  EXPECT_THAT(accesses(*queue, CallId{0}), ElementsAre("r job[1] 0", "w job[1] 1", "commit"));
  queue->adopt_row("job[7]");
  queue->adopt_row("job");
  queue->adopt_row("job[7");
  queue->adopt_row("unknown[1]");
  queue->adopt_row("job[1, 2]");
  EXPECT_THAT(accesses(*queue, CallId{0}),
              ElementsAre("r job[7] 0", "r job[1] 0", "w job[1] 1", "commit"));
}

TEST(SqlProgram, StopsAtAFaultForALoopWithoutEnd) {
  const auto endless = program_of(R"(
CREATE TABLE t (k integer PRIMARY KEY);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN LOOP NULL; END LOOP; END; $$;
-- session a: f()
)");
  EXPECT_THAT(accesses(*endless, CallId{0}),
              ElementsAre("f(): f runs more than 100000 statements"));
}

TEST(SqlProgram, NeedsSessions) {
  auto app = parse_application(kShop);
  ASSERT_TRUE(app.ok());
  const auto program = SqlProgram::create(*std::move(app));
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().what, "the program has no sessions");
  EXPECT_THAT(program.error().hint, HasSubstr("-- session alice: sell(…)"));
}

// --- Numbers and names --------------------------------------------------------------------------

TEST(ValueNumbers, GiveEveryValueBack) {
  ValueNumbers numbers;
  const std::vector<Value> values = {Value(),
                                     Value(std::int64_t{0}),
                                     Value(std::int64_t{-7}),
                                     Value(std::numeric_limits<std::int64_t>::min()),
                                     Value(std::numeric_limits<std::int64_t>::max()),
                                     Value(true),
                                     Value(false),
                                     Value(std::string("x")),
                                     Value(std::string()),
                                     Value(std::vector<Value>{Value(true), Value()})};
  for (const Type type : {Type::Integer, Type::Text, Type::Boolean}) {
    std::set<std::int64_t> seen;
    for (const Value& value : values) {
      const std::int64_t number = numbers.number_of(type, value);
      EXPECT_EQ(numbers.value_of(type, number), value) << print(value);
      EXPECT_TRUE(seen.insert(number).second) << print(value);
    }
  }
  EXPECT_EQ(numbers.number_of(Type::Integer, Value(std::int64_t{5})), 5);
  EXPECT_EQ(numbers.number_of(Type::Boolean, Value(true)), 1);
}

TEST(KeyNames, AreReadBack) {
  for (const Value& value :
       {Value(std::int64_t{-3}), Value(std::string("bob")), Value(std::string("it's, [here]")),
        Value(std::string("7")), Value(std::string()), Value(*parse_decimal("1.5"))}) {
    const auto name = parse_key_name("t.c[1, " + index_name(value) + "]");
    ASSERT_TRUE(name.has_value()) << index_name(value);
    EXPECT_EQ(name->family, "t.c");
    EXPECT_THAT(name->indices, ElementsAre(Value(std::int64_t{1}), value));
  }
  for (const std::string_view bad : {"t", "t[", "t[]", "t['a]", "t[1 2]", "t[1]x", "t[1.5.2]"})
    EXPECT_FALSE(parse_key_name(bad).has_value()) << bad;
}

}  // namespace
}  // namespace isoscope::sql
