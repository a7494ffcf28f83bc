#include "program/rounds.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoscope {

int most_rounds(const Executable& program) {
  constexpr int kFewest = 20;
  return std::max(kFewest, static_cast<int>(program.outline().calls.size()) + 2);
}

Error too_many_rounds(const Executable& program) {
  return {.what = fmt::format("calls insert new rows again and again: {} rounds are not enough to "
                              "know them all",
                              most_rounds(program)),
          .hint = "use fewer calls, or keys that do not depend on what was read"};
}

}  // namespace isoscope
