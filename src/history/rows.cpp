#include "history/rows.h"

namespace isoscope {

std::string_view row_name(std::string_view key) {
  const std::size_t bracket = key.rfind(']');
  return bracket == std::string_view::npos ? key : key.substr(0, bracket + 1);
}

const RowTable& RowTable::filled(std::span<const Value> keys, const TextPool& texts) {
  std::call_once(once_, [&] {
    row_of_key_.reserve(keys.size());
    is_row_.reserve(keys.size());
    for (Value key : keys) {
      row_of_key_.push_back(add(key, texts));
      is_row_.push_back(key.is_int() || row_name(texts.text(key)) == texts.text(key));
    }
  });
  return *this;
}

RowId RowTable::add(Value key, const TextPool& texts) {
  const RowId fresh{static_cast<std::uint32_t>(names_.size())};
  if (key.is_int()) {
    const auto [entry, is_new] = by_number_.try_emplace(key.bits, fresh);
    if (is_new) {
      names_.push_back(std::to_string(key.bits));
      numbers_.emplace_back(key.bits);
    }
    return entry->second;
  }
  const auto [entry, is_new] = by_name_.try_emplace(std::string(row_name(texts.text(key))), fresh);
  if (is_new) {
    names_.push_back(entry->first);
    numbers_.emplace_back();
  }
  return entry->second;
}

}  // namespace isoscope
