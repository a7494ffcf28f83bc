#pragma once
// The files of levels/, as text inside the program. cmake/EmbedLevels.cmake writes the source.
#include <span>
#include <string_view>

namespace isoscope {

struct EmbeddedFile {
  std::string_view name;  // levels/cc.level
  std::string_view text;
};

// In the order in which they must be read: a level after those that it extends.
std::span<const EmbeddedFile> embedded_level_files();

}  // namespace isoscope
