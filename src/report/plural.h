#pragma once
// "1 history", "2 histories".
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace isoscope {

inline std::string plural(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace isoscope
