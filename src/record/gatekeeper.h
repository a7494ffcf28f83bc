#pragma once
// Gives statements their gates (shape.h): knows the shape of every text it has seen, and counts.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "record/shape.h"

namespace isoscope::record {

class Gatekeeper {
 public:
  // Calls `splice` with the shape and a fresh number if the statement can be gated, and returns
  // that number; else 0.
  std::uint64_t gate(const StatementText& statement,
                     const std::function<void(const Shape&, std::uint64_t)>& splice);
  // The shape of a statement. Cached by text.
  std::shared_ptr<const Shape> shape(std::string_view statement, StatementKind kind);

 private:
  static constexpr std::size_t kMostCached = 10'000;

  std::uint64_t last_ = 0;
  std::map<std::string, std::shared_ptr<const Shape>, std::less<>> shapes_;
};

// Where a character of `sent` (counted from 1) was before the edits that made it; of what an edit
// inserted, the place of the edit.
std::size_t place_before_edits(std::string_view sent, const std::vector<Splice>& edits,
                               std::size_t place);

}  // namespace isoscope::record
