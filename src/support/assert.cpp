#include "support/assert.h"

#include <cstdio>
#include <cstdlib>

#include "support/output.h"

#if defined(__has_feature)
#define ISO_HAS_FEATURE(name) __has_feature(name)
#else
#define ISO_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || ISO_HAS_FEATURE(address_sanitizer)
// Z3 4.8 loses a few bytes of its own when a query is given up, libpg_query a buffer when it parses
// PL/pgSQL; LeakSanitizer is to look at ours. There can be one list a program, so it stands here.
extern "C" const char* __lsan_default_suppressions() { return "leak:libz3\nleak:pg_query\n"; }
#endif

namespace isoscope {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "isoscope: internal error at %s:%d: %s does not hold\n", file, line,
               condition);
  remove_temporaries();
  std::abort();
}

}  // namespace isoscope
