#pragma once
// Hands out the top-level forms of a file of EDN or JSON, reading only as many lines as one needs.
#include <functional>
#include <string>

#include "formats/forms.h"
#include "support/input.h"

namespace isoscope {

// Calls `visit` with each map of the file: those that stand one by one and the elements of a
// vector or an array. The notation is JSON if the first bracket is followed by a quoted name.
// The form visited is at position `i` of `forms`, both valid during the call only.
using FormVisitor = std::function<Result<void>(const Forms& forms, std::uint32_t i)>;
Result<void> visit_forms(LineReader& in, const FormVisitor& visit);

// Does the text hold JSON rather than EDN? Looks at its first form.
bool looks_like_json(std::string_view text);

}  // namespace isoscope
