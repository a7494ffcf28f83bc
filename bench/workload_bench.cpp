// How large the traces of the workloads are, and how often weak runs of them go wrong.
//
// The set-ups are those of [GengBlanasBondWang-PLDI'24], Tables 3, 6 and 7: 3 sessions of 4 or 8
// transactions, seeds 1 to 10. The time is that of writing, compiling and running all ten
// programs. Counters of a serial run are averages over the seeds: committed transactions, their
// reads of other transactions' writes, and the keys they write. Counters of weak runs are shares
// of ten runs a seed: an assertion failed, the history is unserializable.
#include <benchmark/benchmark.h>

#include <set>
#include <string>

#include "program/program.h"
#include "spec/levels.h"
#include "store/runs.h"
#include "workload/workload.h"

namespace isoscope {
namespace {

constexpr std::uint64_t kSeeds = 10;
constexpr std::uint64_t kRuns = 10;

Program make_program(const WorkloadPlan& plan) {
  const auto text = generate_program(plan);
  ISO_ASSERT(text.ok());
  auto program = parse_program(*text);
  ISO_ASSERT(program.ok());
  return std::move(*program);
}

struct Sizes {
  double committed = 0;
  double read_only = 0;
  double reads = 0;
  double writes = 0;

  void add(const store::RecordedTxn& txn) {
    if (!txn.is_committed) return;
    std::set<ProgramKey> written;
    for (const store::Access& access : txn.accesses) {
      if (access.is_read)
        ++reads;
      else
        written.insert(access.key);
    }
    ++committed;
    read_only += written.empty() ? 1 : 0;
    writes += static_cast<double>(written.size());
  }
};

void BM_Serial(benchmark::State& state, WorkloadPlan plan) {
  Sizes sizes;
  for (auto _ : state) {
    sizes = {};
    for (plan.seed = 1; plan.seed <= kSeeds; ++plan.seed) {
      const Program program = make_program(plan);
      store::Store store(program);
      ISO_ASSERT(store::run_once(store, plan.seed).ok());
      ISO_ASSERT(!store.recording().has_failed_assertion());
      for (const store::RecordedTxn& txn : store.recording().txns) sizes.add(txn);
    }
  }
  state.counters["committed"] = sizes.committed / kSeeds;
  state.counters["read_only"] = sizes.read_only / kSeeds;
  state.counters["reads"] = sizes.reads / kSeeds;
  state.counters["writes"] = sizes.writes / kSeeds;
}

void BM_Weak(benchmark::State& state, WorkloadPlan plan, const std::string& name) {
  const LevelSet& levels = LevelSet::built_in();
  const auto level = levels.find(name);
  ISO_ASSERT(level.ok());
  store::Runs sum;
  for (auto _ : state) {
    sum = {};
    for (plan.seed = 1; plan.seed <= kSeeds; ++plan.seed) {
      const Program program = make_program(plan);
      const auto level_plan = store::plan_levels(program, **level, levels);
      ISO_ASSERT(level_plan.ok());
      Budget budget;
      const auto runs = store::run_many(program, &*level_plan,
                                        {.seed = plan.seed * kRuns, .runs = kRuns}, budget);
      ISO_ASSERT(runs.ok());
      sum.runs += runs->runs;
      sum.failed_assertions += runs->failed_assertions;
      sum.unserializable += runs->unserializable;
    }
  }
  const auto share = [&](std::uint64_t some) {
    return static_cast<double>(some) / static_cast<double>(sum.runs);
  };
  state.counters["failed"] = share(sum.failed_assertions);
  state.counters["unserializable"] = share(sum.unserializable);
}

// Serial/tpcc/8, Weak/smallbank+audit/4/cc.
void add_benchmarks() {
  for (const WorkloadInfo& info : workloads()) {
    for (const bool audit : {false, true}) {
      if (audit && !info.can_audit) continue;
      for (const std::int64_t txns : {4, 8}) {
        const WorkloadPlan plan{
            .workload = std::string(info.name), .sessions = 3, .txns = txns, .audit = audit};
        const std::string what =
            "/" + plan.workload + (audit ? "+audit" : "") + "/" + std::to_string(txns);
        benchmark::RegisterBenchmark(("Serial" + what).c_str(), BM_Serial, plan)
            ->Unit(benchmark::kMillisecond);
        for (const char* level : {"cc", "rc"})
          benchmark::RegisterBenchmark(("Weak" + what + "/" + level).c_str(), BM_Weak, plan, level)
              ->Unit(benchmark::kMillisecond)
              ->Iterations(1);
      }
    }
  }
}

const bool kAdded = (add_benchmarks(), true);

}  // namespace
}  // namespace isoscope
