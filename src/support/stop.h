#pragma once
// One flag for the whole process that ends all work early: the user interrupted it, or it took more
// memory than it may. Every Budget sees it, so that a loop which asks its budget needs to ask
// nothing else. Set once, it stays.
#include <atomic>
#include <cstdint>

namespace isoscope {

enum class StopReason : std::uint8_t { None, Interrupt, Memory };

namespace detail {
inline std::atomic<StopReason> stop_flag{StopReason::None};
static_assert(std::atomic<StopReason>::is_always_lock_free, "signal handlers set it");
}  // namespace detail

// The first reason counts. Safe in a signal handler.
inline void request_stop(StopReason reason) noexcept {
  StopReason none = StopReason::None;
  detail::stop_flag.compare_exchange_strong(none, reason, std::memory_order_relaxed);
}

inline StopReason stop_reason() noexcept {
  return detail::stop_flag.load(std::memory_order_relaxed);
}

}  // namespace isoscope
