#include "support/paths.h"

namespace isoscope {

const std::string& source_dir() {
  static const std::string path = ISOSCOPE_SOURCE_DIR;
  return path;
}

const std::string& isoscope_binary() {
  static const std::string path = ISOSCOPE_BINARY;
  return path;
}

}  // namespace isoscope
