#pragma once
// The rows of a history's keys: what locks hold, and what two columns have in common.
//
// The row of the key stock[7].qty is stock[7], the key up to its last ']'; a key without one, or
// named by a number, is its own row. Most histories are never asked for rows, so the table is
// filled at the first question.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "history/ids.h"
#include "history/value.h"

namespace isoscope {

class RowTable {
 public:
  // Fills the table with the rows of these keys, unless that is done; several threads may ask.
  const RowTable& filled(std::span<const Value> keys, const TextPool& texts);
  // Finds or makes the row of a key. Requires: filled, and no other thread asks meanwhile.
  RowId add(Value key, const TextPool& texts);

  RowId row(KeyId x) const { return row_of_key_[x.index]; }
  // Is the key the row itself, and not a column of it?
  bool is_row(KeyId x) const { return is_row_[x.index]; }
  std::size_t size() const { return names_.size(); }
  const std::string& name(RowId r) const { return names_[r.index]; }
  // The number of a row whose key is called by a number.
  std::optional<std::int64_t> number(RowId r) const { return numbers_[r.index]; }

 private:
  std::once_flag once_;
  std::vector<RowId> row_of_key_;
  std::vector<bool> is_row_;  // by key
  std::vector<std::string> names_;
  std::vector<std::optional<std::int64_t>> numbers_;
  std::unordered_map<std::string, RowId> by_name_;
  std::unordered_map<std::int64_t, RowId> by_number_;
};

// "stock[7]" of "stock[7].qty".
std::string_view row_name(std::string_view key);

}  // namespace isoscope
