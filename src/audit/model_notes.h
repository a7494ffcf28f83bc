#pragma once
// Where the formulas know less than the program: what a user should be told.
#include <vector>

#include "sql/application.h"

namespace isoscope::audit {

// One note for each function with arithmetic that is an unknown function of its operands in the
// formulas (symbols.h): products of two variables, quotients and remainders.
std::vector<sql::Note> model_notes(const sql::Application& app);

}  // namespace isoscope::audit
