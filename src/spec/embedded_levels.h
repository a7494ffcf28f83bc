#pragma once
// The files of levels/, as text inside the program. cmake/EmbedFiles.cmake writes the source.
#include <span>

#include "support/embedded_file.h"

namespace isoscope {

// In the order in which they must be read: a level after those that it extends.
std::span<const EmbeddedFile> embedded_level_files();

}  // namespace isoscope
