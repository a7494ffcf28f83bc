#include "formats/line_scanner.h"

#include <fmt/format.h>

namespace isoscope {

Error LineScanner::expected(std::string_view what, std::string_view hint) const {
  std::string found = "the end of the line";
  if (at_ != end_ && is_digit(*at_)) {
    std::size_t digits = 0;
    while (digits < rest().size() && is_digit(rest()[digits])) ++digits;
    found = fmt::format("{}{}", rest().substr(0, std::min<std::size_t>(digits, 30)),
                        digits > 19 ? ", which exceeds 64 bits" : "");
  } else if (at_ != end_) {
    found = show_byte(*at_);
  }
  return Error{.where = place(),
               .what = fmt::format("expected {} instead of {}", what, found),
               .hint = std::string(hint),
               .line = std::string(begin_, end_)};
}

}  // namespace isoscope
