#include "history/value.h"

#include <algorithm>
#include <functional>

namespace isoscope {

TextPool::TextPool(const TextPool& other) {
  for (const std::string_view text : other.texts_) intern(text);
}

Value TextPool::intern(std::string_view text) {
  if (2 * (texts_.size() + 1) > slots_.size()) grow();
  const std::size_t hash = std::hash<std::string_view>{}(text);
  Slot& slot = slots_[slot_of(text, hash)];
  if (slot.number == 0) {
    texts_.push_back(keep(text));
    slot = {static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(texts_.size())};
  }
  return {ValueKind::Text, std::int64_t{slot.number} - 1};
}

std::optional<Value> TextPool::find(std::string_view text) const {
  if (slots_.empty()) return {};
  const Slot& slot = slots_[slot_of(text, std::hash<std::string_view>{}(text))];
  if (slot.number == 0) return {};
  return Value{ValueKind::Text, std::int64_t{slot.number} - 1};
}

std::size_t TextPool::slot_of(std::string_view text, std::size_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  const auto part = static_cast<std::uint32_t>(hash);
  std::size_t at = part & mask;
  while (slots_[at].number != 0 &&
         (slots_[at].hash != part || texts_[slots_[at].number - 1] != text))
    at = (at + 1) & mask;
  return at;
}

void TextPool::grow() {
  std::vector<Slot> old(std::max<std::size_t>(16, 2 * slots_.size()));
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.number == 0) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].number != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

std::string_view TextPool::keep(std::string_view text) {
  constexpr std::size_t most = 1 << 16;
  if (text.size() > left_) {
    // Small pools have small blocks; a long text has one of its own size.
    left_ = std::max(text.size(), std::min(most, 64 + 8 * texts_.size()));
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(left_));
    free_ = blocks_.back().get();
  }
  const std::string_view kept(free_, text.size());
  std::ranges::copy(text, free_);
  free_ += text.size();
  left_ -= text.size();
  return kept;
}

std::string TextPool::show(Value value) const {
  switch (value.kind) {
    case ValueKind::Nil: return "nil";
    case ValueKind::Int: return std::to_string(value.bits);
    case ValueKind::Text: return std::string(text(value));
  }
  return {};
}

}  // namespace isoscope
