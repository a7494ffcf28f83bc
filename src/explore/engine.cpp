#include "explore/engine.h"

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace isoscope::explore {

struct Control::Tasks {
  tbb::task_group group;
};

void Control::report(Fault fault) {
  const std::scoped_lock lock(mutex_);
  // A call that was left because the time is over has no fault.
  if (Budget own = budget_; own.expired_now()) {
    stop_undecided();
    return;
  }
  // The same fault whatever the number of threads, if there are several: the first in the text.
  if (!fault_ || fault.error.where < fault_->error.where) fault_ = std::move(fault);
  stop();
}

std::optional<Fault> Control::fault() const {
  const std::scoped_lock lock(mutex_);
  return fault_;
}

void Control::spawn(std::function<void()> work) {
  running_.fetch_add(1, std::memory_order_relaxed);
  tasks_->group.run([this, work = std::move(work)] {
    work();
    running_.fetch_sub(1, std::memory_order_relaxed);
  });
}

void Control::run(unsigned threads, std::function<void()> work) {
  num_threads_ = threads;
  if (threads <= 1) {
    running_ = 1;
    work();
    return;
  }
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute([&] {
    Tasks tasks;
    tasks_ = &tasks;
    spawn(std::move(work));
    tasks.group.wait();
    tasks_ = nullptr;
  });
}

}  // namespace isoscope::explore
