#include "audit/replay_schedule.h"

#include <algorithm>

namespace isoscope::audit {

namespace {

// The table of lock modes of PostgreSQL; an INSERT waits for whoever has its key, and who changes
// the row of an INSERT (DO UPDATE) for that one.
bool exclude(RowLock a, RowLock b) {
  const RowLock weak = std::min(a, b);
  const RowLock strong = std::max(a, b);
  switch (weak) {
    case RowLock::KeyShare: return strong == RowLock::Update;
    case RowLock::Share: return strong >= RowLock::NoKeyUpdate;
    default: return true;
  }
}

class Scheduler {
 public:
  // Calls that keep one snapshot take it with their first statement, or before.
  enum class Snapshots : std::uint8_t { WithStatements, Before };

  Scheduler(const Scenario& scenario, const Traces& traces, Snapshots snapshots)
      : scenario_(scenario), traces_(traces), snapshots_(snapshots), place_(scenario.calls.size()) {
    for (std::size_t i = 0; i < scenario.ar.size(); ++i) place_[scenario.ar[i]] = i;
    for (const ScenarioCallId call : scenario.calls.ids()) {
      if (begins_early(call)) nodes_.push_back({.call = call, .is_snapshot = true});
      first_.push_back(nodes_.size());
      for (const MomentId m : traces[call].moments.ids())
        nodes_.push_back({.call = call, .moment = m});
      nodes_.push_back({.call = call});
    }
    before_.resize(nodes_.size());
  }

  Result<std::vector<ScheduleStep>> run() {
    for (std::size_t i = 0; i + 1 < scenario_.ar.size(); ++i)
      add(commit(scenario_.ar[i]), commit(scenario_.ar[i + 1]));
    for (const ScenarioCallId call : scenario_.calls.ids()) {
      if (auto placed = place_statements(call); !placed) return placed.error();
    }
    for (const ScenarioCallId a : scenario_.calls.ids()) {
      for (const ScenarioCallId b : scenario_.calls.ids()) {
        if (place_[a] >= place_[b]) continue;
        if (auto kept = keep_locks(a, b); !kept) return kept.error();
      }
    }
    for (const ScenarioCallId call : scenario_.calls.ids()) {
      wait_for_writers(call);
      wait_for_entries(call);
      go_before_who_frees(call);
    }
    return in_order();
  }

 private:
  static Error impossible(std::string what) { return {.what = std::move(what)}; }
  std::size_t node(ScenarioCallId call, MomentId moment) const {
    return first_[call] + moment.index;
  }
  // The node of its snapshot is the one before its first.
  bool begins_early(ScenarioCallId call) const {
    return snapshots_ == Snapshots::Before && !traces_[call].is_per_statement &&
           !traces_[call].moments.empty();
  }
  std::size_t commit(ScenarioCallId call) const {
    return first_[call] + traces_[call].moments.size();
  }
  void add(std::size_t earlier, std::size_t later) { before_[later].push_back(earlier); }

  // Calls of ar in the snapshot of a moment.
  std::size_t snapshot(ScenarioCallId call, MomentId moment) const {
    if (traces_[call].is_per_statement) return traces_[call].moments[moment].snapshot;
    return static_cast<std::size_t>(std::ranges::count(scenario_.sees[call], true));
  }

  void place_snapshot(ScenarioCallId call, std::size_t at, std::size_t count) {
    if (count > 0) add(commit(scenario_.ar[count - 1]), at);
    if (count < place_[call]) add(at, commit(scenario_.ar[count]));
  }

  Result<void> place_statements(ScenarioCallId call) {
    const CallTrace& trace = traces_[call];
    for (const MomentId m : trace.moments.ids()) {
      add(node(call, m), node(call, m) + 1);  // the next one, or the commit
      if (trace.is_per_statement) place_snapshot(call, node(call, m), snapshot(call, m));
    }
    if (begins_early(call)) {
      add(first_[call] - 1, first_[call]);
      place_snapshot(call, first_[call] - 1, snapshot(call, MomentId{0}));
    } else if (!trace.is_per_statement && !trace.moments.empty()) {
      place_snapshot(call, first_[call], snapshot(call, MomentId{0}));
    }
    if (trace.is_per_statement) return {};
    for (std::size_t i = 0; i < scenario_.ar.size(); ++i) {
      if (scenario_.sees[call][scenario_.ar[i]] != (i < snapshot(call, MomentId{0})))
        return impossible("a snapshot is no beginning of the order of commits");
    }
    return {};
  }

  // a commits before b.
  Result<void> keep_locks(ScenarioCallId a, ScenarioCallId b) {
    for (const LockEvent& first : traces_[a].lock_events) {
      if (!first.is_held) continue;
      for (const LockEvent& second : traces_[b].lock_events) {
        if (first.table != second.table || first.row != second.row ||
            !exclude(first.mode, second.mode))
          continue;
        const bool is_seen = place_[a] < snapshot(b, second.moment);
        if (is_seen) continue;
        if (!traces_[b].is_per_statement && first.is_write && second.mode != RowLock::KeyShare &&
            second.mode != RowLock::Insert)
          return impossible("the server ends a call that writes a row which another one changed");
        wait(b, second.moment, a, first.moment);
        // A call that only tries has the lock because no other call held it.
        if (!second.may_wait) add(commit(a), node(b, second.moment));
      }
    }
    return {};
  }
  void wait(ScenarioCallId who, MomentId moment, ScenarioCallId for_whom, MomentId since) {
    add(node(for_whom, since), node(who, moment));
    add(commit(for_whom), node(who, moment) + 1);
    nodes_[node(who, moment)].waits_for = for_whom;
  }

  // What a statement finds that is not in its snapshot, such as a UNIQUE value that became free, it
  // has waited for: the other call had begun to change it. The check of a foreign key does
  // not wait for an INSERT: the row that it finds was committed.
  void wait_for_writers(ScenarioCallId call) {
    for (const StatementRead& read : traces_[call].statement_reads) {
      if (!read.writer || place_[*read.writer] < snapshot(call, read.moment)) continue;
      const auto& events = traces_[*read.writer].write_events;
      const auto first = std::ranges::find(events, read.at, &WriteEvent::at);
      if (first == events.end()) continue;
      wait(call, read.moment, *read.writer, first->moment);
      if (read.at.attribute == kPresence && read.value == sql::Value(true) &&
          only_shares_key(traces_[call], read))
        add(commit(*read.writer), node(call, read.moment));
    }
  }
  // A call that keeps one snapshot takes a UNIQUE value which is not free there: it has waited for
  // whoever took or freed it since.
  void wait_for_entries(ScenarioCallId call) {
    if (traces_[call].is_per_statement) return;
    for (const WriteEvent& taken : traces_[call].write_events) {
      if (!taken.at.attribute.is_entry()) continue;
      for (const ScenarioCallId other : scenario_.calls.ids()) {
        if (place_[other] >= place_[call] || scenario_.sees[call][other]) continue;
        const auto& events = traces_[other].write_events;
        const auto first = std::ranges::find(events, taken.at, &WriteEvent::at);
        if (first != events.end()) wait(call, taken.moment, other, first->moment);
      }
    }
  }
  static bool only_shares_key(const CallTrace& trace, const StatementRead& read) {
    bool shares = false;
    for (const LockEvent& lock : trace.lock_events) {
      if (lock.moment != read.moment || lock.table != read.at.table || lock.row != read.at.row)
        continue;
      if (lock.mode != RowLock::KeyShare) return false;
      shares = true;
    }
    return shares;
  }

  // DO NOTHING that finds a key taken waits for a call that is about to free it, and would then
  // insert: whoever frees it begins later.
  void go_before_who_frees(ScenarioCallId call) {
    for (const WriteEvent& found : traces_[call].keys_found) {
      for (const ScenarioCallId other : scenario_.calls.ids()) {
        if (other == call || place_[other] < snapshot(call, found.moment)) continue;
        for (const WriteEvent& event : traces_[other].write_events) {
          if (event.at == found.at) add(node(call, found.moment), node(other, event.moment));
        }
      }
    }
  }

  // The earliest in the order of commits first, where there is a choice.
  Result<std::vector<ScheduleStep>> in_order() {
    std::vector<bool> is_done(nodes_.size(), false);
    std::vector<ScheduleStep> steps;
    for (std::size_t count = 0; count < nodes_.size(); ++count) {
      std::optional<std::size_t> next;
      for (std::size_t n = 0; n < nodes_.size(); ++n) {
        const bool is_ready = !is_done[n] && std::ranges::all_of(before_[n], [&](std::size_t e) {
          return is_done[e];
        });
        if (is_ready && (!next || place_[nodes_[n].call] < place_[nodes_[*next].call])) next = n;
      }
      if (!next)
        return impossible("no order of statements and commits has these snapshots and locks");
      is_done[*next] = true;
      const ScheduleStep& step = nodes_[*next];
      if (!step.moment || !traces_[step.call].moments[*step.moment].is_second_look)
        steps.push_back(step);
    }
    drop_plain_snapshots(steps);
    return steps;
  }
  // A snapshot that the first statement follows at once is taken by it.
  static void drop_plain_snapshots(std::vector<ScheduleStep>& steps) {
    std::vector<ScheduleStep> kept;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const bool is_plain =
          steps[i].is_snapshot && i + 1 < steps.size() && steps[i + 1].call == steps[i].call;
      if (!is_plain) kept.push_back(steps[i]);
    }
    steps = std::move(kept);
  }

  const Scenario& scenario_;
  const Traces& traces_;
  Snapshots snapshots_;
  ById<ScenarioCallId, std::size_t> place_;  // in ar
  ById<ScenarioCallId, std::size_t> first_;  // node of its first statement, or commit
  std::vector<ScheduleStep> nodes_;
  std::vector<std::vector<std::size_t>> before_;
};

}  // namespace

bool has_per_statement(const Traces& traces) {
  return std::ranges::any_of(traces, &CallTrace::is_per_statement);
}

bool shows_its_order(const Traces& traces) {
  return std::ranges::any_of(traces, [](const CallTrace& trace) {
    return trace.is_per_statement || !trace.keys_found.empty() ||
           std::ranges::any_of(trace.lock_events, &LockEvent::is_advisory);
  });
}

Result<std::vector<ScheduleStep>> schedule_of(const Scenario& scenario, const Traces& traces) {
  auto schedule = Scheduler(scenario, traces, Scheduler::Snapshots::WithStatements).run();
  if (schedule || std::ranges::all_of(traces, &CallTrace::is_per_statement)) return schedule;
  return Scheduler(scenario, traces, Scheduler::Snapshots::Before).run();
}

}  // namespace isoscope::audit
