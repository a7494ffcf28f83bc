#include "workload/program_text.h"

#include <algorithm>

namespace isoscope {

namespace {

constexpr std::size_t kTermsInARow = 500;

constexpr std::size_t kWidth = 90;

// Terms one after the other, on further lines where one is full.
std::string joined(const std::vector<std::string>& terms, std::string_view separator) {
  std::string out;
  std::size_t width = 0;
  for (const std::string& term : terms) {
    if (!out.empty()) out += separator;
    if (width + term.size() > kWidth) {
      out += "\n    ";
      width = 0;
    } else if (!out.empty()) {
      out += ' ';
    }
    out += term;
    width += term.size() + separator.size() + 1;
  }
  return out;
}

}  // namespace

void ProgramText::line(std::string_view text) {
  if (text.starts_with('}')) --depth_;
  text_.append(static_cast<std::size_t>(2 * depth_), ' ');
  text_ += text;
  text_ += '\n';
  if (text.ends_with('{')) ++depth_;
}

void ProgramText::claim(std::string_view left, std::string_view sign, std::string_view right) {
  if (left.size() + right.size() <= kWidth)
    return line(fmt::format("assert {} {} {}", left, sign, right));
  line(fmt::format("assert ({}\n    {} {})", left, sign, right));
}

std::string sum_of(const std::vector<std::string>& terms) {
  if (terms.size() > 1 && terms.front() == "0") return sum_of({terms.begin() + 1, terms.end()});
  if (terms.empty()) return "0";
  if (terms.size() == 1) return terms.front();
  if (terms.size() <= kTermsInARow) return fmt::format("({})", joined(terms, " +"));
  std::vector<std::string> groups;
  for (std::size_t at = 0; at < terms.size(); at += kTermsInARow) {
    const auto first = terms.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t size = std::min(kTermsInARow, terms.size() - at);
    groups.push_back(sum_of({first, first + static_cast<std::ptrdiff_t>(size)}));
  }
  return sum_of(groups);
}

std::string max_of(const std::vector<std::string>& terms) {
  return terms.size() == 1 ? terms.front() : fmt::format("max({})", joined(terms, ","));
}

}  // namespace isoscope
