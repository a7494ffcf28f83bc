#pragma once
// Compiled code against the tree as it stands.
#include <gtest/gtest.h>

#include <string>

#include "program/naive_interpreter.h"
#include "program/serial_run.h"

namespace isoscope {

// `program` is what `text` compiles to; `run` becomes its serial run.
inline void compare_with_syntax_tree(const std::string& text, const Program& program,
                                     SerialRun& run) {
  run = run_serially(program);
  const auto syntax = txn::parse_syntax(text);
  ASSERT_TRUE(syntax.ok());
  const SerialRun expected = NaiveInterpreter(*syntax).run();
  ASSERT_EQ(run.trace, expected.trace) << text;
  ASSERT_EQ(run.store, expected.store) << text;
  ASSERT_EQ(run.committed, expected.committed) << text;
  ASSERT_EQ(run.fault.has_value(), expected.fault.has_value()) << text;
  if (run.fault) {
    ASSERT_EQ(run.fault->where, expected.fault->where) << text;
  } else {
    ASSERT_EQ(run.failed, expected.failed) << text;
  }
}

}  // namespace isoscope
