#include "audit/replay_view.h"

#include <algorithm>

#include "sql/memory_database.h"

namespace isoscope::audit {

namespace {

using sql::TableId;
using sql::Value;

constexpr std::int64_t kFreshPerCall = 1000;
constexpr std::size_t kMaxSteps = 10'000;

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
  void lock(TableId table, const sql::RowKey& key, sql::Lock mode) override {
    sql::Lock& held = trace.locks[{table, key}];
    held = std::max(held, mode);
  }
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

}  // namespace

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

bool run_call(const Problem& problem, const Scenario& scenario, std::size_t call,
              const std::vector<bool>& sees, const sql::Changes& changes, Versions& versions,
              Budget& budget) {
  View view(problem, versions, call, sees, changes);
  const ScenarioCall& what = scenario.calls[call];
  auto result = sql::run_call(problem.app, problem.app.functions[what.function], what.arguments,
                              view, kMaxSteps, &budget);
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

}  // namespace isoscope::audit
