// Serializable exploration of random SQL programs against the calls run one after the other, in all
// orders that keep the sessions, on a plain database.
#include <gmock/gmock.h>

#include "sql/random_sql.h"
#include "sql/serial_ends.h"

namespace isoscope::sql {
namespace {

TEST(SqlProgramFuzz, EndsAtSerAsTheCallsDoOneAfterTheOther) {
  std::size_t num_weaker = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    const std::string text = RandomSql(seed * 7919).program();
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    auto app = parse_application(text);
    ASSERT_TRUE(app.ok()) << render(app.error());
    ASSERT_TRUE(app->problems.empty()) << render(app->problems.front());
    const std::set<Ends> serial = serial_ends(*app);
    auto program = SqlProgram::create(*std::move(app));
    ASSERT_TRUE(program.ok());
    ASSERT_EQ(explored_ends(**program, "ser"), serial);
    const std::set<Ends> at_cc = explored_ends(**program, "cc");
    ASSERT_TRUE(std::ranges::includes(at_cc, serial));
    num_weaker += at_cc.size() > serial.size() ? 1 : 0;
  }
  EXPECT_GT(num_weaker, 20U);  // the programs are such that the level matters
}

}  // namespace
}  // namespace isoscope::sql
