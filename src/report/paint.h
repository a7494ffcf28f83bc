#pragma once
// Colours for terminals, or none.
#include <fmt/format.h>

#include <string>
#include <string_view>

namespace isoscope {

class Paint {
 public:
  explicit Paint(bool colours = false) : colours_(colours) {}
  bool has_colours() const { return colours_; }

  std::string good(std::string_view text) const { return in("32", text); }
  std::string bad(std::string_view text) const { return in("31;1", text); }
  std::string unsure(std::string_view text) const { return in("33", text); }
  std::string strong(std::string_view text) const { return in("1", text); }
  std::string faint(std::string_view text) const { return in("2", text); }

 private:
  std::string in(std::string_view code, std::string_view text) const {
    return colours_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
  bool colours_;
};

}  // namespace isoscope
