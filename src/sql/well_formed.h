#pragma once
// Does an application keep what its types promise? A check on the front end, for its tests.
#include <string>

#include "sql/application.h"

namespace isoscope::sql {

// What is wrong: a variable, column, table or function that does not exist, an operator with too
// few arguments, loops that are left and are not there. Empty if nothing is.
std::string find_flaw(const Application& app);

}  // namespace isoscope::sql
