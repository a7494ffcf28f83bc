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

  // Is there no time to write on? What is written in no time is finished in any case: it may be
  // what was found before an interrupt, and is then to be delivered whole.
  bool is_over() { return written_ > kFinished && budget_.expired(); }

  void flush() {
    if (!text_.empty()) sink_(text_);
    written_ += text_.size();
    text_.clear();
  }

 private:
  static constexpr std::size_t kFull = std::size_t{1} << 16U;
  static constexpr std::size_t kFinished = std::size_t{1} << 24U;  // a tenth of a second

  const Sink& sink_;
  Budget budget_;
  std::string text_;
  std::size_t written_ = 0;
};

}  // namespace isoscope
