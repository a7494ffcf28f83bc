// Advice about random programs, applied to the text as it is printed and tried on PostgreSQL: the
// server takes the text, calls that run alone do what they did before, and random concurrent runs
// of what is called proved have a serial order.
//
// ISOSCOPE_AUDIT_ADVICE is the number of programs, ISOSCOPE_AUDIT_SEED the first seed.
#include "audit/advise.h"
#include "audit/small_instances.h"
#include "live_functions.h"
#include "random_repair_app.h"
#include "repaired_text.h"
#include "server_oracle.h"

namespace isoscope::audit {
namespace {

class AdviceLive : public LiveFunctions {
 protected:
  struct Count {
    std::map<std::string, std::size_t> repairs;
    std::size_t levels = 0;  // programs with advice about levels
    std::size_t alone = 0;   // runs call by call, before and after
    std::size_t together = 0;
  };

  // Two calls, one after the other: their answers, and the rows that they leave.
  std::string serial_end(const sql::Application& app, const std::vector<sql::InitialRow>& rows,
                         const std::vector<std::string>& calls, const std::string& text) {
    create(text, app_of(text));
    reset(app, rows);
    std::string end;
    for (const std::string& call : calls) end += admin_->run("SELECT " + call) + "; ";
    return end + state(app);
  }

  void expect_same_alone(const sql::Application& app, const std::string& before,
                         const std::string& after, std::uint64_t seed) {
    SmallInstances instances(app, {}, seed);
    Rng rng(seed);
    for (int run = 0; run < 4; ++run) {
      const auto rows = instances.rows();
      std::vector<std::string> calls;
      for (int c = 0; c < 2; ++c) {
        const sql::FunctionId f{static_cast<std::uint32_t>(rng.below(app.functions.size()))};
        calls.push_back(print(app, instances.call(f)));
      }
      ++count_.alone;
      ASSERT_EQ(serial_end(app, rows, calls, before), serial_end(app, rows, calls, after))
          << calls[0] << ", " << calls[1];
    }
  }

  void try_to_break(const std::string& text, const std::vector<const Level*>& levels,
                    std::uint64_t seed) {
    const sql::Application app = app_of(text);
    const Problem problem{app, {&pg_read_committed(), levels}};
    create(text, app);
    SmallInstances instances(app, {}, seed);
    Rng rng(seed);
    for (std::size_t run = 0; run < 3; ++run) {
      const auto rows = instances.rows();
      const auto prepare = [&] { reset(app, rows); };
      std::vector<Call> calls;
      std::string story;
      for (int c = 0; c < 3; ++c) {
        const sql::FunctionId f{static_cast<std::uint32_t>(rng.below(app.functions.size()))};
        calls.push_back({print(app, instances.call(f)), level_name(problem, f)});
        story += calls.back().text + " at " + calls.back().level + "\n";
      }
      prepare();
      run_randomly(calls, rng);
      const std::string end = state(app);
      ++count_.together;
      ASSERT_TRUE(has_serial_order(prepare, app, calls, end)) << story << end;
    }
  }

  void compare(std::uint64_t seed) {
    const std::string text = RandomRepairApp(seed).text();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const sql::Application app = app_of(text);
    const std::vector<const Level*> levels = {&pg_read_committed(), &pg_repeatable_read(),
                                              &pg_serializable()};
    const Problem problem{app, {levels[seed % 2], {}}};
    if (!check_problem(problem)) return;
    Budget budget = Budget::seconds(10);
    const AuditReport report = audit(problem, {.max_length = 2}, budget);
    const bool has_anomaly = report.outcome == AuditOutcome::Anomaly;
    const Advice advice = advise(
        problem, levels, has_anomaly, {.max_length = 2}, budget,
        has_anomaly ? report.search.anomalies.front().functions : std::vector<sql::FunctionId>());
    if (!advice.levels.empty()) {
      ++count_.levels;
      std::vector<const Level*> own;
      for (const sql::FunctionId f : app.function_ids()) own.push_back(advice.levels[f]);
      SCOPED_TRACE("levels" + names_of({levels.front(), own}, own.size()));
      try_to_break(text, own, seed);
      if (HasFatalFailure()) return;
    }
    for (const Repair& repair : advice.repairs) {
      SCOPED_TRACE(fmt::format("- {}\n+ {}", repair.before, repair.what));
      const std::string changed = repaired(text, repair);
      if (HasFatalFailure()) return;
      ++count_.repairs[std::string(name_of(repair.kind))];
      expect_same_alone(app, text, changed, seed);
      if (HasFatalFailure() || !repair.is_proved) return;
      try_to_break(changed, std::vector<const Level*>(app.functions.size(), levels[seed % 2]),
                   seed);
      if (HasFatalFailure()) return;
    }
  }

  Count count_;
};

TEST_F(AdviceLive, IsTakenAndHoldsOnTheServer) {
  const std::uint64_t first = from_environment("ISOSCOPE_AUDIT_SEED", 1);
  const std::uint64_t number = from_environment("ISOSCOPE_AUDIT_ADVICE", 8);
  for (std::uint64_t seed = first; seed < first + number && !HasFatalFailure(); ++seed)
    compare(seed);
  for (const auto& [kind, count] : count_.repairs) std::printf("%zu %s, ", count, kind.c_str());
  std::printf("%zu with levels, %zu runs alone, %zu together\n", count_.levels, count_.alone,
              count_.together);
  if (number < 8) return;  // a few that somebody looks at
  EXPECT_GT(count_.repairs.size(), 0U);
  EXPECT_GT(count_.together, 0U);
}

}  // namespace
}  // namespace isoscope::audit
