#include "generate/workload.h"

#include <cmath>

namespace isoscope::simulation {

Workload::Workload(const HistoryPlan& plan) : plan_(plan), rng_(plan.seed), keys_(plan_, rng_) {}

// Geometric, the discrete form of exponential: its mean is `ops` exactly.
std::uint64_t Workload::next_size() {
  if (!plan_.vary || plan_.ops == 1) return plan_.ops;
  const double others = std::log(1 - rng_.uniform()) / std::log(1 - 1.0 / plan_.ops);
  return 1 + static_cast<std::uint64_t>(others);
}

void Workload::next_txn(std::vector<Step>& steps) {
  const std::uint64_t size = next_size();
  steps.clear();
  switch (plan_.shape) {
    case TxnShape::Mixed:
      while (steps.size() < size) {
        steps.push_back({!rng_.chance(plan_.read_share), keys_.draw(rng_)});
      }
      return;
    case TxnShape::Rmw:
      while (steps.size() < size) {
        const std::uint32_t key = keys_.draw(rng_);
        steps.push_back({false, key});
        if (steps.size() < size && !rng_.chance(plan_.read_share)) steps.push_back({true, key});
      }
      return;
    case TxnShape::Split: {
      const bool writes = !rng_.chance(plan_.read_share);
      while (steps.size() < size) steps.push_back({writes, keys_.draw(rng_)});
      return;
    }
  }
}

}  // namespace isoscope::simulation
