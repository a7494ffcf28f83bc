#pragma once
// How long an engine may go on, and whom it tells how far it is.
//
// Engines call `expired()` in their loops; it looks at the clock only every so often, so that it
// may stand in hot code. An expired budget stays expired: the engine then answers Unknown and
// names the limit.
#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

namespace isoscope {

// Told the phase ("pruning") and how far it is, from 0 to 1, or a negative number if unknown.
using Progress = std::function<void(std::string_view phase, double fraction)>;

class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  Budget() = default;  // without limit
  static Budget seconds(double limit) {
    Budget budget;
    budget.deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(limit));
    return budget;
  }

  // The same limit, or `limit` seconds from now if that is sooner: for a part of the work that may
  // be cut short.
  Budget within(double limit) const {
    Budget part = seconds(limit);
    if (deadline_ && *deadline_ < *part.deadline_) part.deadline_ = deadline_;
    part.expired_ = expired_;
    return part;
  }

  bool expired() {
    if (!deadline_ || expired_) return expired_;
    if (++calls_ % kCallsPerLook != 0) return false;
    return expired_now();
  }
  // Looks at the clock at once; for loops whose rounds are long.
  bool expired_now() {
    if (deadline_ && Clock::now() >= *deadline_) expired_ = true;
    return expired_;
  }
  bool is_limited() const { return deadline_.has_value(); }
  // Seconds until it expires, for engines that can only be told beforehand; nothing if unlimited.
  std::optional<double> remaining() const {
    if (!deadline_) return std::nullopt;
    if (expired_) return 0;
    const std::chrono::duration<double> left = *deadline_ - Clock::now();
    return left.count() > 0 ? left.count() : 0;
  }
  // A budget that ends when this one does, but at the latest after so many seconds.
  Budget at_most(double limit) const {
    Budget part = seconds(limit);
    if (deadline_ && *deadline_ < *part.deadline_) part.deadline_ = deadline_;
    return part;
  }

 private:
  static constexpr unsigned kCallsPerLook = 1024;

  std::optional<Clock::time_point> deadline_;
  unsigned calls_ = 0;
  bool expired_ = false;
};

}  // namespace isoscope
