#include "support/watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace isoscope {

namespace {

constexpr auto kInterval = std::chrono::milliseconds(20);
// How far beyond its limit the memory may grow while the engines stop.
constexpr double kOverrun = 1.15;

std::mutex& listeners_mutex() {
  static std::mutex mutex;
  return mutex;
}
std::vector<const std::function<void()>*>& listeners() {
  static std::vector<const std::function<void()>*> all;
  return all;
}
void interrupt_listeners() {
  const std::scoped_lock lock(listeners_mutex());
  for (const auto* interrupt : listeners()) (*interrupt)();
}

std::mutex phase_mutex;
std::string phase_name = "reading the input";

}  // namespace

std::size_t resident_bytes() {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128];
  const ssize_t size = ::read(file, text, sizeof text);
  ::close(file);
  if (size <= 0) return 0;
  // "total resident shared …", in pages.
  const char* end = text + size;
  const char* at = std::find<const char*>(text, end, ' ');
  std::size_t pages = 0;
  if (at != end) std::from_chars(at + 1, end, pages);
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t machine_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  std::size_t bytes = pages > 0 ? static_cast<std::size_t>(pages) *
                                      static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))
                                : 0;
  // A container may have less than the machine.
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  std::size_t contained = 0;
  if (limit >> contained && contained > 0)
    bytes = bytes == 0 ? contained : std::min(bytes, contained);
  return bytes;
}

void enter_phase(std::string_view name) {
  const std::scoped_lock lock(phase_mutex);
  if (phase_name != name) phase_name = name;
}
std::string current_phase() {
  const std::scoped_lock lock(phase_mutex);
  return phase_name;
}

struct Watch::Thread {
  explicit Thread(WatchOptions given) : options(std::move(given)), thread([this] { watch(); }) {}

  ~Thread() {
    {
      const std::scoped_lock lock(mutex);
      is_over = true;
    }
    wake.notify_all();
    thread.join();
  }

  void watch() {
    std::unique_lock lock(mutex);
    std::optional<Budget::Clock::time_point> grace_until;  // set when the limit is reached
    while (!wake.wait_for(lock, kInterval, [this] { return is_over; })) {
      const std::size_t held = options.memory_bytes > 0 ? resident_bytes() : 0;
      if (options.memory_bytes > 0 && held > options.memory_bytes) request_stop(StopReason::Memory);
      if (!options.budget.expired_now()) continue;
      interrupt_listeners();
      if (!grace_until) grace_until = Budget::Clock::now() + to_duration(options.grace_seconds);
      const bool bursts =
          static_cast<double>(held) > kOverrun * static_cast<double>(options.memory_bytes);
      const bool late = Budget::Clock::now() >= *grace_until;
      if ((late || bursts) && options.last_resort) options.last_resort(limit_reached());
    }
  }

  static Budget::Clock::duration to_duration(double seconds) {
    return std::chrono::duration_cast<Budget::Clock::duration>(
        std::chrono::duration<double>(seconds));
  }

  WatchOptions options;
  std::mutex mutex;
  std::condition_variable wake;
  bool is_over = false;
  std::thread thread;  // last: it uses the others
};

Watch::Watch(WatchOptions options) : thread_(std::make_unique<Thread>(std::move(options))) {}
Watch::~Watch() = default;

StopListener::StopListener(std::function<void()> interrupt) : interrupt_(std::move(interrupt)) {
  const std::scoped_lock lock(listeners_mutex());
  listeners().push_back(&interrupt_);
}

StopListener::~StopListener() {
  const std::scoped_lock lock(listeners_mutex());
  std::erase(listeners(), &interrupt_);
}

}  // namespace isoscope
