// Any bytes as the text of an SQL application: an Error, or an application whose statements use
// only tables, columns and variables that exist.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sql/application.h"
#include "sql/well_formed.h"
#include "support/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isoscope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto app = sql::parse_application(text);
  if (!app) {
    ISO_ASSERT(!render(app.error()).empty());
    return 0;
  }
  ISO_ASSERT(app->problems.size() == app->left_out.size());
  for (const Error& problem : app->problems) ISO_ASSERT(!render(problem).empty());
  const std::string flaw = sql::find_flaw(*app);
  ISO_ASSERT(flaw.empty());
  if (const auto added = sql::add_workload(*app, text); !added)
    ISO_ASSERT(!render(added.error()).empty());
  return 0;
}
