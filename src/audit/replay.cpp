#include "audit/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

Place place_in(const std::map<LocationKey, Place>& places, const LocationKey& location) {
  const auto found = places.find(location);
  return found == places.end() ? Place{} : found->second;
}

// Of the location, else of another column of the row.
Place place_of_row(const std::map<LocationKey, Place>& places, const LocationKey& location) {
  if (places.contains(location)) return places.at(location);
  for (const auto& [other, place] : places) {
    if (other.table == location.table && other.row == location.row && !other.attribute.is_entry())
      return place;
  }
  return {};
}

std::vector<ReplayEdge> edges_of(const Scenario& scenario, const Versions& versions,
                                 Conflicts conflicts) {
  ById<ScenarioCallId, std::size_t> place(scenario.calls.size());
  for (std::size_t i = 0; i < versions.order.size(); ++i) place[versions.order[i]] = i;
  std::vector<ReplayEdge> edges;
  for (const ScenarioCallId a : scenario.of_cycle()) {
    for (const ScenarioCallId b : scenario.of_cycle()) {
      if (a == b) continue;
      const CallTrace& from = versions.traces[a];
      const CallTrace& to = versions.traces[b];
      for (const auto& [location, writer] : to.read_from) {
        if (writer == a && !to.is_per_statement)
          edges.push_back({a, b, EdgeKind::Wr, location, to.reads.at(location),
                           place_in(from.write_places, location),
                           place_in(to.read_places, location)});
      }
      for (const StatementRead& read : to.statement_reads) {
        if (read.writer == a)
          edges.push_back({a, b, EdgeKind::Wr, read.at, read.value,
                           place_in(from.write_places, read.at), read.place});
      }
      for (const auto& write : from.writes) {
        const auto& location = write.first;
        const bool both = to.writes.contains(location) ||
                          (conflicts == Conflicts::Rows && !location.attribute.is_entry() &&
                           std::ranges::any_of(to.writes, [&](const auto& other) {
                             return other.first.table == location.table &&
                                    other.first.row == location.row &&
                                    !other.first.attribute.is_entry();
                           }));
        if (both && place[a] < place[b])
          edges.push_back({a,
                           b,
                           EdgeKind::Ww,
                           location,
                           {},
                           place_in(from.write_places, location),
                           place_of_row(to.write_places, location)});
      }
      for (const auto& [location, writer] : from.read_from) {
        const auto written = to.writes.find(location);
        if (from.is_per_statement || written == to.writes.end() || scenario.sees[a][b]) continue;
        if (writer && place[*writer] > place[b]) continue;
        if (written->second != from.reads.at(location))
          edges.push_back({a, b, EdgeKind::Rw, location, from.reads.at(location),
                           place_in(from.read_places, location),
                           place_in(to.write_places, location)});
      }
      for (const StatementRead& read : from.statement_reads) {
        const auto written = to.writes.find(read.at);
        if (written == to.writes.end() || place[b] < read.limit) continue;
        if (written->second != read.value)
          edges.push_back({a, b, EdgeKind::Rw, read.at, read.value, read.place,
                           place_in(to.write_places, read.at)});
      }
    }
  }
  return edges;
}

// A shortest cycle, by trying every start; among edges of a pair the first of the most telling
// kind: wr, then rw, then ww.
// A shortest cycle through the call, breadth first; rw edges are preferred, as they tell most.
std::vector<ReplayEdge> cycle_through(ScenarioCallId start, std::size_t num_calls,
                                      const std::vector<ReplayEdge>& edges) {
  ById<ScenarioCallId, std::optional<ReplayEdge>> by(num_calls);
  std::vector<ScenarioCallId> queue = {start};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (const EdgeKind kind : {EdgeKind::Rw, EdgeKind::Wr, EdgeKind::Ww}) {
      for (const ReplayEdge& edge : edges) {
        if (edge.from != queue[head] || edge.kind != kind) continue;
        if (edge.to == start) {
          std::vector<ReplayEdge> cycle = {edge};
          for (ScenarioCallId at = edge.from; at != start; at = cycle.back().from)
            cycle.push_back(*by[at]);
          std::ranges::reverse(cycle);
          return cycle;
        }
        if (by[edge.to]) continue;
        by[edge.to] = edge;
        queue.push_back(edge.to);
      }
    }
  }
  return {};
}

std::vector<ReplayEdge> cycle_of(const Scenario& scenario, const std::vector<ReplayEdge>& edges) {
  std::vector<ReplayEdge> best;
  for (const ScenarioCallId start : scenario.of_cycle()) {
    std::vector<ReplayEdge> cycle = cycle_through(start, scenario.calls.size(), edges);
    if (!cycle.empty() && (best.empty() || cycle.size() < best.size())) best = std::move(cycle);
  }
  return best;
}

// What a location holds after a call, whoever wrote it.
Value value_after(const Versions& versions, ScenarioCallId call, const LocationKey& location) {
  const auto initial = versions.initial.find(location);
  Value value = initial == versions.initial.end() ? Value() : initial->second;
  for (const ScenarioCallId other : versions.order) {
    const auto written = versions.traces[other].writes.find(location);
    if (written != versions.traces[other].writes.end()) value = written->second;
    if (other == call) break;
  }
  return value;
}

// What a row refers to after a call: whether the parent is there, or the entry of the UNIQUE
// constraint that the foreign key names. Nothing if that is no location, or a NULL is among it.
std::optional<LocationKey> parent_after(const Problem& problem, const Versions& versions,
                                        ScenarioCallId call, const LocationKey& child,
                                        const sql::ForeignKey& key) {
  const sql::Table& own = problem.app.table(child.table);
  const sql::Table& parent = problem.app.table(key.target);
  LocationKey target{.table = key.target, .row = {}, .attribute = kPresence};
  const std::vector<sql::ColumnId>* named = &parent.primary_key;
  for (const sql::UniqueId u : parent.unique.ids()) {
    if (std::ranges::is_permutation(*named, key.target_columns)) break;
    named = &parent.unique[u];
    target.attribute = Attribute::entry(u);
  }
  if (!std::ranges::is_permutation(*named, key.target_columns)) return {};
  for (const sql::ColumnId column : *named) {
    const auto at = std::ranges::find(key.target_columns, column);
    const sql::ColumnId from =
        key.columns[static_cast<std::size_t>(at - key.target_columns.begin())];
    const auto place = std::ranges::find(own.primary_key, from);
    target.row.push_back(
        place != own.primary_key.end()
            ? child.row[static_cast<std::size_t>(place - own.primary_key.begin())]
            : value_after(versions, call, {child.table, child.row, Attribute(from)}));
    if (target.row.back().is_null()) return {};
  }
  return target;
}

// A foreign key holds against all calls, seen or not: b cannot take away what a row refers to that
// a, which comes before it, inserted or made refer to it.
std::string unseen_child(const Problem& problem, const Versions& versions, ScenarioCallId a,
                         ScenarioCallId b) {
  const auto& removed = versions.traces[b].writes;
  for (const auto& [location, value] : versions.traces[a].writes) {
    if (location.attribute.is_entry()) continue;
    // By their definitions, levels know nothing of references that a row gets later.
    if (location.attribute != kPresence && !is_on_server(problem.levels)) continue;
    const sql::Table& child = problem.app.table(location.table);
    const LocationKey presence{location.table, location.row, kPresence};
    if (value_after(versions, a, presence) != Value(true)) continue;
    for (const sql::ForeignKey& key : child.foreign_keys) {
      if (location.attribute != kPresence &&
          std::ranges::find(key.columns, location.attribute.column()) == key.columns.end())
        continue;
      const auto parent = parent_after(problem, versions, a, location, key);
      if (!parent) continue;
      const auto gone = removed.find(*parent);
      if (gone != removed.end() && gone->second != Value(true))
        return fmt::format("a row of {} that another call wrote refers to what is gone",
                           child.name);
    }
  }
  return "";
}

// A key that a call takes though the call before has it, unseen; empty if there is none.
std::string taken_key(const Problem& problem, const Scenario& scenario, const Versions& versions) {
  std::map<LocationKey, ScenarioCallId> taken_by;
  for (const ScenarioCallId call : scenario.ar) {
    const CallTrace& trace = versions.traces[call];
    for (const auto& [location, value] : trace.writes) {
      if (location.attribute.is_column()) continue;
      if (value != Value(true)) {
        taken_by.erase(location);
        continue;
      }
      const auto [holder, is_free] = taken_by.emplace(location, call);
      if (is_free) continue;
      if (!trace.is_per_statement && !scenario.sees[call][holder->second])
        return fmt::format("{} is taken by {}, unseen", print(problem.app, location),
                           print(problem.app, scenario.calls[holder->second]));
      holder->second = call;  // it gave the old one back itself
    }
  }
  return "";
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

// Does a change the row in a way that FOR KEY SHARE waits for?
bool changes_identity(const Problem& problem, const CallTrace& a, TableId table,
                      const sql::RowKey& row) {
  const bool is_locked = std::ranges::any_of(a.lock_events, [&](const LockEvent& event) {
    return event.is_held && event.table == table && event.row == row &&
           event.mode == RowLock::Update;
  });
  return std::ranges::any_of(a.writes, [&](const auto& write) {
    const LocationKey& at = write.first;
    if (at.table != table || at.row != row || at.attribute.is_entry()) return false;
    const auto& keys = problem.app.table(table).unique;
    return is_locked || at.attribute == kPresence ||
           std::ranges::any_of(keys, [&](const auto& key) {
             return std::ranges::find(key, at.attribute.column()) != key.end();
           });
  });
}

// FOR KEY SHARE of b at READ COMMITTED, of a row that a, not in the snapshot of the statement, has
// deleted or changed in its keys: b waits for a, and looks at the row again. `position` is that of
// a in ar. Empty if there is no such row.
std::string stale_key_share(const Problem& problem, const CallTrace& a, const CallTrace& b,
                            std::size_t position) {
  for (const LockEvent& event : b.lock_events) {
    if (event.mode != RowLock::KeyShare || !event.is_held || event.is_advisory) continue;
    // What a foreign key finds is current.
    const bool is_stale = std::ranges::any_of(b.statement_reads, [&](const StatementRead& read) {
      return read.moment == event.moment && read.at.table == event.table &&
             read.at.row == event.row && read.limit <= position;
    });
    if (is_stale && changes_identity(problem, a, event.table, event.row))
      return fmt::format("FOR KEY SHARE waits for a change of a row of {}, and looks again",
                         problem.app.table(event.table).name);
  }
  return "";
}

// What the level's text does not say: locks, and pairs of functions that see each other. Empty if
// they are kept.
std::string broken_promise(const Problem& problem, const Scenario& scenario,
                           const Versions& versions) {
  if (rules_of(problem).keys_are_current) {
    if (std::string taken = taken_key(problem, scenario, versions); !taken.empty()) return taken;
  }
  for (std::size_t i = 0; i < scenario.ar.size(); ++i) {
    for (std::size_t j = i + 1; j < scenario.ar.size(); ++j) {
      const ScenarioCallId a = scenario.ar[i];
      const ScenarioCallId b = scenario.ar[j];
      if (scenario.sees[b][a]) continue;
      for (const auto& [f, g] : problem.serial) {
        const sql::FunctionId of_a = scenario.calls[a].function;
        const sql::FunctionId of_b = scenario.calls[b].function;
        if ((of_a == f && of_b == g) || (of_a == g && of_b == f))
          return fmt::format("{} does not see {}, though they are serial",
                             print(problem.app, scenario.calls[b]),
                             print(problem.app, scenario.calls[a]));
      }
      if (versions.traces[b].is_per_statement) {
        std::string stale = stale_key_share(problem, versions.traces[a], versions.traces[b], i);
        if (!stale.empty()) return stale;
        continue;
      }
      if (std::string orphan = unseen_child(problem, versions, a, b); !orphan.empty())
        return orphan;
      for (const auto& [location, value] : versions.traces[a].writes) {
        if (location.attribute.is_entry()) continue;
        const auto held = versions.traces[b].locks.find({location.table, location.row});
        if (held == versions.traces[b].locks.end()) continue;
        const bool is_gone =
            (location.attribute == kPresence && value == Value(false)) ||
            (is_on_server(problem.levels) &&
             changes_identity(problem, versions.traces[a], location.table, location.row));
        if (held->second != sql::Lock::KeyShare || is_gone)
          return fmt::format("{} locks a row without seeing {}, which wrote it",
                             print(problem.app, scenario.calls[b]),
                             print(problem.app, scenario.calls[a]));
      }
    }
  }
  return "";
}

}  // namespace

std::string_view name_of(Label label) {
  switch (label) {
    case Label::Observable:
      return "observable";
    case Label::ViewOnly:
      return "view-only";
    case Label::Spurious:
      return "spurious";
    case Label::Undecided:
      return "undecided";
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

}  // namespace

namespace {

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
