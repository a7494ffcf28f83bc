#pragma once
// What a request of a client is to a schedule: its statements, and the end of its transaction.
#include <string>
#include <string_view>
#include <vector>

namespace isoscope::force {

// What a turn can be about: a statement, or the end of a transaction.
struct RequestStep {
  bool ends = false;
  std::string shape = {};  // of a statement: without constants
  friend bool operator==(const RequestStep&, const RequestStep&) = default;
};

// The steps of a text that a client sends. `is_in_block`: a transaction is open.
std::vector<RequestStep> steps_of(std::string_view sql, bool is_in_block);

}  // namespace isoscope::force
