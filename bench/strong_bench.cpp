// How fast the strong levels are decided, on histories of simulated stores that satisfy them.
//
// The set-ups are those of published figures: 8 operations a transaction, 25 sessions, as many
// keys as transactions, uniform or zipf 0.99, half or nine tenths of the operations reads; and one
// that leaves much to choose: 100 sessions, few reads. Besides the time, the counters tell the
// work: edges that became known, rounds of saturation, choices left, calls of the solver.
#include <benchmark/benchmark.h>

#include "check/strong/strong.h"
#include "generate/generate.h"

namespace isoscope {
namespace {

HistoryPlan plan(Logic store, std::uint64_t txns, double reads, KeyDistribution keys) {
  HistoryPlan plan;
  plan.level = store;
  plan.sessions = 25;
  plan.txns = txns;
  plan.keys = static_cast<std::uint32_t>(txns);
  plan.read_share = reads;
  plan.distribution = keys;
  return plan;
}

HistoryPlan many_choices(std::uint64_t txns) {
  HistoryPlan plan;
  plan.level = Logic::Ser;
  plan.sessions = 100;
  plan.txns = txns;
  plan.keys = static_cast<std::uint32_t>(txns * 3 / 10);
  plan.read_share = 0.2;
  return plan;
}

void BM_Check(benchmark::State& state, StrongLevel level, const HistoryPlan& how) {
  const auto h = generate_history(how);
  ISO_ASSERT(h.ok());
  Stats stats;
  for (auto _ : state) {
    Budget budget = Budget::seconds(300);
    const Verdict verdict = check_strong(*h, level, budget);
    if (verdict.outcome != Outcome::Consistent) {
      state.SkipWithError("not decided as consistent");
      return;
    }
    stats = verdict.stats;
  }
  for (const auto& [name, value] : stats.all()) state.counters[name] = value;
  state.counters["txn/s"] = benchmark::Counter(static_cast<double>(how.txns),
                                               benchmark::Counter::kIsIterationInvariantRate);
}

using enum KeyDistribution;

#define STRONG_BENCH(name, level, how) \
  BENCHMARK_CAPTURE(BM_Check, name, level, how)->Unit(benchmark::kMillisecond)

STRONG_BENCH(ser_10k_uniform_50, StrongLevel::Ser, plan(Logic::Ser, 10'000, 0.5, Uniform));
STRONG_BENCH(si_10k_uniform_50, StrongLevel::Si, plan(Logic::Si, 10'000, 0.5, Uniform));
STRONG_BENCH(pc_10k_uniform_50, StrongLevel::Pc, plan(Logic::Pc, 10'000, 0.5, Uniform));
STRONG_BENCH(psi_10k_uniform_50, StrongLevel::Psi, plan(Logic::Psi, 10'000, 0.5, Uniform));
STRONG_BENCH(ua_10k_uniform_50, StrongLevel::Ua, plan(Logic::Psi, 10'000, 0.5, Uniform));
STRONG_BENCH(ser_10k_uniform_30, StrongLevel::Ser, plan(Logic::Ser, 10'000, 0.3, Uniform));
STRONG_BENCH(ser_30k_uniform_90, StrongLevel::Ser, plan(Logic::Ser, 30'000, 0.9, Uniform));
STRONG_BENCH(si_3k_zipf_50, StrongLevel::Si, plan(Logic::Si, 3'000, 0.5, Zipf));
STRONG_BENCH(si_100k_uniform_50, StrongLevel::Si, plan(Logic::Si, 100'000, 0.5, Uniform));
STRONG_BENCH(si_100k_zipf_50, StrongLevel::Si, plan(Logic::Si, 100'000, 0.5, Zipf));
STRONG_BENCH(ser_2k_many_choices, StrongLevel::Ser, many_choices(2'000));
STRONG_BENCH(si_2k_many_choices, StrongLevel::Si, many_choices(2'000));
STRONG_BENCH(psi_2k_many_choices, StrongLevel::Psi, many_choices(2'000));
STRONG_BENCH(si_5k_many_choices, StrongLevel::Si, many_choices(5'000));

}  // namespace
}  // namespace isoscope
