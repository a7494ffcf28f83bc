#pragma once
// Which names a transaction knows: its parameters and whatever it assigns.
//
// A parameter that is never assigned is a constant at every call; all others are locals.
#include <optional>
#include <string_view>
#include <unordered_map>

#include "program/ast.h"
#include "support/result.h"

namespace isoscope::txn {

struct Scope {
  std::vector<std::string_view> locals;                           // assigned parameters first
  std::unordered_map<std::string_view, std::uint32_t> numbers;    // of locals
  std::unordered_map<std::string_view, std::uint32_t> constants;  // parameters, by position

  std::optional<std::uint32_t> local(std::string_view name) const;
  std::optional<std::uint32_t> constant(std::string_view name) const;
  std::vector<std::string_view> names() const;  // all, sorted
};

// The scope of a transaction, in all of which every name is known. `families` are the names of
// keys, sorted: taking one for a local gets a hint.
Result<Scope> scope_of(const Definition& definition, const std::vector<std::string_view>& families);

// Whether a statement of the block, at any depth, assigns the local.
bool assigns(const Block& block, std::string_view local);

}  // namespace isoscope::txn
