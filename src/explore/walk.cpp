#include "explore/walk.h"

#include <algorithm>

#include "explore/releveled.h"
#include "program/remembered.h"
#include "store/forced_order.h"
#include "store/txn_set.h"

namespace isoscope::explore {
namespace {

std::unique_ptr<Executor> make_executor(const Executable& program) {
  const Program* text = text_of(program);
  if (text == nullptr) return program.executor();  // it may want to see that it repeats itself
  return remembering(*text, program.executor());
}

}  // namespace

template <class Set>
Walk<Set>::Walk(const Executable& program, Rules rules, EndStates<Set>& end_states,
                Control& control)
    : program_(program),
      rules_(std::move(rules)),
      end_states_(end_states),
      control_(control),
      budget_(control.budget()),
      executor_(make_executor(program)),
      remembered_(dynamic_cast<Remembering*>(executor_.get())),
      keys_on_path_(*executor_),
      num_calls_(narrow(program.outline().calls.size())),
      trail_(num_calls_),
      block_of_(num_calls_),
      fixed_(program),
      history_facts_(rules_.is_linear() ? num_calls_ : 0),
      facts_(history_facts_),
      txn_rules_(rules_.template txn_rules<Set>()) {
  for (std::uint32_t key = 0; key < program.keys().size(); ++key)
    has_large_initial_ =
        has_large_initial_ || !is_small_number(program.keys().initial(ProgramKey{key}));
  if (rules_.forcing) witness_.emplace(rules_.forcing, num_calls_, budget_);
  for (const Session& session : program.outline().sessions) {
    for (const CallId call : session.calls())
      session_past_.push_back(Set::between(session.first, call));
  }
}

template <class Set>
void Walk<Set>::begin(CallId call) {
  pending_ = {.call = call,
              .reads_begin = narrow(trail_.reads.size()),
              .fixed_begin = narrow(trail_.fixed.size()),
              .writes_begin = narrow(trail_.writes.size()),
              .edges_begin = narrow(trail_.edges.size()),
              .forced = history_size() == 0 ? 0 : entry(history_size() - 1).forced,
              .past = session_past_[call],
              .read_from = {},
              .is_left_out = program_.outline().calls[call].attempt > 1 &&
                             trail_.blocks[block_of_[call_before(call)]].is_committed};
  // What its session has seen, it has seen.
  session_past_[call].for_each([&](CallId p) { pending_.past |= past(p); });
  if (rules_.is_linear()) order_history();
  executor_->start(call);
}

template <class Set>
void Walk<Set>::walk(std::size_t first_read, bool is_new) {
  while (is_new || backtrack(first_read)) {
    is_new = false;
    while (extend()) {
    }
  }
}

// Goes on to the next choice and takes it. False when this branch is done.
template <class Set>
bool Walk<Set>::extend() {
  if (control_.is_over(budget_, path_)) return false;
  const std::optional<Stop> stop = go_on();
  if (!stop) return false;
  switch (stop->kind) {
    case StopKind::Read:
      // How early a lost update is seen may differ between threads: it is not counted.
      if (pending_.num_superseded > 0 && will_lose_update()) return false;
      arrive_at_read(stop->key);
      if (take_valid_write(true)) return true;
      // Those who took the first choices of a piece have not found it blocked.
      if (!trail_.reads.back().is_overwritten && (from_ == 0 || path_.size() - 1 > prefix_.size()))
        count_blocked();
      return false;
    case StopKind::Commit:
    case StopKind::Abort: end_block(stop->kind == StopKind::Commit); return false;
    case StopKind::Write:
    case StopKind::Fault: report_fault(); return false;
  }
  return false;
}

// Adds what the pending transaction does up to its next choice, its end or a fault. Nothing if the
// walk is over before that.
template <class Set>
std::optional<Stop> Walk<Set>::go_on() {
  if (pending_.is_left_out) return Stop{.kind = StopKind::Commit};
  if (remembered_ != nullptr) {
    if (const std::optional<Segment> known = remembered_->known()) {
      trail_.writes.insert(trail_.writes.end(), known->writes.begin(), known->writes.end());
      trail_.fixed.insert(trail_.fixed.end(), known->fixed.begin(), known->fixed.end());
      return known->stop;
    }
  }
  const std::size_t writes_begin = trail_.writes.size();
  const std::size_t fixed_begin = trail_.fixed.size();
  Stop stop = executor_->run();
  while (passes(stop)) {
    if (control_.is_over(budget_, path_)) return std::nullopt;
    stop = executor_->run();
  }
  if (remembered_ != nullptr)
    remembered_->learn({std::span<const WriteEvent>(trail_.writes).subspan(writes_begin),
                        std::span<const FixedRead>(trail_.fixed).subspan(fixed_begin), stop});
  return stop;
}

// Adds a write, and a read that is no choice; false at everything else.
template <class Set>
bool Walk<Set>::passes(const Stop& stop) {
  if (stop.kind != StopKind::Write && stop.kind != StopKind::Read) return false;
  writers(stop.key);  // from now on, the key is in our tables
  if (stop.kind == StopKind::Write) {
    trail_.writes.push_back({stop.key, stop.value});
    return true;
  }
  if (is_fixed_[stop.key]) {
    trail_.fixed.push_back({stop.key, narrow(trail_.writes.size()) - pending_.writes_begin});
    executor_->answer(initial_[stop.key]);
    return true;
  }
  const std::int64_t* value = own_write(stop.key);
  if (value != nullptr) executor_->answer(*value);
  return value != nullptr;
}

template <class Set>
void Walk<Set>::report_fault() {
  std::vector<ReadValue> read;
  const auto add = [&](const Block<Set>& block) {
    trail_.for_each_read(block, [&](ProgramKey x, CallId writer, std::uint32_t) {
      read.push_back({block.call, x, writer, value(writer, x)});
    });
  };
  for (std::uint32_t i = 0; i < history_size(); ++i) add(block_at(i));
  add(pending_block());
  control_.report(describe_fault(program_, *executor_, pending_.call, read), path_);
}

template <class Set>
void Walk<Set>::arrive_at_read(ProgramKey x) {
  const bool will_be_written = rules_.sight && will_write(x);
  const std::span<const std::int64_t> state = executor_->state();
  ReadEvent<Set>& read = trail_.reads.emplace_back();
  read.key = x;
  read.untried = writers_[x];
  read.is_initial_untried = true;
  read.is_overwritten = will_be_written;
  leave_out_hidden(read);
  read.past = pending_.past;
  read.read_from = pending_.read_from;
  read.writes_end = narrow(trail_.writes.size());
  read.fixed_end = narrow(trail_.fixed.size());
  read.edges_end = narrow(trail_.edges.size());
  read.state_begin = narrow(trail_.numbers.size());
  trail_.numbers.insert(trail_.numbers.end(), state.begin(), state.end());
  read.state_end = narrow(trail_.numbers.size());
  read.forced = pending_.forced;
  read.num_superseded = pending_.num_superseded;
  read.path_end = narrow(path_.size());
  if (path_.size() < prefix_.size()) {
    const std::uint32_t only = prefix_[path_.size()];
    read.is_initial_untried = only == 0;
    read.untried = only == 0 ? Set{} : Set::of({only - 1});
  } else if (path_.size() == prefix_.size() && from_ > 0) {
    read.is_initial_untried = false;
    read.untried -= Set::first(from_ - 1);
  }
  path_.push_back(0);
}

// Takes from the choices of a read those that fail for a reason that is known at once. At cc a
// writer that comes before another one, which the transaction sees, is hidden by that one. With
// sight, of two writers of a key that have read the same version none sees the other.
template <class Set>
void Walk<Set>::leave_out_hidden(ReadEvent<Set>& read) {
  if (read.is_overwritten) {
    const Superseded& versions = superseded_[read.key];
    read.untried -= versions.writers;
    if (versions.is_initial) read.is_initial_untried = false;
  }
  if (rules_.strong || rules_.weak[pending_.call] != WeakLevel::Cc) return;
  const Set known = writers_[read.key] & pending_.past;
  if (known.empty()) return;
  read.is_initial_untried = false;
  const std::span<const Set> rows = trail_.forced(pending_.forced);
  known.for_each([&](CallId t) { read.untried -= rows[t.index]; });
}

// The next of ValidWrites(h, e) for the last read; false if there is none left.
template <class Set>
bool Walk<Set>::take_valid_write(bool is_first) {
  const std::size_t last = trail_.reads.size() - 1;
  if (!is_first && control_.is_draining() && !trail_.reads[last].untried.empty())
    give_untried(trail_.reads[last]);
  for (;;) {
    if (control_.is_over(budget_, path_)) return false;
    ReadEvent<Set>& read = trail_.reads[last];
    CallId w = kInitialWriter;
    if (read.is_initial_untried) {
      read.is_initial_untried = false;
    } else if (!read.untried.empty()) {
      w = read.untried.front();
      read.untried.erase(w);
    } else {
      return false;
    }
    read.writer = w;
    path_.back() = w.index + 1;  // the initial transaction comes first
    pending_.past = read.past;
    pending_.read_from = read.read_from;
    if (w != kInitialWriter) {
      pending_.past |= past(w);
      pending_.past.insert(w);
      pending_.read_from.insert(w);
    }
    const bool is_superseded_one = rules_.sight && is_superseded(read.key, w);
    pending_.num_superseded = read.num_superseded + (is_superseded_one ? 1 : 0);
    if (!is_valid_write(w)) continue;
    if (wants_latest_) read.latest = shape_of_latest(read);
    if (!is_first) {
      executor_->restore(pending_.call,
                         std::span<const std::int64_t>(trail_.numbers)
                             .subspan(read.state_begin, read.state_end - read.state_begin));
    }
    executor_->answer(value(w, read.key));
    return true;
  }
}

// Adds what the last read forces when it reads from w. If that is impossible, adds nothing.
template <class Set>
bool Walk<Set>::is_valid_write(CallId w) {
  if (!rules_.is_linear()) return is_weakly_valid_write(w);
  if (rules_.strong) return is_strongly_valid_write(w);
  const ReadEvent<Set> read = trail_.reads.back();
  if (!is_weakly_valid_write(w)) return false;
  if (is_strongly_valid_write(w)) return true;
  trail_.edges.resize(read.edges_end);
  trail_.cut_forced(read.forced);
  pending_.forced = read.forced;
  return false;
}

template <class Set>
bool Walk<Set>::is_weakly_valid_write(CallId w) {
  const ReadEvent<Set>& read = trail_.reads.back();
  const Reader<Set> reader{
      .level = rules_.weak[pending_.call],
      .session = session_past_[pending_.call],
      .past = read.past,
      .read_from = read.read_from,
      .reads = std::span<const ReadEvent<Set>>(trail_.reads)
                   .subspan(pending_.reads_begin, trail_.reads.size() - 1 - pending_.reads_begin)};
  const std::size_t edges_begin = trail_.edges.size();
  const bool is_possible = collect(reader, read.key, w, trail_.edges);
  if (is_possible && edges_begin == trail_.edges.size()) return true;
  if (is_possible) {
    const std::uint32_t copy = trail_.copy_forced(read.forced);
    if (add_edges(copy, edges_begin, trail_.edges.size())) {
      pending_.forced = copy;
      return true;
    }
    trail_.cut_forced(copy - 1);
  }
  trail_.edges.resize(edges_begin);
  return false;
}

template <class Set>
bool Walk<Set>::collect(const Reader<Set>& reader, ProgramKey x, CallId w,
                        std::vector<ForcedEdges<Set>>& edges) const {
  return collect_forced(
      reader, x, w, [&](CallId t) -> const Set& { return past(t); },
      [&](ProgramKey y) -> const Set& { return writers_[y]; },
      [&](const Set& from, CallId to) {
        edges.push_back({from, to});
      });
}

template <class Set>
bool Walk<Set>::add_edges(std::uint32_t forced, std::size_t edges_begin, std::size_t edges_end) {
  ForcedOrder<Set> order(trail_.forced(forced));
  for (std::size_t i = edges_begin; i < edges_end; ++i) {
    if (!order.add(trail_.edges[i].from, trail_.edges[i].to)) return false;
  }
  return true;
}

// Back to the last read from `first_read` on that has another valid writer, and takes that.
template <class Set>
bool Walk<Set>::backtrack(std::size_t first_read) {
  while (trail_.reads.size() > first_read) {
    const ReadEvent<Set>& read = trail_.reads.back();
    trail_.writes.resize(read.writes_end);
    trail_.fixed.resize(read.fixed_end);
    pending_.num_filtered =
        std::min(pending_.num_filtered, read.writes_end - pending_.writes_begin);
    trail_.edges.resize(read.edges_end);
    trail_.numbers.resize(read.state_end);
    trail_.cut_forced(read.forced);
    pending_.past = read.past;
    pending_.read_from = read.read_from;
    pending_.forced = read.forced;
    pending_.num_superseded = read.num_superseded;
    path_.resize(read.path_end + 1);
    if (control_.is_stopped()) {
      path_.resize(trail_.reads[first_read].path_end);
      trail_.numbers.resize(trail_.reads[first_read].state_begin);
      trail_.reads.resize(first_read);
      return false;
    }
    if (take_valid_write(false)) return true;
    path_.pop_back();
    trail_.numbers.resize(trail_.reads.back().state_begin);
    trail_.reads.pop_back();
  }
  return false;
}

// What readLatest says whatever else is in the history: no, if the read's writer is not in its
// causal past; yes, if no writer of the past comes after it in <. The order < of a transaction's
// past never changes.
template <class Set>
Latest Walk<Set>::shape_of_latest(const ReadEvent<Set>& read) const {
  const Set known = writers_[read.key] & read.past;
  if (read.writer == kInitialWriter) return known.empty() ? Latest::Yes : Latest::Depends;
  if (!known.contains(read.writer)) return Latest::No;
  for (std::uint32_t i = history_size(); i-- > 0;) {
    const CallId call = block_at(i).call;
    if (known.contains(call)) return call == read.writer ? Latest::Yes : Latest::Depends;
  }
  return Latest::No;
}

// The pending transaction as far as it went.
template <class Set>
Block<Set> Walk<Set>::pending_block() const {
  Block<Set> block;
  block.call = pending_.call;
  block.reads_begin = pending_.reads_begin;
  block.reads_end = narrow(trail_.reads.size());
  block.fixed_begin = pending_.fixed_begin;
  block.fixed_end = narrow(trail_.fixed.size());
  block.writes_begin = pending_.writes_begin;
  block.writes_end = narrow(trail_.writes.size());
  block.edges_begin = pending_.edges_begin;
  block.edges_end = narrow(trail_.edges.size());
  block.past = pending_.past;
  block.read_from = pending_.read_from;
  return block;
}

template <class Set>
void Walk<Set>::end_block(bool is_committed) {
  if (!is_wanted()) return;
  const bool has_written = trail_.writes.size() > pending_.writes_begin;
  if (pending_.num_superseded > 0 && is_committed && has_written && loses_update()) return;
  const bool is_current =
      trail_.reads.size() == pending_.reads_begin || trail_.reads.back().is_current;
  if (rules_.is_linear() && is_committed && has_written && !is_current &&
      !is_strongly_consistent(true)) {
    count_blocked();
    return;
  }
  const typename Trail<Set>::Mark mark = trail_.mark();
  const Pending pending = pending_;
  const std::uint32_t locals_begin = narrow(trail_.numbers.size());
  const auto locals = executor_->state().first(executor_->num_locals());
  trail_.numbers.insert(trail_.numbers.end(), locals.begin(), locals.end());
  Block<Set> block = pending_block();
  block.is_committed = is_committed;
  block.locals_begin = locals_begin;
  block.locals_end = narrow(trail_.numbers.size());
  block.failed_assertion = executor_->failed_assertion();
  const std::uint32_t forced = trail_.copy_forced(pending.forced);
  ForcedOrder<Set>(trail_.forced(forced)).append(block.call, block.past);
  const BlockId number = trail_.blocks.next_id();
  trail_.order.push_back({number, forced});
  trail_.blocks.push_back(block);
  register_block(number);

  bool is_possible = true;
  if (rules_.sight) is_possible = is_parallel_possible(forced);
  if (witness_) is_possible = has_witness(block, pending.is_left_out);
  if (is_possible) {
    on_block();
  } else {
    count_blocked();
  }
  if (witness_) witness_->pop();

  unregister_block(trail_.order.back().block);
  trail_.cut(mark);
  pending_ = pending;
}

template <class Set>
void Walk<Set>::register_block(BlockId number) {
  Block<Set>& block = trail_.blocks[number];
  present_.insert(block.call);
  block_of_[block.call] = number;
  if (rules_.is_linear() && rules_.has_snapshot(block.call)) {
    for (const ReadEvent<Set>& read : trail_.reads_of(block))
      readings_[read.key].push_back({block.call, read.writer});
  }
  if (!block.is_committed) return;
  for (const WriteEvent& write : trail_.writes_of(block)) {
    Set& all = writers_[write.key];
    if (rules_.sight) block.rivals |= all;
    all.insert(block.call);
    if (!is_small_number(write.value)) ++num_large_;
  }
  block.rivals.erase(block.call);
  if (rules_.sight) supersede(block, true);
}

template <class Set>
void Walk<Set>::unregister_block(BlockId number) {
  const Block<Set>& block = trail_.blocks[number];
  present_.erase(block.call);
  if (rules_.is_linear() && rules_.has_snapshot(block.call)) {
    for (const ReadEvent<Set>& read : trail_.reads_of(block)) {
      std::erase_if(readings_[read.key],
                    [&](const Reading& reading) { return reading.reader == block.call; });
    }
  }
  if (!block.is_committed) return;
  if (rules_.sight) supersede(block, false);
  for (const WriteEvent& write : trail_.writes_of(block)) {
    writers_[write.key].erase(block.call);
    if (!is_small_number(write.value)) --num_large_;
  }
}

template <class Set>
Set& Walk<Set>::writers(ProgramKey x) {
  while (!writers_.contains(x)) {
    const ProgramKey added = writers_.next_id();
    initial_.push_back(program_.keys().initial(added));
    is_fixed_.push_back(fixed_.contains(added));
    writers_.emplace_back();
    superseded_.emplace_back();
    readings_.emplace_back();
  }
  return writers_[x];
}

template <class Set>
std::int64_t Walk<Set>::value(CallId w, ProgramKey x) const {
  if (w == kInitialWriter) return initial_[x];
  const std::span<const WriteEvent> writes = trail_.writes_of(trail_.blocks[block_of_[w]]);
  std::size_t i = writes.size();
  while (writes[i - 1].key != x) --i;
  return writes[i - 1].value;
}

template <class Set>
const std::int64_t* Walk<Set>::own_write(ProgramKey x) {
  const std::size_t num_writes = trail_.writes.size() - pending_.writes_begin;
  for (; pending_.num_filtered < num_writes; ++pending_.num_filtered)
    pending_.written.insert(trail_.writes[pending_.writes_begin + pending_.num_filtered].key);
  if (!pending_.written.may_contain(x)) return nullptr;
  for (std::size_t i = trail_.writes.size(); i-- > pending_.writes_begin;) {
    if (trail_.writes[i].key == x) return &trail_.writes[i].value;
  }
  return nullptr;
}

template class Walk<TxnSet<1>>;
template class Walk<TxnSet<4>>;

}  // namespace isoscope::explore
