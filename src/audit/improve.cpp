#include "audit/improve.h"

#include "support/rng.h"

namespace isoscope::audit {

namespace {

// Runs tried, the serial ones that each is compared with included; and calls of a cycle beyond
// which there are too many of those.
constexpr int kRuns = 2400;
constexpr std::size_t kMaxCalls = 3;

// Numbers that a run may be changed by: arguments, and columns at the start outside the key.
std::vector<std::int64_t*> numbers_of(const Problem& problem, Scenario& scenario) {
  std::vector<std::int64_t*> numbers;
  const auto add = [&](sql::Value& value) {
    if (auto* number = std::get_if<std::int64_t>(&value.data)) numbers.push_back(number);
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
    for (std::uint32_t c = 0; c < row.values.size(); ++c) {
      if (!table.is_key_column(c)) add(row.values[c]);
    }
  }
  return numbers;
}

bool is_as_good(const Replay& a, const Replay& b) {
  return a.label == b.label && a.cycle.size() == b.cycle.size();
}

}  // namespace

void make_observable(const Problem& problem, Scenario& scenario, Replay& run, Budget& budget) {
  const std::size_t num_calls = scenario.calls.size() - scenario.prefix;
  if (run.label != Label::ViewOnly || num_calls > kMaxCalls) return;
  Rng rng(1);
  const int orders = num_calls == 3 ? 6 : 2;
  for (int attempt = 0; attempt < kRuns / orders; ++attempt) {
    Scenario other = scenario;
    const std::vector<std::int64_t*> numbers = numbers_of(problem, other);
    if (numbers.empty()) return;
    const std::size_t changes = 1 + rng.below(3);
    for (std::size_t i = 0; i < changes; ++i) {
      std::int64_t& number = *numbers[rng.below(numbers.size())];
      // Near another number of the run, or as much as two of them: there conditions change.
      const std::int64_t a = *numbers[rng.below(numbers.size())];
      const std::int64_t b = *numbers[rng.below(numbers.size())];
      constexpr std::int64_t kLarge = 1'000'000'000;
      if (a < -kLarge || a > kLarge || b < -kLarge || b > kLarge) continue;
      const std::int64_t choices[] = {a, a + 1, a - 1, a + b, a - b, a + b + 1, -a};
      number = choices[rng.below(std::size(choices))];
    }
    auto result = replay(problem, other, budget);
    if (!result) return;
    if (result->label != Label::Observable || result->cycle.size() != run.cycle.size()) continue;
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

}  // namespace isoscope::audit
