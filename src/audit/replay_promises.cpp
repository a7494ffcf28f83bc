#include "audit/replay_promises.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "audit/server_levels.h"

namespace isoscope::audit {

namespace {

using sql::TableId;
using sql::Value;

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

}  // namespace

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

}  // namespace isoscope::audit
