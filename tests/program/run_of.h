#pragma once
// Programs from text, for tests.
#include <gtest/gtest.h>

#include <string>

#include "program/serial_run.h"

namespace isoscope {

// The program that `text` is; the test fails if it is none.
inline Program program_of(const std::string& text) {
  auto program = parse_program(text);
  if (program) return std::move(*program);
  ADD_FAILURE() << render(program.error()) << "\nin\n" << text;
  return std::move(*parse_program(""));
}

// The serial run of a program that is a single transaction with this body.
inline SerialRun run_of(const std::string& body) {
  return run_serially(program_of("session s { {\n" + body + "\n} }"));
}

}  // namespace isoscope
