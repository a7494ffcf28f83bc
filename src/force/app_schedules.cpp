#include "force/app_schedules.h"

#include <algorithm>

namespace isoscope::force {

bool AppSchedules::with_switches(std::size_t switches, std::size_t most,
                                 std::vector<std::vector<std::size_t>>& out) {
  out_ = &out;
  most_ = most;
  is_complete_ = true;
  current_.clear();
  extend(switches);
  return is_complete_;
}

bool AppSchedules::may_go(std::size_t call) const {
  if (left_[call] == 0) return false;
  for (std::size_t other = 0; other < call; ++other)
    if (sessions_[other] == sessions_[call] && left_[other] > 0) return false;
  return true;
}

void AppSchedules::extend(std::size_t switches) {
  if (!is_complete_) return;
  const bool is_over = std::ranges::all_of(left_, [](std::size_t n) { return n == 0; });
  if (is_over) {
    if (switches > 0) return;
    if (out_->size() == most_) {
      is_complete_ = false;
      return;
    }
    out_->push_back(current_);
    return;
  }
  for (std::size_t call = 0; call < left_.size(); ++call) {
    const bool is_switch = !current_.empty() && current_.back() != call;
    if (!may_go(call) || (is_switch && switches == 0)) continue;
    current_.push_back(call);
    --left_[call];
    extend(switches - (is_switch ? 1 : 0));
    ++left_[call];
    current_.pop_back();
  }
}

}  // namespace isoscope::force
