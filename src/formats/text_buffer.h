#pragma once
// Collects small pieces of text and hands them to a sink in large ones.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "support/budget.h"
#include "support/output.h"

namespace isoscope {

class TextBuffer {
 public:
  explicit TextBuffer(const Sink& sink, const Budget& budget = {}) : sink_(sink), budget_(budget) {}
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;
  ~TextBuffer() { flush(); }

  TextBuffer& operator<<(std::string_view text) {
    text_.append(text);
    if (text_.size() >= kFull) flush();
    return *this;
  }
  TextBuffer& operator<<(char c) { return *this << std::string_view(&c, 1); }
  TextBuffer& operator<<(std::int64_t number) {
    const fmt::format_int digits(number);
    return *this << std::string_view(digits.data(), digits.size());
  }

  // Is there no time to write on?
  bool is_over() { return budget_.expired(); }

  void flush() {
    if (!text_.empty()) sink_(text_);
    text_.clear();
  }

 private:
  static constexpr std::size_t kFull = std::size_t{1} << 16U;

  const Sink& sink_;
  Budget budget_;
  std::string text_;
};

}  // namespace isoscope
