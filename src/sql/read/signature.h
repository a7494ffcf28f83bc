#pragma once
// The head of CREATE FUNCTION: parameters, result and settings.
#include <cstddef>
#include <string_view>
#include <vector>

#include "sql/read/function_builder.h"
#include "sql/read/plpgsql_builder.h"

namespace isoscope::sql {

// An option of CREATE FUNCTION, such as `language`; no tree if it has none of that name.
const Tree& find_option(const Tree& node, std::string_view name);

// Puts the parameters into the frame, those that a caller gives first, and declares them; says in
// `head` and in the frame's function what is returned; notes settings that are not modelled.
void read_signature(const Tree& node, const Locator& where, Catalog& catalog, Findings& findings,
                    const FiredTrigger* fired, Frame& frame, FunctionHead& head);

// What $1, $2, … are: parameters of the head.
std::vector<std::size_t> positional_parameters(const Tree& node, const FunctionHead& head,
                                               bool inputs_only);

}  // namespace isoscope::sql
