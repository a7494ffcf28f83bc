// The 46 problems of [Isolde-2026], section 5.1: 5 keys, 5 values, 3 to 10 transactions.
//
//   Synth/<problem>/<txns>             as users get it; the paper's RQ3
//   Synth15/<problem>                  problems with a history, at 15 transactions
//   SynthGeneric/<problem>/<txns>      plain CEGIS, 3 to 5 transactions
//   SynthWithout…/<problem>/<txns>     the paper's RQ1 and RQ2 at 3 to 5 transactions: no learning,
//                                      no fixed order, no smart search, on the generic path like
//                                      the original
//
// Reported besides time: candidates, clauses and variables of the first solver. A search that does
// not end within its limit counts as `unknown`; any other answer must be the expected one.
// bench/synth_table.py makes the tables of docs/PERFORMANCE.md.
#include <benchmark/benchmark.h>

#include "support/assert.h"
#include "support/synth_problems.h"
#include "synth/synth.h"

namespace isoscope {
namespace {

constexpr double kGoalSeconds = 10;  // of all others, which need far less
constexpr double kLimitSeconds = 2;  // of the switched searches, some of which never end

void solve(benchmark::State& state, const BenchmarkProblem& problem, const SynthQuery& query) {
  const bool switched = !query.learning || !query.fixed_order || !query.smart_search;
  const double limit = switched ? kLimitSeconds : kGoalSeconds;
  const bool expected = problem.is_satisfiable && query.scope.txns >= problem.min_txns;
  Stats stats;
  double unknown = 0;
  for (auto step : state) {
    (void)step;
    Budget budget = Budget::seconds(limit);
    const auto answer = synthesize(query, budget);
    ISO_ASSERT(answer.ok());
    const bool found = answer->outcome == SynthOutcome::Found;
    const bool is_unknown = answer->outcome == SynthOutcome::Unknown;
    ISO_ASSERT(is_unknown || found == expected);
    unknown = is_unknown ? 1 : 0;
    stats = answer->stats;
  }
  for (const char* name : {"candidates", "clauses", "variables"})
    state.counters[name] = stats.get(name).value_or(0);
  state.counters["unknown"] = unknown;
}

void add(const std::string& name, const BenchmarkProblem& problem, const SynthQuery& query) {
  benchmark::RegisterBenchmark(
      name.c_str(), [problem, query](benchmark::State& state) { solve(state, problem, query); })
      ->Unit(benchmark::kMillisecond)
      ->Iterations(1);
}

bool add_all() {
  for (const BenchmarkProblem& problem : benchmark_problems()) {
    const auto scope = [](int txns) { return Scope{.txns = txns, .keys = 5, .values = 5}; };
    for (int txns = 3; txns <= 10; ++txns)
      add(fmt::format("Synth/{}/{}", problem.name, txns), problem, query_of(problem, scope(txns)));
    if (problem.is_satisfiable)
      add("Synth15/" + problem.name, problem, query_of(problem, scope(15)));
    for (const int txns : {3, 4, 5}) {
      const auto plain = [&] {
        SynthQuery query = query_of(problem, scope(txns));
        query.generic = true;
        return query;
      };
      SynthQuery query = plain();
      add(fmt::format("SynthGeneric/{}/{}", problem.name, txns), problem, query);
      query.learning = false;
      add(fmt::format("SynthWithoutLearning/{}/{}", problem.name, txns), problem, query);
      query = plain();
      query.fixed_order = false;
      add(fmt::format("SynthWithoutFixedOrder/{}/{}", problem.name, txns), problem, query);
      query = plain();
      query.smart_search = false;
      add(fmt::format("SynthWithoutSmartSearch/{}/{}", problem.name, txns), problem, query);
    }
  }
  return true;
}

const bool kAdded = add_all();

}  // namespace
}  // namespace isoscope
