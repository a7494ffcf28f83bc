#pragma once
// A program out of the text of a test.
#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "program/program.h"

namespace isoscope {

inline Program program_of(std::string_view text) {
  auto program = parse_program(text);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : render(program.error()));
  return std::move(*program);
}

}  // namespace isoscope
