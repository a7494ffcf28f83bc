#pragma once
// Filters, counts and judges the complete histories that an engine comes to.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "check/check.h"
#include "explore/end_facts.h"
#include "explore/explore.h"
#include "explore/last_writers.h"
#include "explore/recording_packing.h"
#include "store/txn_set.h"
#include "support/assert.h"

namespace isoscope::explore {

// How often progress is reported.
inline constexpr std::uint64_t kStatesPerReport = 50'000;

inline std::int64_t value_of(const store::Recording& run, const KeyTable& keys, CallId writer,
                             ProgramKey x) {
  if (writer == kInitialWriter) return keys.initial(x);
  const std::vector<store::Access>& accesses = run.txns[writer].accesses;
  for (std::size_t i = accesses.size(); i-- > 0;) {
    if (!accesses[i].is_read && accesses[i].key == x) return accesses[i].value;
  }
  ISO_ASSERT(false);
  return 0;
}

// The complete history that lies on a trail, for the world outside; what fails when every call has
// ended is not judged yet.
template <class Set>
store::Recording recorded(const Executable& program, const EndState<Set>& end) {
  store::Recording run;
  run.txns.resize(program.outline().calls.size());
  for (const Entry& entry : end.order) {
    const Block<Set>& block = end.trail.blocks[entry.block];
    store::RecordedTxn& txn = run.txns[block.call];
    // The calls before it in its session stand before it.
    txn.is_left_out = program.outline().calls[block.call].attempt > 1 &&
                      run.txns[call_before(block.call)].is_committed;
    if (!txn.is_left_out) run.order.push_back(block.call);
    txn.is_committed = block.is_committed;
    txn.failed_assertion = block.failed_assertion;
    const auto locals = end.trail.locals_of(block);
    txn.locals.assign(locals.begin(), locals.end());
    std::uint32_t next_write = block.writes_begin;
    const auto add_writes = [&](std::uint32_t up_to) {
      for (; next_write < up_to; ++next_write) {
        const WriteEvent& write = end.trail.writes[next_write];
        txn.accesses.push_back({.key = write.key, .value = write.value});
      }
    };
    end.trail.for_each_read(block, [&](ProgramKey x, CallId writer, std::uint32_t num_writes) {
      add_writes(block.writes_begin + num_writes);
      txn.accesses.push_back({.is_read = true,
                              .key = x,
                              .value = value_of(run, program.keys(), writer, x),
                              .writer = writer});
    });
    add_writes(block.writes_end);
  }
  return run;
}

// Filters, counts and judges complete histories.
template <class Set>
class Collector final : public EndStates<Set>, public Findings {
 public:
  Collector(const Executable& program, const Plan& plan, const ExploreOptions& options,
            Control& control)
      : program_(program),
        plan_(plan),
        options_(options),
        control_(control),
        has_assertions_(program.has_assertions()) {}

  void on_end_state(const EndState<Set>& end) override {
    const std::uint64_t count = end_states_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (options_.progress && count % kStatesPerReport == 0) {
      const std::scoped_lock lock(mutex_);
      const std::uint64_t violating = violating_.load(std::memory_order_relaxed);
      options_.progress(violating == 0
                            ? fmt::format("exploring: {} histories so far", count)
                            : fmt::format("exploring: {} histories so far, {} violate an assertion",
                                          count, violating),
                        -1);
    }
    if (plan_.algorithm == Algorithm::Dfs && !is_first_order(end)) return;
    if (!is_valid(end)) return;
    histories_.fetch_add(1, std::memory_order_relaxed);
    const bool is_violating = has_assertions_ && fails(end);
    if (is_violating) violating_.fetch_add(1, std::memory_order_relaxed);
    if (!is_violating && !options_.on_history) return;
    const std::scoped_lock lock(mutex_);
    if (control_.is_stopped()) {
      // Of a run that was stopped, what the listener was told is what counts.
      if (options_.on_history) histories_.fetch_sub(1, std::memory_order_relaxed);
      if (options_.on_history && is_violating) violating_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    if (options_.on_history) options_.on_history(complete_run(end));
    if (options_.gives_up && options_.gives_up()) control_.stop_undecided();
    if (!is_violating) return;
    show(end);
    if (options_.stop_at_violation) control_.stop_behind(end.path);
  }

  std::string packed() override {
    const std::scoped_lock lock(mutex_);
    Packer out;
    out.number(histories_).number(violating_).number(end_states_);
    out.number(control_.repeated).number(control_.blocked).number(control_.calls);
    out.number(control_.is_out_of_time() ? 1 : 0).number(violations_.size());
    for (const Shown& shown : violations_) {
      out.numbers(shown.path);
      pack(out, program_, shown.run);
    }
    const std::optional<Fault> fault = control_.fault();
    out.number(fault ? 1 : 0);
    if (fault) {
      out.numbers(control_.fault_path()).number(fault->call.index);
      pack(out, fault->error);
    }
    if (options_.pack_listener) options_.pack_listener(out);
    return out.take();
  }

  bool merge(std::string_view packed) override {
    const std::scoped_lock lock(mutex_);
    Unpacker in(packed);
    histories_ += in.number();
    violating_ += in.number();
    end_states_ += in.number();
    control_.repeated += in.number();
    control_.blocked += in.number();
    control_.calls += in.number();
    if (in.number() != 0) control_.stop_undecided();
    for (std::size_t i = in.count(); i-- > 0 && in.is_good();) {
      Path path = in.numbers();
      store::Recording run = unpack_recording(in, program_);
      if (options_.stop_at_violation) control_.stop_behind(path);
      insert({std::move(path), std::move(run)});
    }
    if (in.number() != 0) {
      const Path path = in.numbers();
      const CallId call{in.small()};
      control_.report({unpack_error(in), call}, path);
    }
    if (options_.merge_listener) options_.merge_listener(in);
    return in.is_good();
  }

  Exploration result() {
    Exploration all;
    all.histories = histories_;
    all.violating = violating_;
    all.end_states = end_states_ + control_.repeated;
    all.blocked = control_.blocked;
    all.calls = control_.calls;
    // One thread that stops at a violation does not come to a fault behind it.
    const bool stops_before = options_.stop_at_violation && !violations_.empty() &&
                              control_.is_fault_behind(violations_.front().path);
    if (!stops_before) all.fault = control_.fault();
    for (Shown& shown : violations_) all.violations.push_back(std::move(shown.run));
    all.is_out_of_time = control_.is_out_of_time();
    if (all.is_out_of_time) all.limit = limit_reached();
    if (all.violating > 0) {
      all.outcome = ExploreOutcome::Violated;
    } else if (!all.is_out_of_time && !all.fault) {
      all.outcome = ExploreOutcome::Complete;
    }
    return all;
  }

 private:
  struct Shown {
    Path path;
    store::Recording run;
  };

  // Keeps the violations that one thread would find first.
  void show(const EndState<Set>& end) {
    if (violations_.size() >= options_.max_violations &&
        (violations_.empty() || violations_.back().path < end.path))
      return;
    ISO_ASSERT(outcome_by_check(end) != Outcome::Violated);  // what we show, check allows
    Shown shown{end.path, complete_run(end)};
    keep_keys(program_, shown.run);
    insert(std::move(shown));
  }

  void insert(Shown added) {
    const auto at = std::find_if(violations_.begin(), violations_.end(),
                                 [&](const Shown& shown) { return added.path < shown.path; });
    violations_.insert(at, std::move(added));
    if (violations_.size() > options_.max_violations) violations_.pop_back();
  }

  // dfs comes to a history by all its orders; it counts when it comes by the first (by_txn.h).
  bool is_first_order(const EndState<Set>& end) const {
    const auto& calls = program_.outline().calls;
    for (std::size_t i = 0; i < end.order.size(); ++i) {
      const Block<Set>& block = end.trail.blocks[end.order[i].block];
      for (std::size_t j = i; j-- > 0;) {
        const CallId before = end.trail.blocks[end.order[j].block].call;
        if (block.read_from.contains(before) || calls[before].session == calls[block.call].session)
          break;
        if (before > block.call) return false;
      }
    }
    return true;
  }

  bool is_valid(const EndState<Set>& end) {
    switch (plan_.filter) {
      case Plan::Filter::None: return true;
      case Plan::Filter::Weak: return is_weak(end);
      case Plan::Filter::Strong: return is_strong(end);
      case Plan::Filter::Check: return is_checked(end);
    }
    return true;
  }

  bool is_weak(const EndState<Set>& end) const {
    return forced_rows(program_, end, plan_.weak_filter).has_value();
  }

  bool is_strong(const EndState<Set>& end) {
    Budget budget = options_.budget;
    const auto facts = linear_facts(program_, end, [](CallId) { return true; });
    const bool is_possible = Linearizer<Set>().is_possible(facts, plan_.strong_filter, budget);
    if (!is_possible && budget.expired()) control_.stop_undecided();
    return is_possible;
  }

  bool is_checked(const EndState<Set>& end) {
    // Without names and values, and without the confirmation that what is shown gets.
    const History h = numbered_history(program_, end);
    const auto levels = assign_levels(h, *plan_.level, *plan_.levels);
    ISO_ASSERT(levels.ok());  // make_plan() has tried them before
    Budget budget = options_.budget;
    const Outcome outcome = Checker(h, {.confirm = false}).check(*levels, budget).verdict.outcome;
    if (outcome == Outcome::Unknown) control_.stop_undecided();
    return outcome == Outcome::Consistent;
  }

  // What check says of the history, which shares no code with the engines.
  Outcome outcome_by_check(const EndState<Set>& end) const {
    const History h = to_history(program_, recorded(program_, end));
    const auto levels = assign_levels(h, *plan_.level, *plan_.levels);
    ISO_ASSERT(levels.ok());  // make_plan() has tried them before
    Budget budget = options_.budget;
    return Checker(h).check(*levels, budget).verdict.outcome;
  }

  std::vector<Ending> endings(const EndState<Set>& end) const {
    std::vector<Ending> all(end.order.size());
    for (const Entry& entry : end.order) {
      const Block<Set>& block = end.trail.blocks[entry.block];
      all[block.call.index] = {block.is_committed, end.trail.locals_of(block)};
    }
    return all;
  }

  bool fails(const EndState<Set>& end) {
    const bool fails_inside =
        std::any_of(end.order.begin(), end.order.end(), [&](const Entry& entry) {
          return end.trail.blocks[entry.block].failed_assertion.has_value();
        });
    const Judgement judgement = judge(end);
    if (judgement.fault) {
      control_.report({*judgement.fault, CallId::none()}, end.path);
      return false;
    }
    return fails_inside || judgement.failed;
  }

  // What claims about the finished run say, in the first commit order in which one fails, else in
  // the first of all.
  struct Judgement {
    std::optional<AssertionId> failed;
    std::optional<Error> fault;
    std::vector<store::FinalValue> finals;
  };
  Judgement judge(const EndState<Set>& end) {
    const std::vector<Ending> all = endings(end);
    Judgement judgement;
    bool is_first = true;
    std::vector<std::int64_t> values;
    const auto look = [&](std::span<const store::FinalValue> finals) {
      values.clear();
      for (const store::FinalValue& each : finals) values.push_back(each.value);
      const auto failed = program_.failed_at_end(all, values);
      if (failed && !judgement.fault) judgement.fault = program_.fault_at_end(all, values);
      if (is_first || (failed && !judgement.failed)) {
        judgement.failed = failed;
        judgement.finals.assign(finals.begin(), finals.end());
      }
      is_first = false;
      return !judgement.fault.has_value();
    };
    if (program_.final_keys().empty()) {
      look({});
      return judgement;
    }
    Budget budget = options_.budget;
    if (!LastWriters<Set>(program_, *plan_.exact, end, budget).for_each(look))
      control_.stop_undecided();
    return judgement;
  }

  store::Recording complete_run(const EndState<Set>& end) {
    store::Recording run = recorded(program_, end);
    Judgement judgement = judge(end);
    run.failed_at_end = judgement.failed;
    run.finals = std::move(judgement.finals);
    return run;
  }

  const Executable& program_;
  const Plan& plan_;
  const ExploreOptions& options_;
  Control& control_;
  const bool has_assertions_;
  std::atomic<std::uint64_t> end_states_{0};
  std::atomic<std::uint64_t> histories_{0};
  std::atomic<std::uint64_t> violating_{0};
  std::mutex mutex_;
  std::vector<Shown> violations_;  // by path
};

}  // namespace isoscope::explore
