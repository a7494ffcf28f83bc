// isoscope explore PROGRAM --level L …
#include "explore/explore.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/history_input.h"
#include "cli/program_input.h"
#include "cli/server_program.h"
#include "cli/values.h"
#include "explore/outcomes.h"
#include "explore/weakest.h"
#include "report/explore_report.h"
#include "support/output.h"

namespace isoscope {
namespace {

using Clock = std::chrono::steady_clock;

struct ExploreArguments {
  CommonOptions common;
  LevelInput specs;
  ProgramInput program;
  ServerInput server;
  std::string level;
  std::string base;
  std::string algorithm = "best";
  std::string histories;
  std::string dot;
  bool assert_only = false;
  bool outcomes = false;
  bool weakest = false;
  bool ordered = false;
  unsigned threads = 1;
  std::size_t violations = 3;
};

explore::Algorithm find_algorithm(std::string_view name) {
  if (name == "ce") return explore::Algorithm::Ce;
  if (name == "txn") return explore::Algorithm::ByTxn;
  if (name == "schedules") return explore::Algorithm::Schedules;
  if (name == "dfs") return explore::Algorithm::Dfs;
  return explore::Algorithm::Best;
}

int exit_code(explore::ExploreOutcome outcome) {
  switch (outcome) {
    case explore::ExploreOutcome::Complete:
      return kGood;
    case explore::ExploreOutcome::Violated:
      return kInteresting;
    case explore::ExploreOutcome::Unknown:
      return kUnknown;
  }
  return kUnknown;
}

int deliver_report(const ExploreArguments& args, const ExploreReport& report, int code) {
  if (!args.dot.empty()) {
    if (const auto dot = explore_dot(report)) {
      if (auto written = write_whole(args.dot, *dot); !written) return fail(written.error());
    }
  }
  return deliver(
      args.common,
      args.common.json ? explore_json(report) : explore_text(report, args.common.paint()), code);
}

int run_weakest(const ExploreArguments& args, LoadedProgram& input, const LevelSet& levels,
                const explore::ExploreOptions& options) {
  const auto start = Clock::now();
  const Executable& program = *input.program;
  if (!program.has_assertions()) {
    return fail({.what = fmt::format("{}: there is nothing to check: the program has no assertion",
                                     input.path),
                 .hint = "--weakest finds the weakest level at which all assertions hold"});
  }
  auto weakest = explore::find_weakest(program, levels, options);
  while (weakest && !weakest->is_out_of_time && input.must_repeat())
    weakest = explore::find_weakest(program, levels, options);
  clear_progress_line();
  if (!weakest) return fail(input.located(weakest.error()));
  if (auto fits = input.fits(); !fits) {
    if (!weakest->is_out_of_time) return fail(fits.error());
    // Not all rows were known to the runs: what they did not violate may be violated.
    weakest->minimal.clear();
    weakest->mixed.clear();
    weakest->is_decided.clear();
  }
  const int code = exit_code(weakest->outcome());
  ExploreReport report{.program = program, .source = input.path, .level = {}, .method = {}};
  report.weakest = std::move(*weakest);
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return deliver_report(args, report, code);
}

// Options that belong to definitions of levels are refused.
int run_on_postgres(const ExploreArguments& args, const LoadedProgram& input,
                    const std::vector<sql::server::PgLevel>& levels, const Budget& budget) {
  const std::string_view foreign = !args.dot.empty()          ? "--dot"
                                   : !args.base.empty()       ? "--base"
                                   : args.algorithm != "best" ? "--algorithm"
                                                              : "";
  if (!foreign.empty())
    return fail({.what = fmt::format("{} does not go with PostgreSQL's levels", foreign),
                 .hint = "leave it out, or use --server formal and a level such as si"});
  return explore_on_server(args.common, input, levels,
                           {.assert_only = args.assert_only,
                            .outcomes = args.outcomes,
                            .violations = args.violations,
                            .histories = args.histories,
                            .late_wakeups = args.server.late_wakeups},
                           budget);
}

int run_explore(const ExploreArguments& args) {
  const auto start = Clock::now();
  const Budget budget = args.common.start();
  auto levels = args.specs.load(budget);
  if (!levels) return fail(levels.error());
  if (args.weakest && !args.level.empty()) {
    return fail({.what = "--weakest tries all levels: it takes no --level",
                 .hint = "use --level cc, or --weakest to find the weakest safe one"});
  }
  auto input = args.program.load(budget);
  if (!input) return fail(input.error());
  input->stop_with(budget);
  if (!args.weakest) {
    auto on_server = args.server.levels(*input, args.level);
    if (!on_server) return fail(on_server.error());
    if (*on_server) return run_on_postgres(args, *input, **on_server, budget);
    if (args.level.empty())
      return fail({.what = "explore needs a level",
                   .hint = "use --level cc, or --weakest to find the weakest safe one"});
  }
  const Executable& program = *input->program;
  if (program.outline().calls.size() > explore::kMaxCalls) {
    return fail({.what = fmt::format("{} transactions are more than explore can have ({})",
                                     program.outline().calls.size(), explore::kMaxCalls),
                 .hint = "isoscope run executes longer programs"});
  }
  explore::ExploreOptions options{
      .threads = args.threads == 0 ? std::thread::hardware_concurrency() : args.threads,
      .budget = budget,
      .stop_at_violation = args.assert_only,
      .max_violations = args.assert_only ? 1 : args.violations,
      .on_history = {},
      .gives_up = {},
      .progress = progress_line(args.common)};
  if (args.weakest) return run_weakest(args, *input, *levels, options);

  auto level = input->find_level(*levels, args.level);
  if (!level) return fail(level.error());
  auto plan = explore::make_plan(
      program, **level, *levels, find_algorithm(args.algorithm),
      args.base.empty() ? std::nullopt : std::optional<std::string>(args.base), options.budget);
  if (!plan) return fail(input->located(plan.error()));
  // Once to know all rows that calls insert, so that the histories below are the final ones.
  std::optional<explore::Exploration> known;
  if (input->sql != nullptr) {
    const auto is_over = [&] {
      return known->fault || known->outcome == explore::ExploreOutcome::Unknown;
    };
    do {
      known = explore::explore(program, *plan, options);
    } while (!is_over() && input->must_repeat());
    if (auto fits = input->fits(); !is_over() && !fits) return fail(fits.error());
  }

  if (args.ordered) options.threads = 1;
  std::optional<Output> stream;
  if (!args.histories.empty()) {
    auto output = Output::open_lines(args.histories);
    if (!output) return fail(output.error());
    stream = std::move(*output);
  }
  explore::Outcomes outcomes(program, options.budget);
  std::uint64_t number = 0;
  if (stream || args.outcomes) {
    options.on_history = [&](const store::Recording& run) {
      if (stream) stream->write(history_line(program, run, ++number));
      if (args.outcomes) outcomes.add(run);
    };
    options.gives_up = [&] { return stream && stream->has_failed(); };
  }
  ExploreReport report{
      .program = program, .source = input->path, .level = args.level, .method = plan->description};
  const bool is_done = known && !options.on_history;
  report.all = is_done ? *std::move(known) : explore::explore(program, *plan, options);
  clear_progress_line();
  if (stream) {
    if (auto closed = stream->close(); !closed) return fail(closed.error());
  }
  if (report.all.fault) return fail(input->located(report.all.fault->error));
  if (args.outcomes) report.outcomes = outcomes.sorted();
  report.stopped_early = args.assert_only && report.all.violating > 0;
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return deliver_report(args, report, exit_code(report.all.outcome));
}

}  // namespace

Run add_explore(CLI::App& app) {
  auto args = std::make_shared<ExploreArguments>();
  add_input_file(app, "program", args->program.path,
                 "a .txn program or an SQL program with sessions, or - for standard input")
      ->required()
      ->type_name("PROGRAM");
  args->program.add_workload_to(app);
  app.add_option("-l,--level", args->level,
                 "the level of transactions without a level of their own; of SQL programs also "
                 "pg-rc (default), pg-rr, pg-ser: what PostgreSQL does")
      ->type_name("LEVEL");
  args->specs.add_to(app);
  args->server.add_to(app);
  app.add_flag("--assert-only", args->assert_only, "stop at the first violated assertion");
  app.add_flag("--outcomes", args->outcomes,
               "list the distinct final values of all locals, and the levels that allow each");
  app.add_flag("--weakest", args->weakest,
               "find the weakest level at which all assertions hold, and who may run weaker");
  add_output_file(app, "--histories", args->histories,
                  "write every history, one JSON object a line");
  app.add_flag("--ordered", args->ordered,
               "write them in a fixed order, that of one thread, which then writes them alone");
  app.add_option("--violations", args->violations, "how many violating histories to show")
      ->type_name("N")
      ->check(whole_number(0, kMostOfAnything))
      ->capture_default_str();
  add_output_file(app, "--dot", args->dot, "draw the first violating history for Graphviz");
  app.add_option("--threads", args->threads, "threads to use; 0 is one a core")
      ->type_name("N")
      ->check(whole_number(0, 1024))
      ->capture_default_str();
  app.add_option(
         "--algorithm", args->algorithm,
         "ce: explore-ce; txn: whole transactions; schedules: whole transactions on the latest "
         "state; dfs: without reduction, to compare")
      ->type_name("best|ce|txn|schedules|dfs")
      ->check(one_of({"best", "ce", "txn", "schedules", "dfs"}))
      ->capture_default_str();
  app.add_option("--base", args->base, "walk through this level and filter: explore-ce*")
      ->type_name("true|rc|ra|cc");
  add_common(app, args->common);
  app.footer(
      "Examples:\n"
      "  isoscope explore examples/programs/bank.txn --level si\n"
      "  isoscope explore examples/programs/bank.txn --level rc --assert-only --dot bank.dot\n"
      "  isoscope explore examples/programs/bank.txn --level rc --outcomes\n"
      "  isoscope explore examples/programs/bank.txn --weakest\n"
      "  isoscope explore examples/sql/bank.sql --level cc --outcomes\n"
      "  isoscope explore examples/sql/oversell.sql --level pg-rc\n"
      "  isoscope explore examples/programs/on-call.txn --level cc --histories all.jsonl \
--threads 2\n"
      "Exit codes: 0 complete and no assertion fails, 1 an assertion fails, 2 bad input, 3 "
      "unknown.");
  return [args] { return run_explore(*args); };
}

}  // namespace isoscope
