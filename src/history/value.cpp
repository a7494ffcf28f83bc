#include "history/value.h"

namespace isoscope {

TextPool::TextPool(const TextPool& other) {
  for (const std::string& text : other.texts_) intern(text);
}

Value TextPool::intern(std::string_view text) {
  if (auto found = numbers_.find(text); found != numbers_.end())
    return {ValueKind::Text, found->second};
  const auto number = static_cast<std::int64_t>(texts_.size());
  texts_.emplace_back(text);
  numbers_.emplace(texts_.back(), number);
  return {ValueKind::Text, number};
}

std::optional<Value> TextPool::find(std::string_view text) const {
  const auto found = numbers_.find(text);
  if (found == numbers_.end()) return {};
  return Value{ValueKind::Text, found->second};
}

std::string TextPool::show(Value value) const {
  switch (value.kind) {
    case ValueKind::Nil:
      return "nil";
    case ValueKind::Int:
      return std::to_string(value.bits);
    case ValueKind::Text:
      return std::string(text(value));
  }
  return {};
}

}  // namespace isoscope
