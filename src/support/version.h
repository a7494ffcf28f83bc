#pragma once
// The version that --version and every JSON answer state.
#include <string_view>

namespace isoscope {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace isoscope
