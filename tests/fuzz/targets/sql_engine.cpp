// SQL programs made from choices: explored at ser they end as their calls do one after the other on
// a plain database, and at cc in no fewer ways.
#include <algorithm>

#include "sql/random_sql.h"
#include "sql/serial_ends.h"
#include "sql/well_formed.h"
#include "target.h"

namespace isoscope {

bool fuzz(FuzzInput input) {
  using namespace sql;
  const std::string text = RandomSql(Choices(input)).program();
  SCOPED_TRACE(text);
  auto app = parse_application(text);
  EXPECT_TRUE(app.ok()) << render(app.error());
  EXPECT_TRUE(app->problems.empty()) << render(app->problems.front());
  EXPECT_EQ(find_flaw(*app), "");
  const std::set<Ends> serial = serial_ends(*app);
  auto program = SqlProgram::create(*std::move(app));
  EXPECT_TRUE(program.ok());
  EXPECT_EQ(explored_ends(**program, "ser"), serial);
  EXPECT_TRUE(std::ranges::includes(explored_ends(**program, "cc"), serial));
  return true;
}

}  // namespace isoscope
