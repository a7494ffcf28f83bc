#include "audit/improve.h"

#include <algorithm>

#include "audit/small_instances.h"
#include "support/rng.h"

namespace isoscope::audit {

namespace {

// Runs tried, the serial ones that each is compared with included; and calls of a cycle beyond
// which there are too many of those.
constexpr int kRuns = 2400;
constexpr std::size_t kMaxCalls = 3;

// Of one value, and none that refers to a row.
bool may_vary(const sql::Table& table, sql::ColumnId column) {
  const sql::Column& declared = table.columns[column];
  return declared.type == sql::Type::Integer &&
         std::ranges::none_of(table.foreign_keys, [&](const sql::ForeignKey& key) {
           return std::ranges::find(key.columns, column) != key.columns.end();
         });
}

// Numbers that a run may be changed by: arguments, and columns at the start outside the key.
std::vector<sql::Value*> numbers_in(const Problem& problem, Scenario& scenario) {
  std::vector<sql::Value*> numbers;
  const auto add = [&](sql::Value& value) {
    if (std::holds_alternative<std::int64_t>(value.data) ||
        std::holds_alternative<sql::Decimal>(value.data))
      numbers.push_back(&value);
  };
  for (ScenarioCall& call : scenario.calls) {
    for (sql::Value& argument : call.arguments) {
      add(argument);
      if (auto* elements = std::get_if<std::vector<sql::Value>>(&argument.data)) {
        for (sql::Value& element : *elements) add(element);
      }
    }
  }
  for (sql::InitialRow& row : scenario.rows) {
    const sql::Table& table = problem.app.table(row.table);
    for (const sql::ColumnId c : row.values.ids()) {
      if (table.is_key_column(c)) continue;
      add(row.values[c]);
      // A limit that is not set: one that is may matter.
      if (row.values[c].is_null() && may_vary(table, c)) numbers.push_back(&row.values[c]);
    }
  }
  return numbers;
}

// Do the constraints of the tables admit the rows?
bool may_start(const Problem& problem, const std::vector<sql::InitialRow>& rows) {
  std::vector<sql::InitialRow> before;
  for (const sql::InitialRow& row : rows) {
    if (!fits_beside(problem.app, before, row)) return false;
    before.push_back(row);
  }
  return true;
}

// Of a numeric what stands before the point, 1 of NULL; nothing if it is too large to compute with.
std::optional<std::int64_t> small_number(const sql::Value& value) {
  if (value.is_null()) return 1;
  constexpr std::int64_t kLarge = 1'000'000'000;
  const auto* decimal = std::get_if<sql::Decimal>(&value.data);
  const auto number =
      decimal != nullptr ? sql::to_integer(*decimal) : std::get<std::int64_t>(value.data);
  if (!number || *number < -kLarge || *number > kLarge) return std::nullopt;
  return number;
}

void set_number(sql::Value& value, std::int64_t number) {
  const auto* decimal = std::get_if<sql::Decimal>(&value.data);
  if (decimal == nullptr) {
    value = sql::Value(number);
  } else if (const auto shown = sql::rounded({number, 0}, decimal->scale)) {
    value = sql::Value(*shown);
  }
}

bool is_as_good(const Replay& a, const Replay& b) {
  return a.label == b.label && a.cycle.size() == b.cycle.size();
}
bool is_observable_too(const Replay& result, const Replay& run) {
  return result.label == Label::Observable && result.cycle.size() == run.cycle.size();
}

// Without one of the calls that prepare; the others keep the numbers that they draw.
Scenario without(const Scenario& scenario, ScenarioCallId left_out) {
  Scenario fewer{
      .rows = scenario.rows, .calls = {}, .prefix = scenario.prefix - 1, .ar = {}, .sees = {}};
  const auto entries_but_one = [&](const auto& of) {
    auto entries = of.entries();
    entries.erase(entries.begin() + left_out.index);
    return entries;
  };
  for (const ScenarioCallId c : scenario.calls.ids()) {
    if (c == left_out) continue;
    ScenarioCall call = scenario.calls[c];
    if (!call.first_fresh) call.first_fresh = kFreshPerCall * (std::int64_t{c.index} + 1);
    fewer.calls.push_back(std::move(call));
    fewer.sees.push_back(ById<ScenarioCallId, bool>(entries_but_one(scenario.sees[c])));
  }
  const auto place = std::ranges::find(scenario.ar, left_out) - scenario.ar.begin();
  for (const ScenarioCallId c : scenario.ar) {
    if (c != left_out) fewer.ar.push_back({c.index > left_out.index ? c.index - 1 : c.index});
  }
  if (scenario.snapshots.empty()) return fewer;
  fewer.snapshots =
      ById<ScenarioCallId, std::vector<std::size_t>>(entries_but_one(scenario.snapshots));
  for (std::vector<std::size_t>& moments : fewer.snapshots) {
    for (std::size_t& calls : moments) {
      if (calls > static_cast<std::size_t>(place)) --calls;
    }
  }
  return fewer;
}

}  // namespace

void make_observable(const Problem& problem, Scenario& scenario, Replay& run, Budget& budget) {
  const std::size_t num_calls = scenario.calls.size() - scenario.prefix;
  if (run.label != Label::ViewOnly || num_calls > kMaxCalls) return;
  // With one row less, what is left may matter more: the last doctor on call.
  for (std::size_t i = scenario.rows.size(); i-- > 0;) {
    Scenario other = scenario;
    other.rows.erase(other.rows.begin() + static_cast<std::ptrdiff_t>(i));
    auto result = replay(problem, other, budget);
    if (!result) return;
    if (!is_observable_too(*result, run)) continue;
    scenario = std::move(other);
    run = *std::move(result);
    return;
  }
  // A constraint may say what we cannot compute.
  if (!may_start(problem, scenario.rows)) return;
  Rng rng(1);
  const int orders = num_calls == 3 ? 6 : 2;
  for (int attempt = 0; attempt < kRuns / orders; ++attempt) {
    Scenario other = scenario;
    const std::vector<sql::Value*> numbers = numbers_in(problem, other);
    if (numbers.empty()) return;
    const std::size_t changes = 1 + rng.below(3);
    for (std::size_t i = 0; i < changes; ++i) {
      sql::Value& number = *numbers[rng.below(numbers.size())];
      // Near another number of the run, or as much as two of them: there conditions change.
      const auto first = small_number(*numbers[rng.below(numbers.size())]);
      const auto second = small_number(*numbers[rng.below(numbers.size())]);
      if (!first || !second) continue;
      const std::int64_t a = *first;
      const std::int64_t b = *second;
      const std::int64_t choices[] = {a, a + 1, a - 1, a + b, a - b, a + b + 1, -a};
      set_number(number, choices[rng.below(std::size(choices))]);
    }
    if (!may_start(problem, other.rows)) continue;
    auto result = replay(problem, other, budget);
    if (!result) return;
    if (!is_observable_too(*result, run)) continue;
    scenario = std::move(other);
    run = *std::move(result);
    return;
  }
}

void minimize_rows(const Problem& problem, Scenario& scenario, Replay& run, Budget& budget) {
  const auto try_rows = [&](std::vector<sql::InitialRow> rows) {
    Scenario fewer = scenario;
    fewer.rows = std::move(rows);
    auto result = replay(problem, fewer, budget);
    if (!result || !is_as_good(*result, run)) return false;
    scenario = std::move(fewer);
    run = *std::move(result);
    return true;
  };
  std::vector<sql::InitialRow> rows;
  for (const std::size_t i : run.rows_that_matter) rows.push_back(scenario.rows[i]);
  if (rows.size() < scenario.rows.size() && !try_rows(rows)) return;
  for (std::size_t i = scenario.rows.size(); i-- > 0 && !budget.expired_now();) {
    rows = scenario.rows;
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
    try_rows(std::move(rows));
  }
}

void minimize_calls(const Problem& problem, Scenario& scenario, Replay& run, Budget& budget) {
  for (std::size_t i = scenario.prefix; i-- > 0 && !budget.expired_now();) {
    Scenario fewer = without(scenario, {static_cast<std::uint32_t>(i)});
    auto result = replay(problem, fewer, budget);
    if (!result || !is_as_good(*result, run)) continue;
    scenario = std::move(fewer);
    run = *std::move(result);
  }
}

}  // namespace isoscope::audit
