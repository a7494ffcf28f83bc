// Lets libFuzzer call fuzz(), and counts. At the end it prints how many inputs were more than
// noise:
//
//     stat::accepted_inputs:          1234
//
// Expectations of GoogleTest may be used by targets, so that they share comparisons with the tests:
// one that fails stops the process.
#include <gtest/gtest.h>

#include <cstdio>

#include "target.h"

namespace {

struct Statistics {
  unsigned long accepted = 0;
  ~Statistics() { std::fprintf(stderr, "stat::accepted_inputs:          %lu\n", accepted); }
};
Statistics statistics;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  GTEST_FLAG_SET(break_on_failure, true);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (isoscope::fuzz({data, size})) ++statistics.accepted;
  return 0;
}
