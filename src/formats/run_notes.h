#pragma once
// What a recorded run (docs/record.md) says besides its history: above all, what it does not know.
//
// A gap is a statement whose reads or writes the recorder did not understand, or a transaction
// whose end it did not see. What is recorded is true all the same, so a violation stays one; that
// nothing is wrong can only be said of a run without gaps.
#include <cstddef>
#include <map>
#include <string>

namespace isoscope {

struct RunNotes {
  bool is_recorded = false;  // has statements, times or gaps
  std::size_t statements = 0;
  std::size_t gaps = 0;
  std::map<std::string, std::size_t> reasons = {};  // how many gaps have this reason

  // "3 statements of this recorded run were not understood (…)"; empty without gaps.
  std::string limit() const;
};

}  // namespace isoscope
