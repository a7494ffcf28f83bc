#pragma once
// Writes the lines of a .txn program, indented, and the claims at its end.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace isoscope {

class ProgramText {
 public:
  void line(std::string_view text);
  void comment(std::string_view text) { line(fmt::format("# {}", text)); }
  void blank() { text_ += '\n'; }
  // `head {`, indented lines, `}`.
  void open(std::string_view head);
  void close();
  // A whole statement or block, one string a line; braces at ends and beginnings indent.
  void lines(std::initializer_list<std::string_view> all);

  void init(std::string_view key, std::int64_t value) {
    line(fmt::format("init {} = {}", key, value));
  }
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
