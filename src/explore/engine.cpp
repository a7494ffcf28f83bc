#include "explore/engine.h"

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "support/shorten.h"

namespace isoscope::explore {

Fault describe_fault(const Executable& program, const Executor& executor, std::uint32_t call,
                     const std::vector<ReadValue>& reads) {
  Error error = executor.fault();
  const std::string history = short_list(reads.size(), "; ", [&](std::size_t i) {
    const ReadValue& read = reads[i];
    return fmt::format("{} reads {} = {} from {}", store::name_of(program, read.reader),
                       program.keys().name(read.key), read.value,
                       store::name_of_writer(program, read.writer));
  });
  if (!history.empty())
    error.hint += fmt::format("{}it happens when {}", error.hint.empty() ? "" : "; ", history);
  return {std::move(error), CallId{call}};
}

struct Control::Tasks {
  tbb::task_group group;
};

void Control::bound(const Path& path) {
  if (num_threads_ <= 1) return stop();  // one thread has seen all that is before
  if (!is_bounded_.load() || path < last_path_) last_path_ = path;
  is_bounded_.store(true);
}

void Control::stop_behind(const Path& path) {
  const std::scoped_lock lock(mutex_);
  bound(path);
}

bool Control::is_beyond(const Path& path) const {
  const std::scoped_lock lock(mutex_);
  return path > last_path_;
}

void Control::report(Fault fault, const Path& path) {
  const std::scoped_lock lock(mutex_);
  // A call that was left because the time is over has no fault.
  if (Budget own = budget_; own.expired_now()) {
    stop_undecided();
    return;
  }
  if (!fault_ || path < fault_path_) {
    fault_ = std::move(fault);
    fault_path_ = path;
  }
  bound(path);
}

bool Control::is_fault_behind(const Path& path) const {
  const std::scoped_lock lock(mutex_);
  return fault_ && path < fault_path_;
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

Control::Parts::Parts(Control& control) : control_(control), tasks_(std::make_unique<Tasks>()) {}

Control::Parts::~Parts() {
  control_.running_.fetch_sub(1, std::memory_order_relaxed);  // whoever waits has no work
  tasks_->group.wait();
  control_.running_.fetch_add(1, std::memory_order_relaxed);
}

void Control::Parts::spawn(std::function<void()> work) {
  control_.running_.fetch_add(1, std::memory_order_relaxed);
  tasks_->group.run([this, work = std::move(work)] {
    work();
    control_.running_.fetch_sub(1, std::memory_order_relaxed);
  });
}

void Control::run(unsigned threads, std::function<void()> work) {
  num_threads_ = threads;
  if (threads <= 1) {
    running_ = 1;
    work();
    return;
  }
  // As many as were asked for, also if there are fewer cores.
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
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
