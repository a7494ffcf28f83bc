#pragma once
// What the PL/pgSQL parser of the library does not take though the server does, it gets in another
// form of the same lines:
//
//   RETURN NEXT alone       with a value: the parser does not know of OUT parameters
//   r.f := …, INTO r.f      a variable of ours; which field it is, `fields` says in the order of
//                           the text
//   v ALIAS FOR $1          a variable of its own, which the translation takes for the parameter
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql/read/plpgsql_builder.h"

namespace isoscope::sql {

// The CREATE FUNCTION `statement`, which begins at `begin` in the file and has the body `text`, as
// the parser takes it. Adds to `fields`.
std::string patched_text(std::string_view statement, std::uint32_t begin, const BodyText& text,
                         bool has_outputs, bool is_trigger, std::vector<RecordField>& fields);

}  // namespace isoscope::sql
