#pragma once
// Where the tests find the project's files and its program. The paths of the machine stand in one
// object file, so that every other test compiles to the same bytes wherever the tree is.
#include <string>

namespace isoscope {

// The root of the source tree, without a slash at its end.
const std::string& source_dir();
// The program `isoscope` of this build.
const std::string& isoscope_binary();

}  // namespace isoscope
