#pragma once
// What all pictures for Graphviz have in common.
#include <string>
#include <string_view>

#include "verdict/verdict.h"

namespace isoscope {

// A text as a DOT string, quotes included. Names in it are on one line each (report/shown.h).
std::string dot_string(std::string_view text);

// The colour of an edge, the same in every picture.
std::string_view dot_colour(EdgeKind kind);

}  // namespace isoscope
