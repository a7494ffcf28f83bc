// Random programs at mixtures of PostgreSQL's levels, held against PostgreSQL: the anomalies that
// audit prints happen there, and random concurrent runs do not break what it proves or calls none.
//
// ISOSCOPE_AUDIT_LIVE is the number of programs (hundreds in the nightly tests),
// ISOSCOPE_AUDIT_SEED the first seed.
#include "live_functions.h"
#include "random_rows_app.h"
#include "random_server_app.h"
#include "server_oracle.h"

namespace isoscope::audit {
namespace {

class RandomLive : public LiveFunctions {
 protected:
  struct Count {
    std::size_t played = 0;   // anomalies
    std::size_t refused = 0;  // mixtures, by SERIALIZABLE, which may refuse more than cycles
    std::size_t runs = 0;     // of programs with a good verdict
  };

  void compare(std::uint64_t seed, const std::string& text) {
    const sql::Application app = app_of(text);
    Rng rng(seed);
    Problem problem{app, random_pg_levels(app.functions.size(), rng)};
    problem.rows_at_start = rng.chance(0.4);
    SCOPED_TRACE(fmt::format("seed {} at{}{}\n{}", seed,
                             names_of(problem.levels, app.functions.size()),
                             problem.rows_at_start ? " with rows" : "", text));
    if (!check_problem(problem)) return;
    Budget budget = Budget::seconds(10);
    const AuditReport report = audit(problem, {.max_length = 3, .prove = true}, budget);
    switch (report.outcome) {
      case AuditOutcome::Anomaly:
        create(text, app);
        play_all(problem, report);
        break;
      case AuditOutcome::Serializable:
      case AuditOutcome::None:
        create(text, app);
        for (int run = 0; run < 4 && !HasFatalFailure(); ++run) try_to_break(problem, rng);
        break;
      case AuditOutcome::Unknown: break;
    }
  }

  void play_all(const Problem& problem, const AuditReport& report) {
    const auto num_top =
        std::ranges::count_if(problem.app.function_ids(), [&](sql::FunctionId function) {
          return &problem.levels.of(function) == &pg_serializable();
        });
    const bool is_mixture =
        num_top > 0 && static_cast<std::size_t>(num_top) < problem.app.functions.size();
    for (const FoundAnomaly& anomaly : report.search.anomalies) {
      std::string story = describe_run(problem.app, anomaly.scenario);
      for (const ScheduleStep& step : anomaly.replay.schedule)
        story += fmt::format(" {}{}", step.call.index,
                             step.moment ? "." + std::to_string(step.moment->index) : "!");
      SCOPED_TRACE(story);
      const std::string trouble = play(problem, anomaly);
      if (is_mixture && trouble == "40001") {
        ++count_.refused;
        continue;
      }
      ASSERT_EQ(trouble, "");
      ++count_.played;
    }
  }

  void try_to_break(const Problem& problem, Rng& rng) {
    const Scenario scenario = RandomRuns(problem, rng.below(1'000'000)).next(2, 3);
    const auto prepare = [&] {
      reset(problem.app, scenario.rows);
      for (ScenarioCallId c; scenario.prepares(c); ++c)
        admin_->run("SELECT " + print(problem.app, scenario.calls[c]));
    };
    std::vector<Call> calls;
    for (const ScenarioCallId c : scenario.of_cycle())
      calls.push_back(
          {print(problem.app, scenario.calls[c]), level_name(problem, scenario.calls[c].function)});
    prepare();
    run_randomly(calls, rng);
    const std::string end = state(problem.app);
    ++count_.runs;
    std::string answers;
    for (const Call& call : calls)
      answers += call.text + " = " + call.answer.value_or("failed") + "; ";
    ASSERT_TRUE(has_serial_order(prepare, problem.app, calls, end))
        << "prefix " << scenario.prefix << describe_run(problem.app, scenario) << "\n"
        << answers << end;
  }

  Count count_;

  template <typename MakeText>
  void compare_all(const MakeText& make_text) {
    const std::uint64_t first = from_environment("ISOSCOPE_AUDIT_SEED", 1);
    const std::uint64_t number = from_environment("ISOSCOPE_AUDIT_LIVE", 30);
    for (std::uint64_t seed = first; seed < first + number; ++seed) compare(seed, make_text(seed));
    RecordProperty("played", static_cast<int>(count_.played));
    std::printf("%zu anomalies played, %zu refused by SERIALIZABLE, %zu runs of proved programs\n",
                count_.played, count_.refused, count_.runs);
    if (number < 30) return;  // a few that somebody looks at
    EXPECT_GT(count_.played, 0U);
    EXPECT_GT(count_.runs, 0U);
  }
};

TEST_F(RandomLive, AgreesWithTheServer) {
  compare_all([](std::uint64_t seed) { return RandomServerApp(seed).text(); });
}

TEST_F(RandomLive, AgreesWithTheServerAboutRowSetsAndCalls) {
  compare_all([](std::uint64_t seed) { return RandomRowsApp(seed).text(); });
}

}  // namespace
}  // namespace isoscope::audit
