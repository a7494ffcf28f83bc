#pragma once
// The texts of probes/*.probe, which are part of the program, in the order of their file names.
#include <span>
#include <string_view>

namespace isoscope::force {

std::span<const std::string_view> embedded_probes();

}  // namespace isoscope::force
