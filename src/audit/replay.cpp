#include "audit/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "audit/replay_edges.h"
#include "audit/replay_promises.h"
#include "audit/replay_schedule.h"
#include "audit/replay_view.h"
#include "audit/server_levels.h"
#include "spec/evaluate.h"
#include "sql/evaluate.h"

namespace isoscope::audit {

namespace {

using sql::TableId;
using sql::Value;

// The final value of every location, without absent rows and entries of UNIQUE constraints.
std::map<LocationKey, Value> final_state(const Versions& versions) {
  std::map<LocationKey, Value> state = versions.initial;
  for (const ScenarioCallId call : versions.order) {
    for (const auto& [location, value] : versions.traces[call].writes) state[location] = value;
  }
  std::erase_if(state, [&](const auto& entry) {
    const LocationKey presence{entry.first.table, entry.first.row, kPresence};
    const auto found = state.find(presence);
    return entry.first.attribute != kPresence &&
           (found == state.end() || found->second != Value(true));
  });
  std::erase_if(state, [](const auto& entry) {
    return entry.first.attribute.is_entry() ||
           (entry.first.attribute == kPresence && entry.second != Value(true));
  });
  return state;
}

// What its statements found: rows that met their WHERE, and what they read of those. Other rows,
// absent or not, were looked at in vain; so was an absent one that the call itself put there later.
std::map<LocationKey, Value> seen_by(const CallTrace& trace) {
  std::map<LocationKey, Value> seen;
  for (const auto& [moment, at] : trace.read_at) {
    if (!trace.matched_at.contains({moment, at.table, at.row})) continue;
    const Value& value = trace.reads.at(at);
    if (at.attribute != kPresence || value != Value(false)) seen.emplace(at, value);
  }
  return seen;
}

// The same, statement by statement.
std::map<std::pair<MomentId, LocationKey>, Value> seen_by_statements(const CallTrace& trace) {
  std::map<std::pair<MomentId, LocationKey>, Value> seen;
  for (const StatementRead& read : trace.statement_reads) {
    const bool is_vain = !trace.matched_at.contains({read.moment, read.at.table, read.at.row}) ||
                         (read.at.attribute == kPresence && read.value == Value(false));
    if (!is_vain) seen.emplace(std::pair(read.moment, read.at), read.value);
  }
  return seen;
}

bool same_view(const CallTrace& a, const CallTrace& b) {
  return a.is_per_statement ? seen_by_statements(a) == seen_by_statements(b)
                            : seen_by(a) == seen_by(b);
}

bool same_result(const CallTrace& a, const CallTrace& b) {
  return a.result.committed == b.result.committed && a.result.returned == b.result.returned;
}

// A cycle of calls that are all at SERIALIZABLE.
bool has_serializable_cycle(const Problem& problem, const Scenario& scenario,
                            std::vector<ReplayEdge> edges) {
  const auto is_top = [&](ScenarioCallId call) {
    return &problem.levels.of(scenario.calls[call].function) == &pg_serializable();
  };
  std::erase_if(edges,
                [&](const ReplayEdge& edge) { return !is_top(edge.from) || !is_top(edge.to); });
  return !cycle_of(scenario, edges).empty();
}

}  // namespace

std::string_view name_of(Label label) {
  switch (label) {
    case Label::Observable: return "observable";
    case Label::ViewOnly: return "view-only";
    case Label::Spurious: return "spurious";
    case Label::Undecided: return "undecided";
  }
  return "";
}

namespace {

// Runs the scenario as its visibility says; false as of run_call().
bool run_weak(const Problem& problem, const Scenario& scenario, const sql::Changes& changes,
              Versions& weak, Budget& budget) {
  // A scan looks at every row that any call inserts, also at those of calls that run later: the
  // first round finds out which those are.
  for (int round = 0; round < 2; ++round) {
    const auto rows = std::move(weak.rows);
    weak = start_of(problem, scenario);
    weak.rows.insert(rows.begin(), rows.end());
    for (const ScenarioCallId call : scenario.ar) {
      const auto* snapshots = scenario.snapshots.empty() ? nullptr : &scenario.snapshots[call];
      if (!run_call(problem, scenario, call, scenario.sees[call], snapshots, changes, weak, budget))
        return false;
    }
  }
  return true;
}

// Why the run is not what the model said, or does not meet its levels; empty if it is and does.
std::string why_not_allowed(const Problem& problem, const Scenario& scenario,
                            const Versions& weak) {
  if (std::string broken = broken_promise(problem, scenario, weak); !broken.empty()) return broken;
  for (const CallTrace& trace : weak.traces) {
    if (!trace.impossible.empty()) return trace.impossible;
  }
  // Texts of levels know one view a call; with more of them, a schedule must show that it can be.
  if (has_per_statement(weak.traces)) return "";
  const auto history = to_history(problem, scenario, weak.traces, false);
  if (!history) return "the run is no history";
  Assignment levels{.base = problem.levels.base};
  if (problem.levels.is_mixed()) {
    levels.own.assign(scenario.calls.size() + 1, nullptr);
    for (const ScenarioCallId call : scenario.calls.ids())
      levels.own[call.index + 1] = &problem.levels.of(scenario.calls[call].function);
  }
  const Execution execution{*history->history, history->witness};
  const auto failure = evaluate(levels, execution);
  return failure ? describe(*failure, *history->history) : "";
}

// Does the server let the run commit? If it does, `why` stays empty.
void ask_server(const Problem& problem, const Scenario& scenario, Replay& run) {
  auto schedule = schedule_of(scenario, run.traces);
  if (!schedule) {
    run.why = schedule.error().what;
    return;
  }
  if (has_serializable_cycle(problem, scenario, run.edges)) {
    run.why = unnoticed(problem.app);
    run.label = run.why.empty() ? Label::Spurious : Label::Undecided;
    if (run.why.empty()) run.why = "the server ends one of the calls at SERIALIZABLE";
    return;
  }
  if (shows_its_order(run.traces)) run.schedule = *std::move(schedule);
}

// What a serial run has in common with the weak one.
struct Likeness {
  bool same = true;  // results and final state
  bool same_view = true;
};

Likeness likeness_of(const Versions& weak, const std::map<LocationKey, Value>& weak_end,
                     const Versions& serial) {
  Likeness likeness;
  for (const ScenarioCallId call : weak.traces.ids())
    likeness.same = likeness.same && same_result(weak.traces[call], serial.traces[call]);
  likeness.same = likeness.same && final_state(serial) == weak_end;
  // Most serial orders differ by now; what was seen takes longest to compare.
  for (const ScenarioCallId call : weak.traces.ids()) {
    likeness.same_view =
        likeness.same && likeness.same_view && same_view(weak.traces[call], serial.traces[call]);
  }
  return likeness;
}

// A value that its column or parameter cannot hold; empty if there is none.
std::string misfit_at_start(const Problem& problem, const Scenario& scenario) {
  for (const sql::InitialRow& row : scenario.rows) {
    const auto& columns = problem.app.table(row.table).columns;
    for (const sql::ColumnId c : columns.ids()) {
      if (const auto why = sql::why_not_in(columns[c].width, row.values[c])) return why->what;
    }
  }
  for (const ScenarioCall& call : scenario.calls) {
    const auto& parameters = problem.app.function(call.function).variables;
    for (std::size_t p = 0; p < call.arguments.size(); ++p) {
      if (const auto why = sql::why_not_in(parameters[p].width, call.arguments[p]))
        return why->what;
    }
  }
  return "";
}

}  // namespace

std::optional<Replay> replay(const Problem& problem, const Scenario& scenario, Budget& budget) {
  Replay result;
  result.why = misfit_at_start(problem, scenario);
  if (!result.why.empty()) return result;
  const sql::Changes changes(problem.app);
  Versions weak;
  if (!run_weak(problem, scenario, changes, weak, budget)) {
    if (budget.expired_now()) return std::nullopt;
    result.label = Label::Undecided;
    result.why = weak.why_stopped;
    return result;
  }
  result.traces = weak.traces;
  for (const ScenarioCallId call : scenario.calls.ids()) {
    if (weak.traces[call].result.committed) continue;
    result.why = fmt::format("{} aborts: {}", print(problem.app, scenario.calls[call]),
                             weak.traces[call].result.why_aborted);
    return result;
  }
  result.edges = edges_of(scenario, weak, rules_of(problem).conflicts);
  result.cycle = cycle_of(scenario, result.edges);
  result.why = why_not_allowed(problem, scenario, weak);
  if (result.why.empty() && is_on_server(problem.levels)) ask_server(problem, scenario, result);
  if (!result.why.empty()) return result;

  const std::map<LocationKey, Value> weak_end = final_state(weak);
  std::vector<ScenarioCallId> order(
      scenario.ar.begin(), scenario.ar.begin() + static_cast<std::ptrdiff_t>(scenario.prefix));
  for (const ScenarioCallId call : scenario.of_cycle()) order.push_back(call);
  const auto first = order.begin() + static_cast<std::ptrdiff_t>(scenario.prefix);
  const ById<ScenarioCallId, bool> everything(scenario.calls.size(), true);
  std::set<std::pair<TableId, sql::RowKey>> touched = weak.touched;
  result.label = Label::Observable;
  result.why = "no serial order has these results and this final state";
  bool has_undecided_order = false;
  do {
    if (budget.expired_now()) return std::nullopt;
    Versions serial = start_of(problem, scenario);
    bool is_run = true;
    for (const ScenarioCallId call : order)
      is_run =
          is_run && run_call(problem, scenario, call, everything, nullptr, changes, serial, budget);
    touched.insert(serial.touched.begin(), serial.touched.end());
    if (!is_run) {
      has_undecided_order = true;
      continue;
    }
    const Likeness likeness = likeness_of(weak, weak_end, serial);
    if (!likeness.same) continue;
    if (likeness.same_view) {
      result.label = Label::Spurious;
      result.why = "a serial order has the same results, reads and final state";
      return result;
    }
    result.label = Label::ViewOnly;
    result.why = "a serial order has the same results and final state, but reads something else";
  } while (std::next_permutation(first, order.end()));
  if (budget.expired_now()) return std::nullopt;
  if (has_undecided_order) {
    result.label = Label::Undecided;
    result.why = "a call runs too long in a serial order";
    return result;
  }
  for (std::size_t i = 0; i < scenario.rows.size(); ++i) {
    const sql::InitialRow& row = scenario.rows[i];
    if (touched.contains({row.table, key_of(problem.app.table(row.table), row)}))
      result.rows_that_matter.push_back(i);
  }
  return result;
}

}  // namespace isoscope::audit
