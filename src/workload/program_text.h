#pragma once
// Writes the lines of a .txn program, indented, and the claims at its end.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace isoscope {

class ProgramText {
 public:
  // Braces at its beginning and at its end indent.
  void line(std::string_view text);
  void blank() { text_ += '\n'; }
  // `head {`, indented lines, `}`.
  void open(std::string_view head) { line(fmt::format("{} {{", head)); }
  void close() { line("}"); }
  bool is_outside() const { return depth_ == 0; }  // of all blocks

  // assert left sign right, on two lines inside of parentheses if one is too short.
  void claim(std::string_view left, std::string_view sign, std::string_view right);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

// a + b + … in parentheses, 0 of none. Long sums are grouped, for the language limits how many
// operators may stand in a row.
std::string sum_of(const std::vector<std::string>& terms);
// max(a, b, …). Requires: at least one.
std::string max_of(const std::vector<std::string>& terms);

}  // namespace isoscope
