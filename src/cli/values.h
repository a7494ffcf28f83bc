#pragma once
// What the values of options may be. Each function gives a check for CLI11: it returns nothing for
// a good value, else what is wrong with it and, behind a newline, a hint.
//
// CLI11 has such checks too, but prints the largest double as the end of a range.
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace isoscope {

using ValueCheck = std::function<std::string(const std::string&)>;

// The largest value of options that only cost time: --timeout stops such a search.
inline constexpr std::int64_t kMostOfAnything = 1'000'000'000;
inline constexpr std::int64_t kLargestSeed = std::numeric_limits<std::int64_t>::max();

ValueCheck whole_number(std::int64_t least, std::int64_t most);
ValueCheck real_number(double least, double most);
ValueCheck one_of(std::vector<std::string> words);

}  // namespace isoscope
