#include "audit/cycles.h"

#include <limits>
#include <numeric>

namespace isoscope::audit {

namespace {

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();

std::size_t plus(std::size_t a, std::size_t b) { return a > kMost - b ? kMost : a + b; }
std::size_t times(std::size_t a, std::size_t b) { return a != 0 && b > kMost / a ? kMost : a * b; }

using Counts = std::vector<std::vector<std::size_t>>;  // of walks, by first and last

Counts extended(const Counts& walks, const std::vector<std::vector<bool>>& step) {
  const std::size_t n = step.size();
  Counts longer(n, std::vector<std::size_t>(n, 0));
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      if (walks[a][b] == 0) continue;
      for (std::size_t c = 0; c < n; ++c) {
        if (step[b][c]) longer[a][c] = plus(longer[a][c], walks[a][b]);
      }
    }
  }
  return longer;
}

// Numbers up to n that have no divisor in common with it.
std::size_t totient(std::size_t n) {
  std::size_t count = 0;
  for (std::size_t i = 1; i <= n; ++i) count += std::gcd(i, n) == 1 ? 1 : 0;
  return count;
}

}  // namespace

std::size_t count_cycles(const std::vector<sql::FunctionId>& functions, std::size_t length,
                         const std::function<bool(sql::FunctionId, sql::FunctionId)>& may_follow) {
  const std::size_t n = functions.size();
  std::vector<std::vector<bool>> step(n, std::vector<bool>(n));
  Counts walks(n, std::vector<std::size_t>(n, 0));
  for (std::size_t a = 0; a < n; ++a) {
    walks[a][a] = 1;
    for (std::size_t b = 0; b < n; ++b) step[a][b] = may_follow(functions[a], functions[b]);
  }
  std::size_t total = 0;
  for (std::size_t edges = 1; edges <= length; ++edges) {
    walks = extended(walks, step);
    if (length % edges != 0) continue;
    std::size_t closed = 0;
    for (std::size_t a = 0; a < n; ++a) closed = plus(closed, walks[a][a]);
    total = plus(total, times(totient(length / edges), closed));
  }
  return total == kMost ? kMost : total / length;
}

}  // namespace isoscope::audit
