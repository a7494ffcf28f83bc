#pragma once
// What `isoscope demo` carries along: its steps, and the examples that they use.
#include <string_view>

namespace isoscope {

std::string_view demo_walk();
std::string_view demo_bank();
std::string_view demo_on_call();

}  // namespace isoscope
