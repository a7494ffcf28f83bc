#pragma once
// Broken invariants are our bugs: they stop the program with their place, in release builds too.
// Checks that cost more than O(1) use ISO_DEBUG_ASSERT, which release builds leave out.

namespace isoscope {

// Prints the place and the condition on standard error and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace isoscope

#define ISO_ASSERT(condition)         \
  ((condition) ? static_cast<void>(0) \
               : ::isoscope::assertion_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define ISO_DEBUG_ASSERT(condition) static_cast<void>(0)
#else
#define ISO_DEBUG_ASSERT(condition) ISO_ASSERT(condition)
#endif
