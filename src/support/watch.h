#pragma once
// Watches over the process while it works: its memory, interrupts, and whether it really stops.
//
// A thread of its own looks every few milliseconds. When the process holds more memory than it may,
// it asks all budgets to end (support/stop.h). Code that cannot ask a budget because it is not ours
// (a solver in the middle of a call) registers a StopListener and is interrupted from the thread.
// Should the work neither end within a grace after its deadline, an interrupt or the limit of
// memory, then the last resort is called from the thread: it says "unknown" and ends the process.
// That is a net below the engines, not their way to stop: tests require that it is not needed.
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "support/budget.h"

namespace isoscope {

struct WatchOptions {
  std::size_t memory_bytes = 0;  // 0: no limit
  Budget budget = {};            // the deadline to watch
  double grace_seconds = 8;      // from the limit to the last resort
  // Called at most once, from the thread of the watch; must not return.
  std::function<void(std::string_view limit)> last_resort = {};
};

class Watch {
 public:
  explicit Watch(WatchOptions options);
  ~Watch();  // ends the thread
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  struct Thread;
  std::unique_ptr<Thread> thread_;
};

// While it exists, `interrupt` is called from the watch's thread, again and again, once the process
// is asked to stop or the watched deadline has passed. It must be safe to call at any moment.
class StopListener {
 public:
  explicit StopListener(std::function<void()> interrupt);
  ~StopListener();
  StopListener(const StopListener&) = delete;
  StopListener& operator=(const StopListener&) = delete;

 private:
  std::function<void()> interrupt_;
};

// Bytes of physical memory that this process holds now, and that the machine (or the limit that the
// system sets for this process) has; 0 where the system does not tell.
std::size_t resident_bytes();
std::size_t machine_bytes();

// The name of the phase the process is in, for the last resort; kept by the command line's
// progress.
void enter_phase(std::string_view name);
std::string current_phase();

}  // namespace isoscope
