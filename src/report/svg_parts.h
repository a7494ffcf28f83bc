#pragma once
// What the pictures of scenes and of lattices have in common.
#include <string>
#include <string_view>

#include "report/page_writers.h"

namespace isoscope {

// The opening tag; of a picture that stands alone with its title, its style and its paper.
std::string open_svg(double width, double height, std::string_view name, SvgUse use);
// `more`: further attributes, made by us.
std::string svg_text(double x, double y, std::string_view css, std::string_view text,
                     std::string_view more = "");
// A label on an edge, centred.
std::string svg_pill(double x, double y, double width, std::string_view css, std::string_view text);

}  // namespace isoscope
