#pragma once
// A file of the source tree, as text inside the program. cmake/EmbedFiles.cmake writes the sources.
#include <string_view>

namespace isoscope {

struct EmbeddedFile {
  std::string_view name;  // levels/cc.level
  std::string_view text;
};

}  // namespace isoscope
