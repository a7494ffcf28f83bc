#pragma once
// Random runs of an application: rows, calls, and who sees whom.
#include <algorithm>
#include <string>

#include "audit/audit.h"
#include "support/rng.h"

namespace isoscope::audit {

class RandomRuns {
 public:
  RandomRuns(const Problem& problem, std::uint64_t seed) : problem_(problem), rng_(seed) {}

  // One to `max_prefix` calls that prepare, two to `max_calls` that run as they like.
  Scenario next(std::size_t max_prefix, std::size_t max_calls) {
    Scenario scenario;
    scenario.prefix = rng_.below(max_prefix + 1);
    const std::size_t n = scenario.prefix + 2 + rng_.below(max_calls - 1);
    add_rows(scenario);
    for (std::size_t i = 0; i < n; ++i) {
      const sql::FunctionId f{
          static_cast<std::uint32_t>(rng_.below(problem_.app.functions.size()))};
      ScenarioCall call{f, {}};
      const sql::Function& function = problem_.app.function(f);
      for (std::uint32_t p = 0; p < function.num_parameters; ++p)
        call.arguments.push_back(argument(function.variables[p]));
      scenario.calls.push_back(std::move(call));
    }
    const IdRange<ScenarioCallId> calls = scenario.calls.ids();
    for (const ScenarioCallId call : calls) scenario.ar.push_back(call);
    scenario.sees.assign(n, ById<ScenarioCallId, bool>(n, false));
    // Half of the runs are snapshots of a prefix of ar, as the stronger levels need them.
    const bool snapshots = rng_.chance(0.5);
    for (const ScenarioCallId j : calls) {
      const std::size_t first_unseen = rng_.below(j.index + 1);
      for (ScenarioCallId i; i < j; ++i) {
        const bool is_prefix = scenario.prepares(i) || scenario.prepares(j);
        scenario.sees[j][i] = is_prefix || (snapshots ? i.index < first_unseen : rng_.chance(0.4));
      }
    }
    return scenario;
  }

 private:
  sql::Value small() { return sql::Value(static_cast<std::int64_t>(rng_.below(3))); }
  sql::Value any_of(sql::Type type) {
    if (type == sql::Type::Boolean) return sql::Value(rng_.chance(0.5));
    if (type == sql::Type::Text) return sql::Value(std::string(rng_.chance(0.5) ? "a" : "b"));
    return small();
  }
  sql::Value argument(const sql::Variable& parameter) {
    if (rng_.chance(0.05)) return {};
    if (!parameter.is_array) return any_of(parameter.type);
    std::vector<sql::Value> elements;
    for (std::size_t i = rng_.below(3); i > 0; --i) elements.push_back(any_of(parameter.type));
    return sql::Value(std::move(elements));
  }

  // Obeys UNIQUE and FOREIGN KEY; CHECKs are up to the programs.
  void add_rows(Scenario& scenario) {
    const sql::Changes changes(problem_.app);
    for (std::uint32_t t = 0; t < problem_.app.tables.size(); ++t) {
      const sql::Table& table = problem_.app.tables[t];
      if (changes.has_inserts(sql::TableId{t}) && !problem_.rows_at_start) continue;
      auto keys = table.unique;
      keys.push_back(table.primary_key);
      for (int i = 0; i < 4; ++i) {
        sql::InitialRow row{sql::TableId{t}, {}, {}};
        for (const sql::ColumnId c : table.columns.ids()) {
          const bool is_known = table.columns[c].not_null || table.is_key_column(c);
          row.values.push_back(!is_known && rng_.chance(0.1) ? sql::Value()
                                                             : any_of(table.columns[c].type));
        }
        for (const sql::ForeignKey& key : table.foreign_keys) {
          if (!is_there(scenario, key, row)) {
            for (const sql::ColumnId column : key.columns) row.values[column] = sql::Value();
          }
        }
        const bool is_double = std::ranges::any_of(keys, [&](const auto& key) {
          return std::ranges::any_of(scenario.rows, [&](const sql::InitialRow& other) {
            return other.table == row.table && std::ranges::all_of(key, [&](sql::ColumnId c) {
                     return !row.values[c].is_null() && other.values[c] == row.values[c];
                   });
          });
        });
        if (!is_double) scenario.rows.push_back(std::move(row));
      }
    }
  }

  static bool is_there(const Scenario& scenario, const sql::ForeignKey& key,
                       const sql::InitialRow& row) {
    return std::ranges::any_of(scenario.rows, [&](const sql::InitialRow& other) {
      if (other.table != key.target) return false;
      for (std::size_t i = 0; i < key.columns.size(); ++i) {
        if (other.values[key.target_columns[i]] != row.values[key.columns[i]]) return false;
      }
      return true;
    });
  }

  const Problem& problem_;
  Rng rng_;
};

struct Tally {
  std::size_t proved = 0;
  std::size_t none = 0;
  std::size_t anomalies = 0;
  std::size_t unknown = 0;
};

inline std::string describe_run(const sql::Application& app, const Scenario& scenario) {
  std::string text;
  for (const ScenarioCallId call : scenario.ar) {
    text += "\n  " + print(app, scenario.calls[call]) + " sees";
    for (const ScenarioCallId other : scenario.calls.ids()) {
      if (scenario.sees[call][other]) text += " " + std::to_string(other.index);
    }
  }
  for (const sql::InitialRow& row : scenario.rows) text += "\n  " + print(app, row);
  return text;
}

}  // namespace isoscope::audit
