#pragma once
// What a write writes, and what keys are called: nothing, an integer or a text.
//
// Nine bytes of information: texts live once in the history's TextPool, so comparing two values
// of one history compares two words.
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace isoscope {

enum class ValueKind : std::uint8_t { Nil, Int, Text };

struct Value {
  ValueKind kind = ValueKind::Nil;
  std::int64_t bits = 0;  // the integer, or the text's number in its pool
  friend auto operator<=>(const Value&, const Value&) = default;

  static constexpr Value nil() { return {}; }
  static constexpr Value of(std::int64_t number) { return {ValueKind::Int, number}; }
  bool is_nil() const { return kind == ValueKind::Nil; }
  bool is_int() const { return kind == ValueKind::Int; }
  bool is_text() const { return kind == ValueKind::Text; }
};

// Texts by number, each stored once.
class TextPool {
 public:
  TextPool() = default;
  TextPool(TextPool&&) = default;  // moving a deque moves no text; copying would
  TextPool& operator=(TextPool&&) = default;
  TextPool(const TextPool& other);

  Value intern(std::string_view text);
  std::optional<Value> find(std::string_view text) const;
  // Requires: `value` is a text of this pool.
  std::string_view text(Value value) const { return texts_[static_cast<std::size_t>(value.bits)]; }
  std::size_t size() const { return texts_.size(); }
  // What a person calls it: nil, 7, or the text itself.
  std::string show(Value value) const;

 private:
  std::deque<std::string> texts_;  // a deque, so that the views in numbers_ stay valid
  std::unordered_map<std::string_view, std::int64_t> numbers_;
};

}  // namespace isoscope
