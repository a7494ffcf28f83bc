#include "cli/sql_input.h"

#include "force/spec_file.h"
#include "sql/read/session_blocks.h"

namespace isoscope {

bool is_specification(const std::string& text) { return force::looks_like_spec(text); }

Result<ReadApplication> read_application(const std::string& text, Budget& budget) {
  if (!is_specification(text)) {
    auto app = sql::parse_application(text, &budget);
    if (!app) return app.error();
    return ReadApplication{*std::move(app), text};
  }
  const auto spec = force::read_spec(text);
  if (!spec) return spec.error();
  auto app = sql::parse_session_blocks(text, spec->places, &budget);
  if (!app) return app.error();
  return ReadApplication{*std::move(app), sql::text_of_blocks(text, spec->places)};
}

}  // namespace isoscope
