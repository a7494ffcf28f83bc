#pragma once
// What the clients want: which session moves next, and which keys its transaction reads and
// writes. Knows nothing of the store that answers.
#include <cstdint>
#include <vector>

#include "generate/generate.h"
#include "generate/key_sampler.h"
#include "support/rng.h"

namespace isoscope::simulation {

struct Step {
  bool is_write = false;
  std::uint32_t key = 0;
};

class Workload {
 public:
  // Requires: a valid plan.
  explicit Workload(const HistoryPlan& plan);

  std::uint32_t next_session() { return static_cast<std::uint32_t>(rng_.below(plan_.sessions)); }
  // Replaces `steps` by those of a new transaction; never none.
  void next_txn(std::vector<Step>& steps);
  // A value that was not written before.
  std::int64_t fresh_value() { return ++last_value_; }
  Rng& rng() { return rng_; }
  const HistoryPlan& plan() const { return plan_; }

 private:
  std::uint64_t next_size();

  HistoryPlan plan_;
  Rng rng_;
  KeySampler keys_;
  std::int64_t last_value_ = 0;
};

}  // namespace isoscope::simulation
