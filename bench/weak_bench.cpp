// How the checkers of rc, ra and cc grow with the history, and with the number of sessions.
//
// Histories come from a simulated causal store, so all are consistent: 8 operations a transaction,
// half of them reads, 10,000 keys drawn by zipf with exponent 0.99. Reported are nanoseconds an
// event, the forced edges an event, and the exponent at which time grows from 10^4 to 10^6
// transactions. `Violated` checks a history of a read-atomic store at cc: it is the cost of
// finding and explaining a cycle.
#include <benchmark/benchmark.h>

#include <map>
#include <utility>

#include "check/weak/weak.h"
#include "generate/generate.h"
#include "support/assert.h"

namespace isoscope {
namespace {

// Generating takes longer than checking, so that one history is kept for all levels.
const History& sample(Logic store, std::int64_t txns, std::int64_t sessions) {
  using Plan = std::tuple<Logic, std::int64_t, std::int64_t>;
  static std::map<Plan, History> kept;
  const Plan plan{store, txns, sessions};
  auto found = kept.find(plan);
  if (found == kept.end()) {
    kept.clear();
    auto h = generate_history({.level = store,
                               .sessions = static_cast<std::uint32_t>(sessions),
                               .txns = static_cast<std::uint64_t>(txns),
                               .ops = 8,
                               .keys = 10'000,
                               .read_share = 0.5,
                               .distribution = KeyDistribution::Zipf,
                               .seed = 1});
    ISO_ASSERT(h.ok());
    found = kept.emplace(plan, *std::move(h)).first;
  }
  return found->second;
}

void check_all(benchmark::State& state, const History& h, WeakLevel level, Outcome expected) {
  double forced = 0;
  for (auto step : state) {
    (void)step;
    Budget budget;
    const Verdict verdict = check_weak(h, {.base = level}, budget);
    ISO_ASSERT(verdict.outcome == expected);
    forced = verdict.stats.get("forced_edges").value_or(0);
  }
  const auto events = static_cast<double>(h.num_events());
  state.counters["forced/event"] = forced / events;
  state.counters["s/event"] = benchmark::Counter(
      events, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.SetComplexityN(static_cast<std::int64_t>(h.num_txns()));
}

void BM_Consistent(benchmark::State& state, WeakLevel level) {
  check_all(state, sample(Logic::Cc, state.range(0), state.range(1)), level, Outcome::Consistent);
}

void BM_Violated(benchmark::State& state) {
  check_all(state, sample(Logic::Ra, state.range(0), state.range(1)), WeakLevel::Cc,
            Outcome::Violated);
}

// Powers of sqrt(10) from 10^4 to 10^6, at 50 sessions.
void by_txns(benchmark::internal::Benchmark* b) {
  for (std::int64_t txns : {10'000, 31'623, 100'000, 316'228, 1'000'000}) b->Args({txns, 50});
}
void by_sessions(benchmark::internal::Benchmark* b) {
  for (std::int64_t sessions : {10, 30, 100, 300, 1'000}) b->Args({100'000, sessions});
}

BENCHMARK_CAPTURE(BM_Consistent, rc, WeakLevel::Rc)
    ->Apply(by_txns)
    ->Complexity()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Consistent, ra, WeakLevel::Ra)
    ->Apply(by_txns)
    ->Complexity()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Consistent, cc, WeakLevel::Cc)
    ->Apply(by_txns)
    ->Complexity()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Consistent, cc_sessions, WeakLevel::Cc)
    ->Apply(by_sessions)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Violated)->Apply(by_txns)->Complexity()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace isoscope
