#pragma once
// Names of errors, as EXCEPTION and RAISE use them.
#include <optional>
#include <string>
#include <string_view>

namespace isoscope::sql {

// The code of a named condition; a code is its own. Nothing for other names. A class of errors
// ends with 000.
std::optional<std::string> sqlstate_of(std::string_view condition);

// The code of an error that the evaluation of SQL raises, by what it says; empty for others.
std::string sqlstate_of_error(std::string_view what);

// Can an error with this code come out of the model? Others, as of casts, it does not know.
bool is_modelled_sqlstate(std::string_view code);

}  // namespace isoscope::sql
