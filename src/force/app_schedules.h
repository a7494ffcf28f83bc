#pragma once
// The orders in which the turns of calls can come, those with the fewest switches first.
#include <cstddef>
#include <vector>

namespace isoscope::force {

// All words over the calls with these lengths and at most so many switches beyond one per call, in
// which a call begins when the one before it in its session has ended.
class AppSchedules {
 public:
  // `sessions`: of each call. `lengths`: its turns.
  AppSchedules(std::vector<std::size_t> sessions, std::vector<std::size_t> lengths)
      : sessions_(std::move(sessions)), left_(std::move(lengths)) {}

  // Those with exactly so many switches, up to `most`; false if there are more.
  bool with_switches(std::size_t switches, std::size_t most,
                     std::vector<std::vector<std::size_t>>& out);

 private:
  bool may_go(std::size_t call) const;
  void extend(std::size_t switches);

  std::vector<std::size_t> sessions_;
  std::vector<std::size_t> left_;
  std::vector<std::vector<std::size_t>>* out_ = nullptr;
  std::size_t most_ = 0;
  bool is_complete_ = true;
  std::vector<std::size_t> current_ = {};
};

}  // namespace isoscope::force
