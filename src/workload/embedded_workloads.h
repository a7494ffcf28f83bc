#pragma once
// The files of workloads/, as text inside the program. cmake/EmbedFiles.cmake writes the source.
#include <span>

#include "support/embedded_file.h"

namespace isoscope {

// In the order in which help lists them.
std::span<const EmbeddedFile> embedded_workload_files();

}  // namespace isoscope
