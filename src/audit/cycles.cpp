#include "audit/cycles.h"

#include <algorithm>

namespace isoscope::audit {

namespace {

bool is_smallest_rotation(const FunctionCycle& cycle) {
  FunctionCycle rotated = cycle;
  for (std::size_t i = 1; i < cycle.size(); ++i) {
    std::rotate(rotated.begin(), rotated.begin() + 1, rotated.end());
    if (rotated < cycle) return false;
  }
  return true;
}

}  // namespace

bool visit_cycles(const std::vector<std::uint32_t>& functions, std::size_t length,
                  const std::function<bool(std::uint32_t, std::uint32_t)>& may_follow,
                  const std::function<bool(const FunctionCycle&)>& visit, Budget& budget) {
  FunctionCycle path;
  // True if it went through all that begin with the path.
  const auto extend = [&](auto&& self) -> bool {
    if (budget.expired()) return false;
    if (path.size() == length) {
      if (!may_follow(path.back(), path.front()) || !is_smallest_rotation(path)) return true;
      return visit(path);
    }
    for (const std::uint32_t next : functions) {
      // Nothing in a smallest rotation is smaller than its first.
      if (!path.empty() && (next < path.front() || !may_follow(path.back(), next))) continue;
      path.push_back(next);
      const bool goes_on = self(self);
      path.pop_back();
      if (!goes_on) return false;
    }
    return true;
  };
  return extend(extend);
}

}  // namespace isoscope::audit
