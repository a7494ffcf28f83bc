// Any bytes as the text of an SQL application: an Error, or an application whose statements use
// only tables, columns and variables that exist.
#include "sql/application.h"
#include "sql/well_formed.h"
#include "support/assert.h"
#include "target.h"

namespace isoscope {

bool fuzz(FuzzInput input) {
  const std::string_view text = as_text(input);
  auto app = sql::parse_application(text);
  if (!app) {
    ISO_ASSERT(!render(app.error()).empty());
    return false;
  }
  ISO_ASSERT(app->problems.size() == app->left_out.size());
  for (const Error& problem : app->problems) ISO_ASSERT(!render(problem).empty());
  const std::string flaw = sql::find_flaw(*app);
  ISO_ASSERT(flaw.empty());
  if (const auto added = sql::add_workload(*app, text); !added)
    ISO_ASSERT(!render(added.error()).empty());
  return !app->functions.empty();
}

}  // namespace isoscope
