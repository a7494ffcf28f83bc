#include "explore/schedule_state.h"

#include <algorithm>

#include "explore/releveled.h"
#include "store/txn_set.h"
#include "support/assert.h"

namespace isoscope::explore {
namespace {

std::uint64_t bit_of(ProgramKey key) { return std::uint64_t{1} << (key.index % 64); }

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
      block_of_(num_calls_),
      fixed_(program),
      facts_(num_calls_) {
  if (text_of(program) != nullptr) known_runs_.emplace(num_calls_);
  for (const Session& session : program.outline().sessions) {
    if (session.size > 0) sessions_.push_back({.next = session.first, .end = session.end()});
  }
}

template <class Set>
std::uint32_t ScheduleState<Set>::num_left() const {
  std::uint32_t left = 0;
  for (const SessionState& session : sessions_) left += session.end.index - session.next.index;
  return left;
}

template <class Set>
auto ScheduleState<Set>::next_step(LiveSession session) -> std::optional<Step> {
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
  const KnownRun* run = execute(state.next);
  if (run == nullptr) return std::nullopt;
  step.block = {narrow(trail_.blocks.size() - 1)};
  step.reads = add_keys(run->read_keys);
  step.writes = add_keys(run->written_keys);
  step.kind = rule_ == StrongRule::Ser ? StepKind::Whole : StepKind::Begin;
  step.can_run = can_run(step);
  return step;
}

template <class Set>
auto ScheduleState<Set>::add_keys(const std::vector<ProgramKey>& sorted) -> KeyRange {
  KeyRange keys;
  keys.begin = narrow(keys_.size());
  keys_.insert(keys_.end(), sorted.begin(), sorted.end());
  keys.end = narrow(keys_.size());
  for (const ProgramKey key : sorted) keys.mask |= bit_of(key);
  return keys;
}

// The keys of scratch_, sorted and without repetitions.
template <class Set>
std::vector<ProgramKey> ScheduleState<Set>::sorted_keys() {
  if (!std::is_sorted(scratch_.begin(), scratch_.end()))
    std::sort(scratch_.begin(), scratch_.end());
  return {scratch_.begin(), std::unique(scratch_.begin(), scratch_.end())};
}

template <class Set>
Block<Set> ScheduleState<Set>::begin_block(CallId call) const {
  Block<Set> block;
  block.call = call;
  block.reads_begin = narrow(trail_.reads.size());
  block.fixed_begin = narrow(trail_.fixed.size());
  block.writes_begin = narrow(trail_.writes.size());
  const Outline& outline = program_.outline();
  const CallId first = outline.sessions[outline.calls[call].session].first;
  for (CallId before = first; before < call; ++before) {
    block.past.insert(before);
    block.past |= trail_.blocks[block_of_[before]].past;
  }
  return block;
}

// Runs a call on the latest state; its block is the last of the trail. Nothing if it has a fault.
template <class Set>
const KnownRun* ScheduleState<Set>::execute(CallId call) {
  Block<Set> block = begin_block(call);
  const bool is_left_out = program_.outline().calls[call].attempt > 1 &&
                           trail_.blocks[block_of_[call_before(call)]].is_committed;
  const bool is_repeatable = known_runs_ && !is_left_out;
  if (is_repeatable) {
    const auto value_of = [&](ProgramKey key) { return latest_[key].value; };
    if (const KnownRun* run = known_runs_->find(call, value_of)) {
      repeat(*run, block);
      return run;
    }
  }
  std::uint64_t written = 0;  // a mask of its keys
  executor_->start(call);
  for (;;) {
    if (control_.is_over(budget_, path_)) return nullptr;
    const Stop stop = is_left_out ? Stop{.kind = StopKind::Commit} : executor_->run();
    switch (stop.kind) {
      case StopKind::Write:
        latest(stop.key);  // from now on, the key is in our tables
        written |= bit_of(stop.key);
        trail_.writes.push_back({stop.key, stop.value});
        break;
      case StopKind::Read: executor_->answer(read(stop.key, block, written)); break;
      case StopKind::Commit:
      case StopKind::Abort: return &end_block(block, stop.kind == StopKind::Commit, is_repeatable);
      case StopKind::Fault:
        block.reads_end = narrow(trail_.reads.size());
        block.fixed_end = narrow(trail_.fixed.size());
        report_fault(block);
        return nullptr;
    }
  }
}

// The same reads and writes as before; only whose versions it reads is new.
template <class Set>
void ScheduleState<Set>::repeat(const KnownRun& run, Block<Set> block) {
  for (const KnownRun::Probe& probe : run.probes) {
    const CallId writer = latest_[probe.key].writer;
    if (writer == kInitialWriter) continue;
    block.read_from.insert(writer);
    block.past.insert(writer);
    block.past |= trail_.blocks[block_of_[writer]].past;
  }
  trail_.reads.resize(trail_.reads.size() + run.reads.size());
  ReadEvent<Set>* event = trail_.reads.data() + block.reads_begin;
  for (const KnownRun::Read& read : run.reads) {
    event->key = read.key;
    event->writer = latest_[read.key].writer;
    event->writes_end = block.writes_begin + read.num_writes;
    event->fixed_end = block.fixed_begin + read.num_fixed;
    ++event;
  }
  trail_.fixed.insert(trail_.fixed.end(), run.fixed.begin(), run.fixed.end());
  trail_.writes.insert(trail_.writes.end(), run.writes.begin(), run.writes.end());
  block.reads_end = narrow(trail_.reads.size());
  block.fixed_end = narrow(trail_.fixed.size());
  block.writes_end = narrow(trail_.writes.size());
  block.locals_begin = narrow(trail_.numbers.size());
  trail_.numbers.insert(trail_.numbers.end(), run.locals.begin(), run.locals.end());
  block.locals_end = narrow(trail_.numbers.size());
  block.is_committed = run.is_committed;
  block.failed_assertion = run.failed_assertion;
  trail_.blocks.push_back(block);
}

template <class Set>
void ScheduleState<Set>::report_fault(const Block<Set>& last) {
  std::vector<ReadValue> reads;
  const auto add = [&](const Block<Set>& block) {
    trail_.for_each_read(block, [&](ProgramKey x, CallId writer, std::uint32_t) {
      reads.push_back({block.call, x, writer, value(writer, x)});
    });
  };
  for (const Step& step : steps_) {
    if (step.kind != StepKind::Commit) add(trail_.blocks[step.block]);
  }
  add(last);
  control_.report(describe_fault(program_, *executor_, last.call, reads), path_);
}

template <class Set>
std::int64_t ScheduleState<Set>::value(CallId writer, ProgramKey x) const {
  if (writer == kInitialWriter) return program_.keys().initial(x);
  const std::span<const WriteEvent> writes = trail_.writes_of(trail_.blocks[block_of_[writer]]);
  std::size_t i = writes.size();
  while (writes[i - 1].key != x) --i;
  return writes[i - 1].value;
}

template <class Set>
std::int64_t ScheduleState<Set>::read(ProgramKey x, Block<Set>& block, std::uint64_t written) {
  if ((written & bit_of(x)) != 0) {
    if (const std::int64_t* value = own_write(block, x)) return *value;
  }
  const Version version = latest(x);
  if (is_fixed_[x]) {
    trail_.fixed.push_back({x, narrow(trail_.writes.size()) - block.writes_begin});
    return version.value;
  }
  ReadEvent<Set>& event = trail_.reads.emplace_back();
  event.key = x;
  event.writer = version.writer;
  event.writes_end = narrow(trail_.writes.size());
  event.fixed_end = narrow(trail_.fixed.size());
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

// The call has run to its end: its block, and the run to be looked up later.
template <class Set>
const KnownRun& ScheduleState<Set>::end_block(Block<Set> block, bool is_committed,
                                              bool is_repeatable) {
  block.is_committed = is_committed;
  block.reads_end = narrow(trail_.reads.size());
  block.fixed_end = narrow(trail_.fixed.size());
  block.writes_end = narrow(trail_.writes.size());
  block.locals_begin = narrow(trail_.numbers.size());
  const auto locals = executor_->state().first(executor_->num_locals());
  trail_.numbers.insert(trail_.numbers.end(), locals.begin(), locals.end());
  block.locals_end = narrow(trail_.numbers.size());
  block.failed_assertion = executor_->failed_assertion();
  trail_.blocks.push_back(block);

  KnownRun run{.failed_assertion = block.failed_assertion, .is_committed = is_committed};
  run.locals.assign(locals.begin(), locals.end());
  const auto writes = trail_.writes_of(block);
  run.writes.assign(writes.begin(), writes.end());
  const auto fixed = trail_.fixed_of(block);
  run.fixed.assign(fixed.begin(), fixed.end());
  scratch_.clear();
  for (const ReadEvent<Set>& read : trail_.reads_of(block)) {
    run.reads.push_back(
        {read.key, read.writes_end - block.writes_begin, read.fixed_end - block.fixed_begin});
    // No other call runs meanwhile: what was read is the latest.
    if (!is_noted_[read.key]) {
      run.probes.push_back({read.key, latest_[read.key].value});
      scratch_.push_back(read.key);
    }
    is_noted_[read.key] = true;
  }
  for (const KnownRun::Probe& probe : run.probes) is_noted_[probe.key] = false;
  run.read_keys = sorted_keys();
  scratch_.clear();
  if (is_committed) {
    for (const WriteEvent& write : writes) scratch_.push_back(write.key);
  }
  run.written_keys = sorted_keys();
  if (is_repeatable) return known_runs_->add(block.call, std::move(run));
  last_run_ = std::move(run);
  return last_run_;
}

// At si: is no call under way that writes one of its keys?
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
    Version& version = latest_[write.key];
    overwritten_.push_back({write.key, version});
    version = {block.call, write.value};
  }
}

template <class Set>
void ScheduleState<Set>::take_back(const Step& step, std::size_t num_overwritten) {
  while (overwritten_.size() > num_overwritten) {
    latest_[overwritten_.back().key] = overwritten_.back().version;
    overwritten_.pop_back();
  }
  steps_.pop_back();
  SessionState& session = sessions_[step.session];
  --session.num_steps;
  if (step.kind == StepKind::Begin && step.writes.mask != 0) {
    session.is_under_way = false;
  } else {
    session.is_under_way = step.kind == StepKind::Commit;
    session.next = call_before(session.next);
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
  while (!latest_.contains(x)) {
    const ProgramKey added = latest_.next_id();
    latest_.push_back({.value = program_.keys().initial(added)});
    is_fixed_.push_back(fixed_.contains(added));
    is_noted_.push_back(false);
  }
  return latest_[x];
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

// Of every version by a call, and of the block that replaced it.
template <class Set>
template <class Holds>
bool ScheduleState<Set>::all_replaced(const Holds& holds) const {
  // overwritten_ has every version that was replaced; by whom, the order of commits tells.
  std::size_t next = 0;
  for (const Entry& entry : trail_.order) {
    const Block<Set>& block = trail_.blocks[entry.block];
    if (!block.is_committed) continue;
    for (std::uint32_t i = block.writes_begin; i < block.writes_end; ++i, ++next) {
      const CallId before = overwritten_[next].version.writer;
      if (before != kInitialWriter && !holds(before, block)) return false;
    }
  }
  return true;
}

// Does the history alone tell in which order the versions of each key follow each other? So if each
// writer causally follows the one before it.
template <class Set>
bool ScheduleState<Set>::is_version_order_known() const {
  return all_replaced([](CallId before, const Block<Set>& by) {
    return before == by.call || by.past.contains(before);
  });
}

// What the linearizer must know of the history, whatever the schedule.
template <class Set>
void ScheduleState<Set>::fill_facts() {
  writers_.resize(latest_.size());
  facts_.clear();
  const auto for_each_write = [&](auto&& f) {
    for (const CallId call : block_of_.ids()) {
      const Block<Set>& block = trail_.blocks[block_of_[call]];
      if (!block.is_committed) continue;
      for (const WriteEvent& write : trail_.writes_of(block)) f(call, writers_[write.key]);
    }
  };
  for_each_write([](CallId call, Set& writers) { writers.insert(call); });
  for (const CallId call : block_of_.ids()) {
    const Block<Set>& block = trail_.blocks[block_of_[call]];
    facts_.add_txn(call, program_.outline().calls[call].session, block.read_from);
    for (const ReadEvent<Set>& read : trail_.reads_of(block)) {
      const Set& writers = writers_[read.key];
      if (writers.empty()) continue;
      facts_.add_read(call, read.writer == kInitialWriter ? nullptr : &read.writer, writers);
    }
  }
  for_each_write([&](CallId call, const Set& writers) {
    Set others = writers;
    others.erase(call);
    facts_.add_conflict(call, others);
  });
  for_each_write([](CallId, Set& writers) { writers = {}; });
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
  ById<CallId, std::uint32_t> place(num_calls_);
  for (std::uint32_t i = 0; i < num_calls_; ++i) place[linearizer_.order()[i]] = i;
  return all_replaced(
      [&](CallId before, const Block<Set>& by) { return place[before] <= place[by.call]; });
}

template class ScheduleState<TxnSet<1>>;
template class ScheduleState<TxnSet<4>>;

}  // namespace isoscope::explore
