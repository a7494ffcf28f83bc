#pragma once
// A transaction of numbers, for writers that get one at a time: a history of any length then needs
// no memory (append_txn() of formats.h).
#include <charconv>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>

#include "history/history.h"

namespace isoscope {

struct PlainOp {
  bool is_write = false;
  std::uint32_t key = 0;
  std::int64_t value = 0;  // written or read
  friend bool operator==(const PlainOp&, const PlainOp&) = default;
};

struct PlainTxn {
  std::uint64_t number = 0;   // position among all that are handed out, from 1
  std::uint32_t session = 0;  // from 0
  TxnStatus status = TxnStatus::Committed;
  std::span<const PlainOp> ops;  // valid during the call
};

inline void append_number(std::string& out, std::integral auto number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

}  // namespace isoscope
