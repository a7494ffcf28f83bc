#include "cli/values.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "support/spelling.h"

namespace isoscope {

namespace {

// 1234567: "1,234,567".
std::string with_commas(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

bool is_digits(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

ValueCheck whole_number(std::int64_t least, std::int64_t most) {
  return [least, most](const std::string& text) -> std::string {
    const std::string range =
        fmt::format("a whole number from {} to {}", with_commas(least), with_commas(most));
    if (!is_digits(text)) return fmt::format("'{}' is no whole number\nit is {}", text, range);
    const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(begin, text.data() + text.size(), value);
    if (failure == std::errc() && value >= least && value <= most) return {};
    const bool is_small = text.starts_with('-') || (failure == std::errc() && value < least);
    return fmt::format("{} is too {}\nit is {}", text, is_small ? "small" : "large", range);
  };
}

ValueCheck real_number(double least, double most) {
  return [least, most](const std::string& text) -> std::string {
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string range = fmt::format("it is a number from {:g} to {:g}", least, most);
    if (failure == std::errc::invalid_argument || end != text.data() + text.size())
      return fmt::format("'{}' is no number\n{}", text, range);
    if (failure == std::errc() && value >= least && value <= most) return {};
    return fmt::format("{} is out of range\n{}", text, range);
  };
}

ValueCheck one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& text) -> std::string {
    std::vector<std::string_view> known;
    for (const std::string& word : words) {
      if (word == text) return {};
      known.emplace_back(word);
    }
    return fmt::format("there is no '{}'\n{}", text, suggest(text, known));
  };
}

}  // namespace isoscope
