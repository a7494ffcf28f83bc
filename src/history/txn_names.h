#pragma once
// Finds transactions by name while a history is built. Used by HistoryResolver only.
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "history/history.h"
#include "support/result.h"

namespace isoscope {

class TxnNames {
 public:
  // Indexes all names; two transactions of one name are an error with both places.
  static Result<TxnNames> of(const History& h);
  std::optional<TxnId> find(std::string_view name) const;

 private:
  explicit TxnNames(const History& h) : h_(&h) {}

  const History* h_;
  std::unordered_map<std::int64_t, TxnId> texts_;    // by number in the text pool
  std::unordered_map<std::int64_t, TxnId> numbers_;  // t7
};

// The n of a name like `T7`; nothing for T07, T+7 or T.
std::optional<std::int64_t> numbered(std::string_view name, char letter);

}  // namespace isoscope
