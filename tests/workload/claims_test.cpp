// The claims of the workloads hold in serial runs and fail in weak ones.
#include <gtest/gtest.h>

#include "workload/run_interleaved.h"
#include "workload/workload.h"

namespace isoscope {
namespace {

Program program_of(const WorkloadPlan& plan) {
  const auto text = generate_program(plan);
  EXPECT_TRUE(text) << render(text.error());
  auto program = parse_program(*text);
  EXPECT_TRUE(program) << render(program.error().quoting(*text)) << "\n" << *text;
  return std::move(*program);
}

std::string described(const WorkloadPlan& plan, std::uint64_t run_seed) {
  return fmt::format("{} --sessions {} --txns {} --seed {} --access {}{}, run {}", plan.workload,
                     plan.sessions, plan.txns, plan.seed,
                     plan.access == RowAccess::Scan ? "scan" : "point",
                     plan.audit ? " --audit" : "", run_seed);
}

// Plans of one workload: small and large, both accesses, tables small enough for conflicts.
std::vector<WorkloadPlan> plans_of(const WorkloadInfo& info) {
  std::vector<WorkloadPlan> plans;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    for (const RowAccess access : {RowAccess::Point, RowAccess::Scan}) {
      WorkloadPlan plan{.workload = std::string(info.name), .seed = seed, .access = access};
      plans.push_back(plan);
      plan.sessions = 5;
      plan.txns = 12;
      plans.push_back(plan);
      if (!info.can_audit) continue;
      plan.audit = true;
      plans.push_back(plan);
    }
  }
  return plans;
}

class Claims : public testing::TestWithParam<std::string> {
 protected:
  WorkloadInfo info() const {
    for (const WorkloadInfo& info : workloads()) {
      if (info.name == GetParam()) return info;
    }
    return {};
  }
};

TEST_P(Claims, HoldInEverySerialRun) {
  for (WorkloadPlan plan : plans_of(info())) {
    if (plan.workload == "voter") plan.sizes = {{"callers", 3}, {"limit", 2}, {"areas", 5}};
    const Program program = program_of(plan);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const InterleavedRun run = run_interleaved(program, seed, Snapshots::Latest);
      ASSERT_EQ(run.fault, "") << described(plan, seed);
      ASSERT_EQ(run.failed, "") << described(plan, seed);
    }
  }
}

TEST_P(Claims, FailInSomeRunOnStaleSnapshots) {
  // With an audit and without: each kind of claim has to fail by itself.
  std::map<bool, std::size_t> runs;
  std::map<bool, std::size_t> failures;
  for (const WorkloadPlan& plan : plans_of(info())) {
    const Program program = program_of(plan);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const InterleavedRun run = run_interleaved(program, seed, Snapshots::Stale);
      ASSERT_EQ(run.fault, "") << described(plan, seed);
      failures[plan.audit] += run.failed.empty() ? 0 : 1;
      ++runs[plan.audit];
    }
  }
  for (const auto& [audit, number] : runs) {
    EXPECT_GT(failures[audit], number / 50) << "of " << number;
    RecordProperty(audit ? "with_audit" : "failures", static_cast<int>(failures[audit]));
  }
}

std::vector<std::string> names_of_workloads() {
  std::vector<std::string> names;
  for (const WorkloadInfo& info : workloads()) names.emplace_back(info.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Of, Claims, testing::ValuesIn(names_of_workloads()),
                         [](const auto& workload) {
                           std::string name = workload.param;
                           std::erase(name, '-');
                           return name;
                         });

// Every interleaving of the sessions, depth first, on a program small enough.
void run_all_orders(const Program& program, std::vector<CallId>& order,
                    ById<ProgramSession, std::uint32_t>& done, std::size_t& runs) {
  const Outline& outline = program.outline();
  if (order.size() < outline.calls.size()) {
    for (const ProgramSession s : outline.sessions.ids()) {
      if (done[s] == outline.sessions[s].size) continue;
      order.push_back({outline.sessions[s].first.index + done[s]++});
      run_all_orders(program, order, done, runs);
      --done[s];
      order.pop_back();
    }
    return;
  }
  ++runs;
  std::map<ProgramKey, std::int64_t> store;
  ById<CallId, std::vector<std::int64_t>> locals(outline.calls.size());
  ById<CallId, bool> committed(outline.calls.size(), false);
  const auto executor = program.executor();
  for (const CallId call : order) {
    std::map<ProgramKey, std::int64_t> next = store;
    executor->start(call);
    Stop stop = executor->run();
    for (; stop.kind == StopKind::Read || stop.kind == StopKind::Write; stop = executor->run()) {
      if (stop.kind == StopKind::Write) {
        next[stop.key] = stop.value;
        continue;
      }
      const auto known = next.find(stop.key);
      executor->answer(known != next.end() ? known->second : program.keys().initial(stop.key));
    }
    ASSERT_NE(stop.kind, StopKind::Fault);
    ASSERT_FALSE(executor->failed_assertion());
    committed[call] = stop.kind == StopKind::Commit;
    if (committed[call]) store = std::move(next);
    const auto state = executor->state();
    locals[call].assign(state.begin(),
                        state.begin() + static_cast<std::ptrdiff_t>(executor->num_locals()));
  }
  std::vector<Ending> endings;
  for (const CallId i : locals.ids())
    endings.push_back({.committed = committed[i], .locals = locals[i]});
  const auto failed = program.failed_at_end(endings, {});
  ASSERT_FALSE(failed) << program.assertion(*failed).text;
}

TEST_P(Claims, HoldInEveryOrderOfSmallPrograms) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const WorkloadPlan plan{.workload = GetParam(),
                            .sessions = 3,
                            .txns = 2,
                            .seed = seed,
                            .access = RowAccess::Point,
                            .audit = info().can_audit};
    SCOPED_TRACE(described(plan, 0));
    const Program program = program_of(plan);
    std::vector<CallId> order;
    ById<ProgramSession, std::uint32_t> done(program.outline().sessions.size(), 0);
    std::size_t runs = 0;
    run_all_orders(program, order, done, runs);
    EXPECT_EQ(runs, plan.audit ? 630U : 90U);
  }
}

}  // namespace
}  // namespace isoscope
