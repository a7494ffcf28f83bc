#include "explore/schedule_state.h"

#include <algorithm>

#include "store/txn_set.h"
#include "support/assert.h"

namespace isoscope::explore {
namespace {

std::uint64_t bit_of(std::uint32_t key) { return std::uint64_t{1} << (key % 64); }

}  // namespace

template <class Set>
ScheduleState<Set>::ScheduleState(const Executable& program, StrongRule rule,
                                  EndStates<Set>& end_states, Control& control)
    : program_(program),
      rule_(rule),
      end_states_(end_states),
      control_(control),
      budget_(control.budget()),
      trail_(narrow(program.outline().calls.size())),
      executor_(program.executor()),
      keys_on_path_(*executor_),
      num_calls_(narrow(program.outline().calls.size())),
      block_of_(num_calls_, 0),
      fixed_(program),
      facts_(num_calls_) {
  for (const Session& session : program.outline().sessions) {
    if (session.size > 0)
      sessions_.push_back({.next = session.first, .end = session.first + session.size});
  }
}

template <class Set>
std::uint32_t ScheduleState<Set>::num_left() const {
  std::uint32_t left = 0;
  for (const SessionState& session : sessions_) left += session.end - session.next;
  return left;
}

template <class Set>
auto ScheduleState<Set>::next_step(std::uint32_t session) -> std::optional<Step> {
  const SessionState& state = sessions_[session];
  Step step;
  step.session = session;
  step.index = state.num_steps;
  if (state.is_under_way) {
    // Its writes do not depend on anything any more.
    const Step& begun = steps_[state.last];
    step.kind = StepKind::Commit;
    step.block = begun.block;
    step.writes = begun.writes;
    return step;
  }
  if (!execute(state.next)) return std::nullopt;
  step.block = narrow(trail_.blocks.size() - 1);
  const Block<Set>& block = trail_.blocks.back();
  scratch_.clear();
  for (const ReadEvent<Set>& read : trail_.reads_of(block)) {
    if (!read.is_fixed) scratch_.push_back(read.key.index);
  }
  step.reads = sorted_keys();
  scratch_.clear();
  if (block.is_committed) {
    for (const WriteEvent& write : trail_.writes_of(block)) scratch_.push_back(write.key.index);
  }
  step.writes = sorted_keys();
  step.kind = rule_ == StrongRule::Ser ? StepKind::Whole : StepKind::Begin;
  step.can_run = can_run(step);
  return step;
}

// The keys of scratch_, sorted and without repetitions.
template <class Set>
auto ScheduleState<Set>::sorted_keys() -> KeyRange {
  if (!std::is_sorted(scratch_.begin(), scratch_.end()))
    std::sort(scratch_.begin(), scratch_.end());
  const auto end = std::unique(scratch_.begin(), scratch_.end());
  KeyRange keys;
  keys.begin = narrow(keys_.size());
  keys_.insert(keys_.end(), scratch_.begin(), end);
  keys.end = narrow(keys_.size());
  for (std::uint32_t i = keys.begin; i < keys.end; ++i) keys.mask |= bit_of(keys_[i]);
  return keys;
}

// Runs a call on the latest state; its block is the last of the trail. False if it has a fault.
template <class Set>
bool ScheduleState<Set>::execute(std::uint32_t call) {
  Block<Set> block;
  block.call = call;
  block.reads_begin = narrow(trail_.reads.size());
  block.writes_begin = narrow(trail_.writes.size());
  for (std::uint32_t before = call; before-- > 0;) {
    if (program_.outline().calls[before].session != program_.outline().calls[call].session) break;
    block.past.insert(before);
    block.past |= trail_.blocks[block_of_[before]].past;
  }
  std::uint64_t written = 0;  // a mask of its keys
  executor_->start(CallId{call});
  const bool is_left_out =
      program_.outline().calls[call].attempt > 1 && trail_.blocks[block_of_[call - 1]].is_committed;
  for (;;) {
    if (control_.is_over(budget_, path_)) return false;
    const Stop stop = is_left_out ? Stop{.kind = StopKind::Commit} : executor_->run();
    switch (stop.kind) {
      case StopKind::Write:
        latest(stop.key);  // from now on, the key is in our tables
        written |= bit_of(stop.key.index);
        trail_.writes.push_back({stop.key, stop.value});
        break;
      case StopKind::Read:
        executor_->answer(read(stop.key, block, written));
        break;
      case StopKind::Commit:
      case StopKind::Abort:
        add_block(block, stop.kind == StopKind::Commit);
        return true;
      case StopKind::Fault:
        report_fault(call, block.reads_begin);
        return false;
    }
  }
}

template <class Set>
void ScheduleState<Set>::report_fault(std::uint32_t call, std::uint32_t reads_begin) {
  std::vector<ReadValue> reads;
  const auto add = [&](std::uint32_t reader, std::span<const ReadEvent<Set>> events) {
    for (const ReadEvent<Set>& event : events)
      reads.push_back({reader, event.key, event.writer, value(event.writer, event.key)});
  };
  for (const Step& step : steps_) {
    const Block<Set>& block = trail_.blocks[step.block];
    if (step.kind != StepKind::Commit) add(block.call, trail_.reads_of(block));
  }
  add(call, std::span<const ReadEvent<Set>>(trail_.reads).subspan(reads_begin));
  control_.report(describe_fault(program_, *executor_, call, reads), path_);
}

template <class Set>
std::int64_t ScheduleState<Set>::value(std::uint32_t writer, ProgramKey x) const {
  if (writer == kInitialWriter) return program_.keys().initial(x);
  const std::span<const WriteEvent> writes = trail_.writes_of(trail_.blocks[block_of_[writer]]);
  std::size_t i = writes.size();
  while (writes[i - 1].key != x) --i;
  return writes[i - 1].value;
}

template <class Set>
std::int64_t ScheduleState<Set>::read(ProgramKey x, Block<Set>& block, std::uint64_t written) {
  if ((written & bit_of(x.index)) != 0) {
    if (const std::int64_t* value = own_write(block, x)) return *value;
  }
  const Version version = latest(x);
  ReadEvent<Set>& event = trail_.reads.emplace_back();
  event.key = x;
  event.is_fixed = is_fixed_[x.index];
  event.writer = version.writer;
  event.writes_end = narrow(trail_.writes.size());
  if (version.writer != kInitialWriter) {
    block.read_from.insert(version.writer);
    block.past.insert(version.writer);
    block.past |= trail_.blocks[block_of_[version.writer]].past;
  }
  return version.value;
}

template <class Set>
const std::int64_t* ScheduleState<Set>::own_write(const Block<Set>& block, ProgramKey x) const {
  for (std::size_t i = trail_.writes.size(); i-- > block.writes_begin;) {
    if (trail_.writes[i].key == x) return &trail_.writes[i].value;
  }
  return nullptr;
}

template <class Set>
void ScheduleState<Set>::add_block(Block<Set> block, bool is_committed) {
  block.is_committed = is_committed;
  block.reads_end = narrow(trail_.reads.size());
  block.writes_end = narrow(trail_.writes.size());
  block.locals_begin = narrow(trail_.numbers.size());
  const auto locals = executor_->state().first(executor_->num_locals());
  trail_.numbers.insert(trail_.numbers.end(), locals.begin(), locals.end());
  block.locals_end = narrow(trail_.numbers.size());
  block.failed_assertion = executor_->failed_assertion();
  trail_.blocks.push_back(block);
}

// At si: is nobody under way who writes one of its keys?
template <class Set>
bool ScheduleState<Set>::can_run(const Step& step) const {
  if (rule_ != StrongRule::Si || step.writes.mask == 0) return true;
  return std::none_of(sessions_.begin(), sessions_.end(), [&](const SessionState& session) {
    return session.is_under_way && intersect(steps_[session.last].writes, step.writes);
  });
}

template <class Set>
bool ScheduleState<Set>::intersect(const KeyRange& a, const KeyRange& b) const {
  if ((a.mask & b.mask) == 0) return false;
  std::uint32_t i = a.begin;
  std::uint32_t j = b.begin;
  while (i < a.end && j < b.end) {
    if (keys_[i] == keys_[j]) return true;
    keys_[i] < keys_[j] ? ++i : ++j;
  }
  return false;
}

template <class Set>
bool ScheduleState<Set>::are_dependent(const Step& a, const Step& b) const {
  if (a.kind == StepKind::Begin && b.kind == StepKind::Begin)
    return rule_ == StrongRule::Si && intersect(a.writes, b.writes);
  if (a.kind == StepKind::Begin || b.kind == StepKind::Begin) {
    const Step& begin = a.kind == StepKind::Begin ? a : b;
    const Step& commit = a.kind == StepKind::Begin ? b : a;
    return intersect(begin.reads, commit.writes) ||
           (rule_ == StrongRule::Si && intersect(begin.writes, commit.writes));
  }
  return intersect(a.writes, b.writes) || intersect(a.reads, b.writes) ||
         intersect(a.writes, b.reads);
}

template <class Set>
void ScheduleState<Set>::take(const Step& step) {
  SessionState& session = sessions_[step.session];
  session.last = narrow(steps_.size());
  ++session.num_steps;
  steps_.push_back(step);
  if (step.kind == StepKind::Begin && step.writes.mask != 0) {
    session.is_under_way = true;
    return;
  }
  session.is_under_way = false;
  ++session.next;
  const Block<Set>& block = trail_.blocks[step.block];
  block_of_[block.call] = step.block;
  trail_.order.push_back({step.block, 0});
  if (block.is_committed) install(block);
}

template <class Set>
void ScheduleState<Set>::install(const Block<Set>& block) {
  for (const WriteEvent& write : trail_.writes_of(block)) {
    Version& version = latest_[write.key.index];
    overwritten_.push_back({write.key, version});
    version = {block.call, write.value};
  }
}

template <class Set>
void ScheduleState<Set>::take_back(const Step& step, std::size_t num_overwritten) {
  while (overwritten_.size() > num_overwritten) {
    latest_[overwritten_.back().key.index] = overwritten_.back().version;
    overwritten_.pop_back();
  }
  steps_.pop_back();
  SessionState& session = sessions_[step.session];
  --session.num_steps;
  if (step.kind == StepKind::Begin && step.writes.mask != 0) {
    session.is_under_way = false;
  } else {
    session.is_under_way = step.kind == StepKind::Commit;
    --session.next;
    trail_.order.pop_back();
  }
  // The step of this session before it, if there is one.
  for (std::size_t i = steps_.size(); session.num_steps > 0 && i-- > 0;) {
    if (steps_[i].session != step.session) continue;
    session.last = narrow(i);
    break;
  }
}

template <class Set>
auto ScheduleState<Set>::latest(ProgramKey x) -> Version& {
  while (x.index >= latest_.size()) {
    const ProgramKey added{narrow(latest_.size())};
    latest_.push_back({.value = program_.keys().initial(added)});
    is_fixed_.push_back(fixed_.contains(added));
  }
  return latest_[x.index];
}

template <class Set>
void ScheduleState<Set>::report_end() {
  if (!is_version_order_known() && !is_first_version_order()) {
    if (control_.repeated.fetch_add(1, std::memory_order_relaxed) >= control_.max_repeated)
      control_.stop();
    return;
  }
  end_states_.on_end_state({trail_, trail_.order, path_});
}

// Does the history alone tell in which order the versions of each key follow each other? So if each
// writer causally follows the one before it.
template <class Set>
bool ScheduleState<Set>::is_version_order_known() const {
  // overwritten_ has every version that was replaced; by whom, the order of commits tells.
  std::size_t next = 0;
  for (const Entry& entry : trail_.order) {
    const Block<Set>& block = trail_.blocks[entry.block];
    if (!block.is_committed) continue;
    for (std::uint32_t i = block.writes_begin; i < block.writes_end; ++i, ++next) {
      const std::uint32_t before = overwritten_[next].version.writer;
      if (before != kInitialWriter && before != block.call && !block.past.contains(before))
        return false;
    }
  }
  return true;
}

// What the linearizer must know of the history, whatever the schedule.
template <class Set>
void ScheduleState<Set>::fill_facts() {
  writers_.resize(latest_.size());
  facts_.clear();
  const auto for_each_write = [&](auto&& f) {
    for (std::uint32_t call = 0; call < num_calls_; ++call) {
      const Block<Set>& block = trail_.blocks[block_of_[call]];
      if (!block.is_committed) continue;
      for (const WriteEvent& write : trail_.writes_of(block)) f(call, writers_[write.key.index]);
    }
  };
  for_each_write([](std::uint32_t call, Set& writers) { writers.insert(call); });
  for (std::uint32_t call = 0; call < num_calls_; ++call) {
    const Block<Set>& block = trail_.blocks[block_of_[call]];
    facts_.add_txn(call, program_.outline().calls[call].session, block.read_from);
    for (const ReadEvent<Set>& read : trail_.reads_of(block)) {
      const Set& writers = writers_[read.key.index];
      if (writers.empty()) continue;
      facts_.add_read(call, read.writer == kInitialWriter ? nullptr : &read.writer, writers);
    }
  }
  for_each_write([&](std::uint32_t call, const Set& writers) {
    Set others = writers;
    others.erase(call);
    facts_.add_conflict(call, others);
  });
  for_each_write([](std::uint32_t, Set& writers) { writers = {}; });
}

// Are the versions in the order that the linearizer finds for the history?
template <class Set>
bool ScheduleState<Set>::is_first_version_order() {
  fill_facts();
  if (!linearizer_.is_possible(facts_, rule_, budget_)) {
    ISO_ASSERT(budget_.expired());  // the schedule is a way
    control_.stop_undecided();
    return false;
  }
  std::vector<std::uint32_t> place(num_calls_);
  for (std::uint32_t i = 0; i < num_calls_; ++i) place[linearizer_.order()[i]] = i;
  std::size_t next = 0;
  for (const Entry& entry : trail_.order) {
    const Block<Set>& block = trail_.blocks[entry.block];
    if (!block.is_committed) continue;
    for (std::uint32_t i = block.writes_begin; i < block.writes_end; ++i, ++next) {
      const std::uint32_t before = overwritten_[next].version.writer;
      if (before != kInitialWriter && place[before] > place[block.call]) return false;
    }
  }
  return true;
}

template class ScheduleState<TxnSet<1>>;
template class ScheduleState<TxnSet<4>>;

}  // namespace isoscope::explore
