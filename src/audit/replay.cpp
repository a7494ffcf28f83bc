#include "audit/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "history/builder.h"
#include "spec/evaluate.h"
#include "sql/memory_database.h"

namespace isoscope::audit {

namespace {

using sql::TableId;
using sql::Value;

constexpr std::int64_t kFreshPerCall = 1000;
constexpr std::size_t kMaxSteps = 10'000;

// All versions of all locations, as far as calls have run.
struct Versions {
  std::map<LocationKey, Value> initial;
  std::set<std::pair<TableId, sql::RowKey>> rows;  // that anybody ever had
  std::vector<CallTrace> traces;
  std::vector<std::size_t> order;                     // calls that have run, in the order of ar
  std::set<std::pair<TableId, sql::RowKey>> touched;  // rows that a call looked at or changed
};

// The database as one call sees it.
class View final : public sql::Database {
 public:
  View(const Problem& problem, Versions& versions, std::size_t call, const std::vector<bool>& sees,
       const sql::Changes& changes)
      : problem_(problem), versions_(versions), call_(call), sees_(sees), changes_(changes) {}

  CallTrace trace;

  std::vector<sql::RowKey> rows(TableId table) override {
    std::set<sql::RowKey> keys;
    for (const auto& [of, row] : versions_.rows) {
      if (of == table) keys.insert(row);
    }
    for (const auto& [location, value] : trace.writes) {
      if (location.table == table && location.column < kUniqueEntry) keys.insert(location.row);
    }
    return {keys.begin(), keys.end()};
  }
  bool is_present(TableId table, const sql::RowKey& key) override {
    const Value value = get({table, key, kPresence}, Value(false));
    return value == Value(true);
  }
  Value read(TableId table, const sql::RowKey& key, std::uint32_t column) override {
    return get({table, key, column}, Value());
  }
  void set_present(TableId table, const sql::RowKey& key, bool present) override {
    trace.writes[{table, key, kPresence}] = Value(present);
  }
  void write(TableId table, const sql::RowKey& key, std::uint32_t column, Value value) override {
    trace.writes[{table, key, column}] = std::move(value);
  }
  void matched(TableId table, const sql::RowKey& key) override {
    trace.matched.insert({table, key});
  }
  void lock(TableId table, const sql::RowKey& key) override { trace.locks.insert({table, key}); }
  std::optional<UniqueAnswer> find_unique(TableId table, std::uint32_t constraint,
                                          std::span<const Value> values,
                                          const std::optional<sql::RowKey>& except) override {
    const std::vector<std::uint32_t>& columns = problem_.app.table(table).unique[constraint];
    // The entry is what the transaction looks at; the rows say what it finds.
    get({table, {values.begin(), values.end()}, kUniqueEntry + constraint}, Value(false));
    UniqueAnswer answer;
    for (const sql::RowKey& key : rows(table)) {
      if (key == except || peek({table, key, kPresence}).value != Value(true)) continue;
      if (entry_of(table, key, columns) == sql::RowKey(values.begin(), values.end()))
        answer.row = key;
    }
    return answer;
  }
  // What the call did to entries, from what it did to rows.
  void write_entries() {
    std::set<std::pair<TableId, sql::RowKey>> changed;
    for (const auto& [location, value] : trace.writes)
      changed.insert({location.table, location.row});
    std::map<LocationKey, Value> freed;
    std::map<LocationKey, Value> taken;
    for (const bool is_after : {false, true}) {
      use_own_ = is_after;
      for (const auto& [table, key] : changed) {
        const auto& constraints = problem_.app.table(table).unique;
        if (constraints.empty() || peek({table, key, kPresence}).value != Value(true)) continue;
        for (std::uint32_t u = 0; u < constraints.size(); ++u) {
          const sql::RowKey entry = entry_of(table, key, constraints[u]);
          if (std::ranges::any_of(entry, [](const Value& v) { return v.is_null(); })) continue;
          (is_after ? taken : freed)[{table, entry, kUniqueEntry + u}] = Value(is_after);
        }
      }
    }
    for (const auto& [location, value] : freed) {
      if (!taken.contains(location)) trace.writes[location] = value;
    }
    for (const auto& [location, value] : taken) {
      if (!freed.contains(location)) trace.writes[location] = value;
    }
  }
  Value fresh(TableId table, std::uint32_t column) override {
    // The same in every order of the calls.
    return sql::fresh_value(problem_.app.table(table).columns[column],
                            kFreshPerCall * (static_cast<std::int64_t>(call_) + 1) + next_fresh_++);
  }

 private:
  bool changes(const LocationKey& location) const {
    if (location.column == kPresence) return !changes_.has_fixed_rows(location.table);
    if (location.column >= kUniqueEntry) return true;
    return !changes_.is_static(location.table, location.column);
  }
  struct Seen {
    Value value;
    std::optional<std::size_t> writer;
    bool is_own = false;
  };
  // What is there, without looking at it.
  Seen peek(const LocationKey& location, Value absent = Value()) const {
    const auto own = trace.writes.find(location);
    if (use_own_ && own != trace.writes.end()) return {own->second, std::nullopt, true};
    Seen seen{std::move(absent), std::nullopt, false};
    const auto initial = versions_.initial.find(location);
    if (initial != versions_.initial.end()) seen.value = initial->second;
    for (const std::size_t other : versions_.order) {
      if (!sees_[other] || !versions_.traces[other].result.committed) continue;
      const auto written = versions_.traces[other].writes.find(location);
      if (written == versions_.traces[other].writes.end()) continue;
      seen.value = written->second;
      seen.writer = other;
    }
    return seen;
  }
  sql::RowKey entry_of(TableId table, const sql::RowKey& key,
                       const std::vector<std::uint32_t>& columns) const {
    const sql::Table& declared = problem_.app.table(table);
    sql::RowKey entry;
    for (const std::uint32_t column : columns) {
      const auto place = std::ranges::find(declared.primary_key, column);
      entry.push_back(place != declared.primary_key.end()
                          ? key[static_cast<std::size_t>(place - declared.primary_key.begin())]
                          : peek({table, key, column}).value);
    }
    return entry;
  }
  Value get(const LocationKey& location, Value absent) {
    versions_.touched.insert({location.table, location.row});
    Seen seen = peek(location, std::move(absent));
    if (!seen.is_own && changes(location)) {
      trace.reads.emplace(location, seen.value);
      trace.read_from.emplace(location, seen.writer);
    }
    return std::move(seen.value);
  }

  const Problem& problem_;
  Versions& versions_;
  std::size_t call_;
  const std::vector<bool>& sees_;
  const sql::Changes& changes_;
  std::int64_t next_fresh_ = 0;
  bool use_own_ = true;
};

sql::RowKey key_of(const sql::Table& table, const sql::InitialRow& row) {
  sql::RowKey key;
  for (const std::uint32_t column : table.primary_key) key.push_back(row.values[column]);
  return key;
}

Versions start_of(const Problem& problem, const Scenario& scenario) {
  Versions versions;
  versions.traces.resize(scenario.calls.size());
  for (const sql::InitialRow& row : scenario.rows) {
    const sql::Table& table = problem.app.table(row.table);
    const sql::RowKey key = key_of(table, row);
    versions.rows.insert({row.table, key});
    versions.initial[{row.table, key, kPresence}] = Value(true);
    for (std::uint32_t c = 0; c < table.columns.size(); ++c) {
      if (!table.is_key_column(c)) versions.initial[{row.table, key, c}] = row.values[c];
    }
    for (std::uint32_t u = 0; u < table.unique.size(); ++u) {
      sql::RowKey entry;
      for (const std::uint32_t column : table.unique[u]) entry.push_back(row.values[column]);
      versions.initial[{row.table, entry, kUniqueEntry + u}] = Value(true);
    }
  }
  return versions;
}

// False if it is beyond what we run.
bool run_call(const Problem& problem, const Scenario& scenario, std::size_t call,
              const std::vector<bool>& sees, const sql::Changes& changes, Versions& versions) {
  View view(problem, versions, call, sees, changes);
  const ScenarioCall& what = scenario.calls[call];
  auto result = sql::run_call(problem.app, problem.app.functions[what.function], what.arguments,
                              view, kMaxSteps);
  if (!result) return false;
  view.trace.result = *result;
  if (!result->committed) view.trace.writes.clear();
  view.write_entries();
  for (const auto& [location, value] : view.trace.writes) {
    if (location.column < kUniqueEntry) versions.rows.insert({location.table, location.row});
  }
  versions.traces[call] = std::move(view.trace);
  versions.order.push_back(call);
  return true;
}

// The final value of every location, those that are as if nobody had been there left out.
std::map<LocationKey, Value> final_state(const Versions& versions) {
  std::map<LocationKey, Value> state = versions.initial;
  for (const std::size_t call : versions.order) {
    for (const auto& [location, value] : versions.traces[call].writes) state[location] = value;
  }
  std::erase_if(state, [&](const auto& entry) {
    const LocationKey presence{entry.first.table, entry.first.row, kPresence};
    const auto found = state.find(presence);
    return entry.first.column != kPresence &&
           (found == state.end() || found->second != Value(true));
  });
  std::erase_if(state, [](const auto& entry) {
    return entry.first.column >= kUniqueEntry ||
           (entry.first.column == kPresence && entry.second != Value(true));
  });
  return state;
}

// What its statements found: rows that met their WHERE, and what they read of those. Other rows,
// absent or not, were looked at in vain; so was an absent one that the call itself put there later.
std::map<LocationKey, Value> seen_by(const CallTrace& trace) {
  std::map<LocationKey, Value> seen = trace.reads;
  std::erase_if(seen, [&](const auto& entry) {
    return !trace.matched.contains({entry.first.table, entry.first.row}) ||
           (entry.first.column == kPresence && entry.second == Value(false));
  });
  return seen;
}

bool same_result(const CallTrace& a, const CallTrace& b) {
  return a.result.committed == b.result.committed && a.result.returned == b.result.returned;
}

std::vector<ReplayEdge> edges_of(const Scenario& scenario, const Versions& versions,
                                 Conflicts conflicts) {
  std::vector<std::size_t> place(scenario.calls.size());
  for (std::size_t i = 0; i < versions.order.size(); ++i) place[versions.order[i]] = i;
  std::vector<ReplayEdge> edges;
  for (std::size_t a = scenario.prefix; a < scenario.calls.size(); ++a) {
    for (std::size_t b = scenario.prefix; b < scenario.calls.size(); ++b) {
      if (a == b) continue;
      const CallTrace& from = versions.traces[a];
      const CallTrace& to = versions.traces[b];
      for (const auto& [location, writer] : to.read_from) {
        if (writer == a) edges.push_back({a, b, EdgeKind::Wr, location});
      }
      for (const auto& [location, value] : from.writes) {
        const bool both = to.writes.contains(location) ||
                          (conflicts == Conflicts::Rows && location.column < kUniqueEntry &&
                           std::ranges::any_of(to.writes, [&](const auto& other) {
                             return other.first.table == location.table &&
                                    other.first.row == location.row &&
                                    other.first.column < kUniqueEntry;
                           }));
        if (both && place[a] < place[b]) edges.push_back({a, b, EdgeKind::Ww, location});
      }
      for (const auto& [location, writer] : from.read_from) {
        const auto written = to.writes.find(location);
        if (written == to.writes.end() || scenario.sees[a][b]) continue;
        if (writer && place[*writer] > place[b]) continue;
        if (written->second != from.reads.at(location))
          edges.push_back({a, b, EdgeKind::Rw, location});
      }
    }
  }
  return edges;
}

// A shortest cycle, by trying every start; among edges of a pair the first of the most telling
// kind: wr, then rw, then ww.
std::vector<ReplayEdge> cycle_of(const Scenario& scenario, const std::vector<ReplayEdge>& edges) {
  const std::size_t n = scenario.calls.size();
  std::vector<ReplayEdge> best;
  for (std::size_t start = scenario.prefix; start < n; ++start) {
    std::vector<std::optional<ReplayEdge>> by(n);
    std::vector<std::size_t> queue = {start};
    bool is_closed = false;
    std::vector<ReplayEdge> cycle;
    for (std::size_t head = 0; head < queue.size() && !is_closed; ++head) {
      for (const EdgeKind kind : {EdgeKind::Rw, EdgeKind::Wr, EdgeKind::Ww}) {
        for (const ReplayEdge& edge : edges) {
          if (edge.from != queue[head] || edge.kind != kind || is_closed) continue;
          if (edge.to == start) {
            is_closed = true;
            cycle.push_back(edge);
            for (std::size_t at = edge.from; at != start; at = cycle.back().from)
              cycle.push_back(*by[at]);
            std::ranges::reverse(cycle);
          } else if (!by[edge.to]) {
            by[edge.to] = edge;
            queue.push_back(edge.to);
          }
        }
      }
    }
    if (is_closed && (best.empty() || cycle.size() < best.size())) best = cycle;
  }
  return best;
}

// A foreign key holds against everybody, seen or not: b cannot delete a row that a, which comes
// before it, refers to.
std::string unseen_child(const Problem& problem, const Versions& versions, std::size_t a,
                         std::size_t b) {
  const auto& inserted = versions.traces[a].writes;
  for (const auto& [location, value] : inserted) {
    if (location.column != kPresence || value != Value(true)) continue;
    const sql::Table& child = problem.app.table(location.table);
    for (const sql::ForeignKey& key : child.foreign_keys) {
      const sql::Table& parent = problem.app.table(key.target);
      if (key.target_columns != parent.primary_key) continue;
      sql::RowKey target;
      for (const std::uint32_t column : key.columns) {
        const auto place = std::ranges::find(child.primary_key, column);
        const auto written = inserted.find({location.table, location.row, column});
        target.push_back(
            place != child.primary_key.end()
                ? location.row[static_cast<std::size_t>(place - child.primary_key.begin())]
            : written != inserted.end() ? written->second
                                        : Value());
      }
      const auto deleted = versions.traces[b].writes.find({key.target, target, kPresence});
      if (deleted != versions.traces[b].writes.end() && deleted->second == Value(false))
        return fmt::format("a row of {} that another call inserted refers to what is deleted",
                           child.name);
    }
  }
  return "";
}

// What the level's text does not say: locks, and pairs of functions that see each other. Empty if
// they are kept.
std::string broken_promise(const Problem& problem, const Scenario& scenario,
                           const Versions& versions) {
  for (std::size_t i = 0; i < scenario.ar.size(); ++i) {
    for (std::size_t j = i + 1; j < scenario.ar.size(); ++j) {
      const std::size_t a = scenario.ar[i];
      const std::size_t b = scenario.ar[j];
      if (scenario.sees[b][a]) continue;
      for (const auto& [f, g] : problem.serial) {
        const std::uint32_t of_a = scenario.calls[a].function;
        const std::uint32_t of_b = scenario.calls[b].function;
        if ((of_a == f && of_b == g) || (of_a == g && of_b == f))
          return fmt::format("{} does not see {}, though they are serial",
                             print(problem.app, scenario.calls[b]),
                             print(problem.app, scenario.calls[a]));
      }
      if (const std::string orphan = unseen_child(problem, versions, a, b); !orphan.empty())
        return orphan;
      for (const auto& [location, value] : versions.traces[a].writes) {
        if (location.column < kUniqueEntry &&
            versions.traces[b].locks.contains({location.table, location.row}))
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
  }
  return "";
}

std::string print(const sql::Application& app, const LocationKey& location) {
  const sql::Table& table = app.table(location.table);
  std::string row;
  for (const Value& part : location.row) row += (row.empty() ? "" : ", ") + sql::print(part);
  if (location.column == kPresence) return fmt::format("{}[{}]", table.name, row);
  if (location.column < kPresence)
    return fmt::format("{}[{}].{}", table.name, row, table.columns[location.column].name);
  std::string columns;
  for (const std::uint32_t column : table.unique[location.column - kUniqueEntry])
    columns += (columns.empty() ? "" : ", ") + table.columns[column].name;
  return fmt::format("{} unique ({})[{}]", table.name, columns, row);
}

std::optional<ReplayHistory> to_history(const Problem& problem, const Scenario& scenario,
                                        const std::vector<CallTrace>& traces, bool observe_end) {
  HistoryBuilder builder(InitialValues::Nil);
  const auto key_of = [&](const LocationKey& location) {
    return builder.key(print(problem.app, location));
  };
  const auto value_of = [&](const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value.data))
      return isoscope::Value::of(*number);
    if (const auto* truth = std::get_if<bool>(&value.data))
      return isoscope::Value::of(std::int64_t{*truth ? 1 : 0});
    return builder.text(sql::print(value));
  };
  const auto name_of_call = [](std::size_t call) { return fmt::format("T{}", call + 1); };
  const auto done = [&](std::size_t call) {
    return builder.key(fmt::format("done {}", name_of_call(call)));
  };
  for (const sql::InitialRow& row : scenario.rows) {
    const sql::Table& table = problem.app.table(row.table);
    const sql::RowKey key = audit::key_of(table, row);
    const auto set_initial = [&](std::uint32_t column, const Value& value) {
      const LocationKey location{row.table, key, column};
      const bool is_used = std::ranges::any_of(traces, [&](const CallTrace& trace) {
        return trace.reads.contains(location) || trace.writes.contains(location);
      });
      if (is_used && !value.is_null()) builder.set_initial(key_of(location), value_of(value), {});
    };
    set_initial(kPresence, Value(true));
    for (std::uint32_t c = 0; c < table.columns.size(); ++c) {
      if (!table.is_key_column(c)) set_initial(c, row.values[c]);
    }
  }
  for (std::size_t call = 0; call < scenario.calls.size(); ++call) {
    const SessionId session = builder.session(fmt::format("s{}", call + 1));
    const TxnId t = builder.begin(session, TxnStatus::Committed, {});
    builder.set_name(t, name_of_call(call));
    for (const auto& [location, writer] : traces[call].read_from)
      builder.read_from(t, key_of(location), writer ? name_of_call(*writer) : "T0", {});
    for (const auto& [location, value] : traces[call].writes) {
      builder.write(t, key_of(location), value_of(value), {});
      if (problem.conflicts != Conflicts::Rows || location.column >= kUniqueEntry) continue;
      // One key more, for the row as a whole, which every write of it writes.
      builder.write(t,
                    builder.key("row " + problem.app.table(location.table).name + " " +
                                sql::print(Value(location.row))),
                    isoscope::Value::of(static_cast<std::int64_t>(call)), {});
    }
    if (observe_end) builder.write(t, done(call), isoscope::Value::of(1), {});
  }
  if (observe_end) {
    std::map<LocationKey, std::size_t> last;
    for (const std::size_t call : scenario.ar) {
      for (const auto& [location, value] : traces[call].writes) last[location] = call;
    }
    const TxnId end = builder.begin(builder.session("end"), TxnStatus::Committed, {});
    builder.set_name(end, "end");
    for (const auto& [location, call] : last)
      builder.read_from(end, key_of(location), name_of_call(call), {});
    for (std::size_t call = 0; call < scenario.calls.size(); ++call)
      builder.read_from(end, done(call), name_of_call(call), {});
  }
  auto history = std::move(builder).build();
  if (!history) return std::nullopt;
  ReplayHistory result{std::make_unique<History>(std::move(*history)), {}};
  result.witness.framework = Framework::VisAr;
  result.witness.order.push_back(TxnId{0});
  const auto txn_of = [](std::size_t call) { return TxnId{static_cast<std::uint32_t>(call + 1)}; };
  const std::size_t num_txns = scenario.calls.size() + (observe_end ? 2 : 1);
  Relation vis(num_txns);
  for (const std::size_t call : scenario.ar) {
    result.witness.order.push_back(txn_of(call));
    vis.insert(0, txn_of(call).index);
    for (std::size_t other = 0; other < scenario.calls.size(); ++other) {
      if (scenario.sees[call][other]) vis.insert(txn_of(other).index, txn_of(call).index);
    }
  }
  if (observe_end) {
    result.witness.order.push_back(txn_of(scenario.calls.size()));
    for (std::size_t t = 0; t + 1 < num_txns; ++t) vis.insert(t, num_txns - 1);
  }
  result.witness.vis = std::move(vis);
  return result;
}

Replay replay(const Problem& problem, const Scenario& scenario) {
  Replay result;
  const sql::Changes changes(problem.app);
  Versions weak;
  // A scan looks at every row that any call inserts, also at those of calls that run later: the
  // first round finds out which those are.
  for (int round = 0; round < 2; ++round) {
    const auto rows = std::move(weak.rows);
    weak = start_of(problem, scenario);
    weak.rows.insert(rows.begin(), rows.end());
    for (const std::size_t call : scenario.ar) {
      if (!run_call(problem, scenario, call, scenario.sees[call], changes, weak)) {
        result.why = "a call runs too long";
        return result;
      }
    }
  }
  result.traces = weak.traces;
  for (std::size_t call = 0; call < scenario.calls.size(); ++call) {
    if (weak.traces[call].result.committed) continue;
    result.why = fmt::format("{} aborts: {}", print(problem.app, scenario.calls[call]),
                             weak.traces[call].result.why_aborted);
    return result;
  }
  result.edges = edges_of(scenario, weak, problem.conflicts);
  result.cycle = cycle_of(scenario, result.edges);

  result.why = broken_promise(problem, scenario, weak);
  if (!result.why.empty()) return result;
  const auto history = to_history(problem, scenario, weak.traces, false);
  if (!history) {
    result.why = "the run is no history";
    return result;
  }
  Assignment levels{.base = problem.levels.base};
  if (problem.levels.is_mixed()) {
    levels.own.assign(scenario.calls.size() + 1, nullptr);
    for (std::size_t call = 0; call < scenario.calls.size(); ++call)
      levels.own[call + 1] = &problem.levels.of(scenario.calls[call].function);
  }
  const Execution execution{*history->history, history->witness};
  if (const auto failure = evaluate(levels, execution)) {
    result.why = describe(*failure, *history->history);
    return result;
  }

  const std::map<LocationKey, Value> weak_end = final_state(weak);
  std::vector<std::size_t> order(scenario.calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::copy_n(scenario.ar.begin(), scenario.prefix, order.begin());
  const auto first = order.begin() + static_cast<std::ptrdiff_t>(scenario.prefix);
  std::sort(first, order.end());
  const std::vector<bool> everything(scenario.calls.size(), true);
  std::set<std::pair<TableId, sql::RowKey>> touched = weak.touched;
  result.label = Label::Observable;
  result.why = "no serial order has these results and this final state";
  do {
    Versions serial = start_of(problem, scenario);
    bool is_run = true;
    for (const std::size_t call : order)
      is_run = is_run && run_call(problem, scenario, call, everything, changes, serial);
    touched.insert(serial.touched.begin(), serial.touched.end());
    if (!is_run) continue;
    bool same = true;
    bool same_view = true;
    for (std::size_t call = 0; call < scenario.calls.size(); ++call) {
      same = same && same_result(weak.traces[call], serial.traces[call]);
      same_view = same_view && seen_by(weak.traces[call]) == seen_by(serial.traces[call]);
    }
    same = same && final_state(serial) == weak_end;
    if (!same) continue;
    if (same_view) {
      result.label = Label::Spurious;
      result.why = "a serial order has the same results, reads and final state";
      return result;
    }
    result.label = Label::ViewOnly;
    result.why = "a serial order has the same results and final state, but reads something else";
  } while (std::next_permutation(first, order.end()));
  for (std::size_t i = 0; i < scenario.rows.size(); ++i) {
    const sql::InitialRow& row = scenario.rows[i];
    if (touched.contains({row.table, key_of(problem.app.table(row.table), row)}))
      result.rows_that_matter.push_back(i);
  }
  return result;
}

}  // namespace isoscope::audit
