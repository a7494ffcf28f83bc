// SQL programs on the command line: explore, run, predict --app, and the page about them.
#include <gmock/gmock.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/run_isoscope.h"
#include "support/paths.h"

namespace isoscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string example(const std::string& name) {
  return source_dir() + "/examples/sql/" + name + ".sql";
}

// A directory that goes away with the test.
class CliSql : public testing::Test {
 protected:
  CliSql()
      : directory_(std::filesystem::temp_directory_path() /
                   ("isoscope-sql-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(directory_);
  }
  ~CliSql() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name, const std::string& text = {}) const {
    const std::string path = (directory_ / name).string();
    if (!text.empty()) std::ofstream(path) << text;
    return path;
  }

 private:
  std::filesystem::path directory_;
};

constexpr const char* kBank = R"(-- CREATE TABLE of a bank
create   table account (id integer PRIMARY KEY, balance integer);
CREATE FUNCTION take(p integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE account SET balance = balance - p WHERE id = 1;
END; $$;
CREATE FUNCTION other() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'SELECT 1';
END; $$;
)";

TEST_F(CliSql, TakesSessionsFromAWorkloadFile) {
  const std::string workload = file("work.txt",
                                    "INSERT INTO account VALUES (1, 100);\n"
                                    "session alice: take(1)\nsession bob: take(2)\n");
  const std::string bank = file("bank.sql", kBank);
  const Ran ran =
      run_isoscope("explore " + bank + " --workload " + workload + " --level cc --json");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["histories"], 3);
  EXPECT_EQ(run_isoscope("run " + bank + " --workload " + workload + " --store serial").exit_code,
            0);
}

TEST_F(CliSql, ReadsAProgramFromStandardInput) {
  const Ran ran =
      run_isoscope("run - --store serial", std::string(kBank) + "-- session alice: take(1)\n");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("alice[1]  take(1)"));
}

TEST_F(CliSql, SaysWhatIsMissing) {
  const std::string bank = file("bank.sql", kBank);
  const Ran none = run_isoscope("explore " + bank + " --level cc");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("the program has no sessions"));
  EXPECT_EQ(none.out, "");

  const std::string broken = file("broken.sql", std::string(kBank) + "-- session a: other()\n");
  const Ran left_out = run_isoscope("explore " + broken + " --level cc");
  EXPECT_EQ(left_out.exit_code, 2);
  EXPECT_THAT(left_out.err, AllOf(StartsWith(broken + ":9:3: error: EXECUTE is not modelled"),
                                  HasSubstr("a session calls other")));

  const std::string workload = file("work.txt", "session alice: take(1); nobody()\n");
  const Ran unknown = run_isoscope("explore " + bank + " --level cc --workload " + workload);
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("work.txt:1:25: error: unknown function 'nobody'"));

  const std::string txn = source_dir() + "/examples/programs/bank.txn";
  const Ran no_sql = run_isoscope("explore " + txn + " --level cc --workload " + workload);
  EXPECT_EQ(no_sql.exit_code, 2);
  EXPECT_THAT(no_sql.err, HasSubstr("only SQL programs take a workload"));
}

TEST_F(CliSql, KnowsTheRowsOfALongChainOfCalls) {
  // A call inserts the row behind those that it knows, so each round adds one.
  std::string chain = R"(
CREATE TABLE t (k integer PRIMARY KEY);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
DECLARE x integer;
BEGIN
  SELECT max(k) INTO x FROM t;
  INSERT INTO t VALUES (coalesce(x, 0) + 1);
END; $$;
-- session a: f())";
  for (int i = 0; i < 29; ++i) chain += "; f()";
  const Ran ran = run_isoscope("run " + file("chain.sql", chain + "\n") + " --store serial");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("r(t[23]) = 1 from a[23]  r(t[24]) = 0 from T0  w(t[24], 1)"));
}

TEST_F(CliSql, ReplaysWhatItRecorded) {
  const std::string trace = file("skew.hist");
  const Ran weak =
      run_isoscope("run " + example("courseware") + " --store weak --level si --runs 20 --trace " +
                   trace + " --to hist");
  EXPECT_EQ(weak.exit_code, 1);
  const Ran replay =
      run_isoscope("run " + example("courseware") + " --store replay --history " + trace);
  EXPECT_EQ(replay.exit_code, 1);
  EXPECT_THAT(replay.out, AllOf(StartsWith("violated  replay"), HasSubstr("write skew")));
}

TEST_F(CliSql, WritesEachHistoryOnce) {
  const std::string all = file("all.jsonl");
  const Ran ran =
      run_isoscope("explore " + example("courseware") + " --level cc --histories " + all);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  std::istringstream lines(slurp(all));
  int count = 0;
  for (std::string line; std::getline(lines, line);) ++count;
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace isoscope
