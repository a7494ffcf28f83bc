// Specifications of isolationtester as programs: explore, run and audit without a server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_isoscope.h"
#include "support/paths.h"
#include "support/temp_folder.h"

namespace isoscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class SpecCliTest : public ::testing::Test {
 protected:
  static std::string lost_update() { return source_dir() + "/examples/force/lost-update.spec"; }
  // Without the level of BEGIN, so that --level says it.
  std::string without_levels() const {
    std::string text = slurp(lost_update());
    for (std::size_t i = 0;
         (i = text.find(" ISOLATION LEVEL READ COMMITTED")) != std::string::npos;)
      text.erase(i, std::string(" ISOLATION LEVEL READ COMMITTED").size());
    return folder_.add("plain.spec", text);
  }
  std::string spec(const std::string& steps, const std::string& setup = {}) const {
    return folder_.add(
        "f.spec", "setup { CREATE TABLE t (id int PRIMARY KEY, v int); " + setup + " }\n" + steps);
  }
  const TempFolder folder_;
};

TEST_F(SpecCliTest, ExploreExecutesTheSessions) {
  const Ran weak = run_isoscope("explore " + lost_update() + " --json --outcomes");
  EXPECT_EQ(weak.exit_code, 0) << weak.out << weak.err;
  const json answer = json::parse(weak.out);
  EXPECT_EQ(answer["command"], "explore");
  // Two serial orders, and the lost update with either value in the end.
  EXPECT_EQ(answer["histories"], 4) << weak.out;
  const Ran shown = run_isoscope("explore " + lost_update() + " --outcomes");
  EXPECT_THAT(shown.out, HasSubstr("no serial order ends like this"));
  EXPECT_THAT(shown.out, HasSubstr("bob[1] commits: result = 100"));
  const Ran strong = run_isoscope("explore " + without_levels() + " --level pg-rr --outcomes");
  EXPECT_EQ(strong.exit_code, 0) << strong.err;
  EXPECT_THAT(strong.out, HasSubstr("aborts (40001"));
}

TEST_F(SpecCliTest, ExploreChecksClaimsInASetup) {
  const std::string path = spec(
      "session s1\nstep a { BEGIN; }\nstep b { SELECT v FROM t WHERE id = 1; }\n"
      "step c { UPDATE t SET v = 1 WHERE id = 1; COMMIT; }\n"
      "session s2\nstep d { UPDATE t SET v = v + 2 WHERE id = 1; }\n",
      "INSERT INTO t VALUES (1, 0);\n-- assert SELECT v <> 1 FROM t\n");
  const Ran ran = run_isoscope("explore " + path);
  EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("fails: assert SELECT v <> 1 FROM t"));
}

TEST_F(SpecCliTest, AuditFindsTheLostUpdateWithItsLines) {
  const Ran ran = run_isoscope("audit " + lost_update());
  EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("alice"));
  EXPECT_THAT(ran.out, HasSubstr("T2  line 7: SELECT balance FROM account WHERE id = 1"));
  const Ran safe = run_isoscope("audit " + without_levels() + " --level pg-ser");
  EXPECT_EQ(safe.exit_code, 0) << safe.out << safe.err;
}

TEST_F(SpecCliTest, TheLevelOfBeginIsTheLevelOfTheTransaction) {
  std::string text = slurp(lost_update());
  for (std::size_t i = 0; (i = text.find("READ COMMITTED;")) != std::string::npos;)
    text.replace(i, std::string("READ COMMITTED;").size(), "SERIALIZABLE;");
  const std::string path = folder_.add("strong.spec", text);
  EXPECT_EQ(run_isoscope("audit " + path).exit_code, 0);
  const Ran ran = run_isoscope("explore " + path + " --outcomes");
  EXPECT_THAT(ran.out, HasSubstr("aborts (40001"));
}

TEST_F(SpecCliTest, ErrorsHaveTheirPlaces) {
  const std::string one = "session s1\nsetup { BEGIN; }\n";
  struct Case {
    std::string steps, setup, place, what;
  };
  for (const Case& c : std::vector<Case>{
           {one + "step a { ROLLBACK; }\n", "", "4:10", "ROLLBACK, savepoints"},
           {one + "step a { SELECT v FROM t; }\n", "", "3:9", "never committed"},
           {one + "step a { BEGIN; COMMIT; }\n", "", "4:10", "open already"},
           {"session s1\nstep a { COMMIT; }\n", "", "3:10", "no transaction to commit"},
           {"session s1\nstep a { SET lock_timeout = 1; }\n", "", "3:10",
            "setting is not modelled"},
           {"session s1\nstep a { SELEC v; }\n", "", "3:10", "syntax error"},
           {"session s1\nstep a { SELECT v FROM u; }\n", "", "3:24", "'u'"},
           {"session s1\nstep a { SELECT v FROM t; }\n", "UPDATE t SET v = 1;", "1:53",
            "statement of a setup"},
           {"session s1\nstep a { SELECT v FROM t; }\n",
            "INSERT INTO t SELECT i, 0 FROM generate_series(1, 9) i;", "1:", "INSERT"},
           {"session s1\nstep a { LOCK TABLE t; }\n", "", "3:10", "not modelled"}}) {
    const std::string path = spec(c.steps, c.setup);
    const Ran ran = run_isoscope("explore " + path);
    EXPECT_EQ(ran.exit_code, 2) << c.steps << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("f.spec:" + c.place)) << c.steps;
    EXPECT_THAT(ran.err, HasSubstr(c.what)) << c.steps;
  }
}

TEST_F(SpecCliTest, BlocksWithoutBeginAreTransactions) {
  const std::string path = spec(
      "session s1\nstep a { UPDATE t SET v = 1 WHERE id = 1; UPDATE t SET v = 2 WHERE id = 1 }\n"
      "step b { UPDATE t SET v = v + 10 WHERE id = 1 -- no semicolon }\n"
      "session s2\nstep c { SELECT v FROM t WHERE id = 1; }\n",
      "INSERT INTO t VALUES (1, 0);");
  const Ran ran = run_isoscope("explore " + path + " --outcomes");
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  // s2 sees 0, 2 or 12, never 1.
  EXPECT_THAT(ran.out, HasSubstr("s1[2] commits"));
  EXPECT_THAT(ran.out, HasSubstr("result = 12"));
  EXPECT_THAT(ran.out, HasSubstr("result = 2"));
  EXPECT_THAT(ran.out, ::testing::Not(HasSubstr("result = 1\n")));
}

}  // namespace
}  // namespace isoscope
