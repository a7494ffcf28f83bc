#pragma once
// What a write writes, and what keys are called: nothing, an integer or a text.
//
// Nine bytes of information: texts live once in the history's TextPool, so comparing two values
// of one history compares two words.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
//
// A history of a million transactions asks for several million names, most of them known already.
// So the table is flat (linear probing, at most half full) and keeps a part of each hash: a
// question that finds its text touches one slot and the text itself.
class TextPool {
 public:
  TextPool() = default;
  TextPool(TextPool&&) = default;  // moves no text; copying would
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
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = 0;  // counted from one; zero: the slot is free
  };
  // The slot of `text`, or the free one where it belongs. Requires: there are slots.
  std::size_t slot_of(std::string_view text, std::size_t hash) const;
  void grow();
  std::string_view keep(std::string_view text);

  std::vector<std::string_view> texts_;  // into the blocks
  std::vector<Slot> slots_;              // a power of two, or none
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;  // the rest of the last block
  std::size_t left_ = 0;
};

}  // namespace isoscope
