#include "explore/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "explore/releveled.h"
#include "support/shorten.h"

namespace isoscope::explore {

Fault describe_fault(const Executable& program, const Executor& executor, CallId call,
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
  return {std::move(error), call};
}

FixedKeys::FixedKeys(const Executable& program) {
  if (text_of(program) == nullptr) return;
  keys_ = &program.keys();
  for (const CallId call : program.outline().calls.ids()) {
    const auto written = program.may_write(call);
    written_.insert(written_.end(), written.begin(), written.end());
  }
  std::sort(written_.begin(), written_.end());
}

bool FixedKeys::contains(ProgramKey x) const {
  return keys_ != nullptr &&
         !std::binary_search(written_.begin(), written_.end(), keys_->family(x));
}

void Control::bound(const Path& path) {
  if (pool_ == nullptr) return stop();  // one thread has seen all that is before
  if (is_bounded_.load() && last_path_ <= path) return;
  last_path_ = path;
  is_bound_new_ = true;
  is_bounded_.store(true);
}

void Control::stop_behind(const Path& path) {
  const std::scoped_lock lock(mutex_);
  bound(path);
}

std::optional<Path> Control::new_bound() {
  const std::scoped_lock lock(mutex_);
  if (!is_bound_new_) return std::nullopt;
  is_bound_new_ = false;
  return last_path_;
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

Path Control::fault_path() const {
  const std::scoped_lock lock(mutex_);
  return fault_path_;
}

std::optional<Fault> Control::fault() const {
  const std::scoped_lock lock(mutex_);
  return fault_;
}

}  // namespace isoscope::explore
