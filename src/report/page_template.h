#pragma once
// src/report/page.html, which the build compiles into the program (cmake/EmbedText.cmake).
#include <string_view>

namespace isoscope {

std::string_view page_template();

}  // namespace isoscope
