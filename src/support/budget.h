#pragma once
// How long an engine may go on, and to whom it reports its progress.
//
// Engines call `expired()` in their loops; it looks at the clock only every so often, so that it
// may stand in hot code. A budget also ends when the process is asked to stop (support/stop.h): by
// an interrupt, or because it reached its limit of memory. An expired budget stays expired: the
// engine then answers Unknown and names the limit, which is `limit_reached()`.
#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "support/stop.h"

namespace isoscope {

// Gets the phase ("pruning") and how far it is, from 0 to 1, or a negative number if unknown.
using Progress = std::function<void(std::string_view phase, double fraction)>;

class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  Budget() = default;  // without a limit of time
  // A limit beyond kLongest has no effect: the clock could not count so far.
  static Budget seconds(double limit) {
    Budget budget;
    if (limit < kLongest)
      budget.deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                            std::chrono::duration<double>(std::max(limit, 0.0)));
    return budget;
  }

  // The same limit, or `limit` seconds from now if that is sooner: for a part of the work that may
  // be cut short.
  Budget within(double limit) const {
    Budget part = seconds(limit);
    if (deadline_ && (!part.deadline_ || *deadline_ < *part.deadline_)) part.deadline_ = deadline_;
    part.expired_ = expired_;
    return part;
  }

  bool expired() {
    if (expired_) return true;
    if (stop_reason() != StopReason::None) return expired_ = true;
    if (!deadline_ || ++calls_ % kCallsPerLook != 0) return false;
    return expired_now();
  }
  // Looks at the clock at once; for loops whose rounds are long.
  bool expired_now() {
    if (stop_reason() != StopReason::None || (deadline_ && Clock::now() >= *deadline_))
      expired_ = true;
    return expired_;
  }
  // Seconds until it expires, for engines that can only be told beforehand; nothing if unlimited.
  std::optional<double> remaining() const {
    if (expired_ || stop_reason() != StopReason::None) return 0;
    if (!deadline_) return std::nullopt;
    const std::chrono::duration<double> left = *deadline_ - Clock::now();
    return left.count() > 0 ? left.count() : 0;
  }

 private:
  static constexpr unsigned kCallsPerLook = 1024;
  static constexpr double kLongest = 1e9;  // thirty years

  std::optional<Clock::time_point> deadline_;
  unsigned calls_ = 0;
  bool expired_ = false;
};

// What ended an expired budget, in words that finish "… was reached".
inline std::string limit_reached() {
  switch (stop_reason()) {
    case StopReason::None: return "the time limit";
    case StopReason::Interrupt: return "an interrupt";
    case StopReason::Memory: return "the memory limit";
  }
  return "the time limit";
}

}  // namespace isoscope
