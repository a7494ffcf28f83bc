#include "support/assert.h"

#include <cstdio>
#include <cstdlib>

namespace isoscope {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "isoscope: internal error at %s:%d: %s does not hold\n", file, line,
               condition);
  std::abort();
}

}  // namespace isoscope
