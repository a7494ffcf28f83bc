#pragma once
// Finds the places of a gate in a statement's text, and proves that nothing else changes.
#include "record/shape.h"
#include "sql/read/tree.h"

namespace isoscope::record {

// Empty if there is no place, or if the new text would not be the old statement under the gate.
// `tree`: of the text, as parse_sql() gives it.
std::vector<Splice> find_gate(std::string_view text, const sql::Tree& tree, const Shape& shape);

// Removes from a tree what says where in the text a part of it stands.
void forget_places(sql::Tree& node);

}  // namespace isoscope::record
