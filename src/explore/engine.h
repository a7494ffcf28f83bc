#pragma once
// What the engines of an exploration have in common: what they report to, and who stops them.
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "explore/pool.h"
#include "explore/trail.h"
#include "support/budget.h"
#include "support/error.h"

namespace isoscope::explore {

// The choices that lead from the root of an exploration to where a walk stands. One thread takes
// them in ascending order, so of two places the smaller path is the one that it reaches first; what
// is shown of an exploration is chosen by this order, whatever the number of threads.
using Path = std::vector<std::uint32_t>;

// A complete history, as it lies on an engine's trail.
template <class Set>
struct EndState {
  const Trail<Set>& trail;
  std::span<const Entry> order;
  const Path& path;
};

// Receives complete histories; from several threads at once if the work is shared.
template <class Set>
class EndStates {
 public:
  virtual ~EndStates() = default;
  virtual void on_end_state(const EndState<Set>& end) = 0;
};

// A transaction that could not go on.
struct Fault {
  Error error;  // with its place, and in its hint what the transaction had read
  CallId call;  // none, if it is in a claim about the finished run
};

// What a transaction had read when something went wrong.
struct ReadValue {
  CallId reader = {};
  ProgramKey key = {};
  CallId writer = kInitialWriter;
  std::int64_t value = 0;
};

// Why the executor, at the end of its call, cannot go on; a fault is no use without the history
// that leads to it, so its hint tells what the transactions had read.
Fault describe_fault(const Executable& program, const Executor& executor, CallId call,
                     const std::vector<ReadValue>& reads);

// Lets the executor forget computed keys that are not on the path, now and then: an exploration
// then needs memory for one path only. Key numbers mean nothing across calls of drop_if_many() but
// for keys on the trail.
class KeysOnPath {
 public:
  explicit KeysOnPath(Executor& executor) : executor_(executor) { executor.hold_keys(); }

  // True if some were dropped.
  template <class Trail>
  bool drop_if_many(const Trail& trail) {
    if (executor_.num_held_keys() < many_) return false;
    used_.clear();
    for (const auto& read : trail.reads) used_.push_back(read.key);
    for (const auto& read : trail.fixed) used_.push_back(read.key);
    for (const auto& write : trail.writes) used_.push_back(write.key);
    executor_.drop_keys_but(used_);
    many_ = std::max(kMany, 2 * executor_.num_held_keys());
    return true;
  }

 private:
  static constexpr std::size_t kMany = 1024;
  Executor& executor_;
  std::size_t many_ = kMany;
  std::vector<ProgramKey> used_;
};

// Finds keys that no call ever writes, as far as the text of the program tells: to read them is no
// choice. Programs that are not text may write whatever they can name.
class FixedKeys {
 public:
  explicit FixedKeys(const Executable& program);
  bool contains(ProgramKey x) const;

 private:
  const KeyTable* keys_ = nullptr;  // null: there are none
  std::vector<FamilyId> written_;   // sorted
};

// Steers an exploration from outside: time, threads, the first fault. Shared by all its threads.
class Control {
 public:
  explicit Control(Budget budget) : budget_(std::move(budget)) {}

  // Shall all workers stop?
  bool is_stopped() const { return is_stopped_.load(std::memory_order_relaxed); }
  void stop() { is_stopped_.store(true, std::memory_order_relaxed); }
  // The same, or is the time over, or is the path behind the last that counts? Every walk asks with
  // its own copy of budget().
  bool is_over(Budget& own, const Path& path) {
    if (is_stopped() || (is_bounded_.load(std::memory_order_relaxed) && is_beyond(path)))
      return true;
    if (!own.expired()) return false;
    stop_undecided();
    return true;
  }
  const Budget& budget() const { return budget_; }
  bool is_out_of_time() const { return is_out_of_time_.load(); }

  // Something could not be decided within the limit.
  void stop_undecided() {
    is_out_of_time_ = true;
    stop();
  }

  // Nothing behind this path counts any more; what is before it is still explored.
  void stop_behind(const Path& path);
  // The fault with the smallest path counts.
  void report(Fault fault, const Path& path);
  std::optional<Fault> fault() const;
  Path fault_path() const;
  bool is_fault_behind(const Path& path) const;

  // The pool that shares the work; none, if one thread does it all. To be set before it begins.
  void share_with(Pool& pool) { pool_ = &pool; }
  Pool* pool() const { return pool_; }
  // Has a worker nothing to do? Then one that has much splits it.
  bool is_hungry() const { return pool_ != nullptr && pool_->is_hungry(); }
  // Shall all workers put back what is left to do?
  bool is_draining() const { return pool_ != nullptr && pool_->is_draining(); }

  // The smallest path behind which nothing counts, if it is a new one: for other processes.
  std::optional<Path> new_bound();

  // Reads without a valid writer, calls of explore(), and complete runs that count elsewhere.
  std::atomic<std::uint64_t> blocked{0};
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> repeated{0};
  // Beyond so many complete runs that count elsewhere, all workers stop.
  std::uint64_t max_repeated = std::numeric_limits<std::uint64_t>::max();

 private:
  bool is_beyond(const Path& path) const;
  // Requires: the lock is held.
  void bound(const Path& path);

  const Budget budget_;
  mutable std::mutex mutex_;
  std::optional<Fault> fault_;
  Path fault_path_;
  Path last_path_;  // if bounded
  std::atomic<bool> is_bounded_{false};
  std::atomic<bool> is_stopped_{false};
  std::atomic<bool> is_out_of_time_{false};
  bool is_bound_new_ = false;
  Pool* pool_ = nullptr;
};

}  // namespace isoscope::explore
