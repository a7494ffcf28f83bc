// isoscope run PROGRAM --store serial|weak|replay …
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/history_input.h"
#include "cli/pictures.h"
#include "cli/program_input.h"
#include "cli/server_program.h"
#include "cli/values.h"
#include "formats/formats.h"
#include "report/run_report.h"
#include "sql/server/level.h"
#include "store/replay.h"
#include "store/runs.h"
#include "support/output.h"

namespace isoscope {

namespace {

using Clock = std::chrono::steady_clock;

struct RunArguments {
  CommonOptions common;
  LevelInput specs;
  ProgramInput program;
  ServerInput server;
  RunStore store = RunStore::Serial;
  std::string level;
  std::uint64_t seed = 0;
  std::uint64_t runs = 1;
  HistoryInput history;
  std::string trace;
  Pictures pictures;
  std::string to = "jsonl";
};

// What the store does not understand, or lacks.
Result<void> check_arguments(const RunArguments& args) {
  if (args.store == RunStore::Serial && !args.level.empty())
    return Error{.what = "--store serial is serializable whatever the level",
                 .hint = "leave out --level, or use --store weak"};
  if ((args.store == RunStore::Replay) == args.history.path.empty())
    return Error{.what = args.store == RunStore::Replay ? "--store replay needs a history"
                                                        : "only --store replay follows a history",
                 .hint = "use --store replay --history FILE"};
  if (args.store == RunStore::Replay && args.runs != 1)
    return Error{.what = "--store replay runs once", .hint = "leave out --runs"};
  return {};
}

Result<void> write_trace(const RunArguments& args, const Executable& program,
                         const store::Recording& recording, Format format) {
  // As much of the names and of aborted transactions as the format has words for.
  const History h = format == Format::Jsonl  ? store::to_history(program, recording)
                    : format == Format::Hist ? store::to_plain_history(program, recording)
                                             : store::to_numbered_history(program, recording);
  auto output = Output::open(args.trace);
  if (!output) return output.error();
  if (auto written = write_history(h, format, output->sink()); !written) return written;
  return output->close();
}

// The one run of a replay, as run_many() would count it.
store::Runs as_runs(const Executable& program, store::Replay&& replayed, Budget& budget) {
  store::Runs runs;
  runs.shown = std::move(replayed.recording);
  runs.is_expired = replayed.is_expired;
  if (runs.is_expired) return runs;
  runs.runs = 1;
  runs.failed_assertions = runs.shown.has_failed_assertion() ? 1 : 0;
  const auto is_serial = store::is_serializable(program, runs.shown, budget);
  runs.is_expired = !is_serial;
  runs.unserializable = is_serial && !*is_serial ? 1 : 0;
  return runs;
}

struct FinishedRuns {
  store::Runs runs;
  std::optional<std::vector<store::Divergence>> divergences;  // from a history that was followed
};

Result<FinishedRuns> replay_history(const RunArguments& args, LoadedProgram& input,
                                    const std::optional<store::LevelPlan>& plan, Budget& budget) {
  const Executable& program = *input.program;
  auto history = args.history.read(progress_line(args.common), budget);
  if (!history) return history.error();
  input.adopt_rows_of(*history);
  auto script = store::script_of(program, *history, budget);
  if (!script) return script.error().in(args.history.path);
  auto replayed = store::replay(program, *script, plan ? &*plan : nullptr, budget);
  if (!replayed) return input.located(replayed.error());
  auto divergences = std::move(replayed->divergences);
  return FinishedRuns{.runs = as_runs(program, *std::move(replayed), budget),
                      .divergences = std::move(divergences)};
}

Result<FinishedRuns> run_often(const RunArguments& args, LoadedProgram& input,
                               const std::optional<store::LevelPlan>& plan, Budget& budget) {
  const store::RunsOptions options{
      .seed = args.seed, .runs = args.runs, .progress = progress_line(args.common)};
  auto runs = store::run_many(*input.program, plan ? &*plan : nullptr, options, budget);
  clear_progress_line();
  if (!runs) return input.located(runs.error());
  return FinishedRuns{.runs = *std::move(runs), .divergences = {}};
}

int run_run(const RunArguments& args) {
  const auto start = Clock::now();
  Budget budget = args.common.start();
  if (auto fits = check_arguments(args); !fits) return fail(fits.error());
  auto format = find_format(args.to);
  if (!format) return fail(format.error());
  auto levels = args.specs.load(budget);
  if (!levels) return fail(levels.error());
  auto input = args.program.load(budget);
  if (!input) return fail(input.error());
  input->stop_with(budget);
  input->print_remarks(args.common);
  if (args.store == RunStore::Weak) {
    auto on_server = args.server.levels(*input, *levels, args.level);
    if (!on_server) return fail(on_server.error());
    if (*on_server) {
      if (auto calls = input->require_calls(); !calls) return fail(calls.error());
      return run_on_server(args.common, *input, **on_server,
                           {.seed = args.seed,
                            .runs = args.runs,
                            .trace = args.trace,
                            .format = *format,
                            .late_wakeups = args.server.late_wakeups,
                            .pictures = args.pictures},
                           budget);
    }
    if (args.level.empty())
      return fail({.what = "--store weak needs a level", .hint = "use --level cc"});
  }
  if (auto whole = input->require_whole_calls(); !whole) return fail(whole.error());
  if (!input->claims.empty()) {
    return fail(
        input->located({.where = input->claims.front().place,
                        .what = "claims about rows are checked at PostgreSQL's levels only",
                        .hint = "use --store weak --level " + sql::server::pg_level_names()}));
  }
  const Executable& program = *input->program;
  std::optional<store::LevelPlan> plan;
  if (!args.level.empty()) {
    auto level = input->find_level(*levels, args.level);
    if (!level) return fail(level.error());
    auto planned = store::plan_levels(program, **level, *levels);
    if (!planned) return fail(input->located(planned.error()));
    plan = *std::move(planned);
  }
  if (auto calls = input->require_calls(); !calls) return fail(calls.error());

  auto done = args.store == RunStore::Replay ? replay_history(args, *input, plan, budget)
                                             : run_often(args, *input, plan, budget);
  if (!done) return fail(done.error());
  store::Runs& runs = done->runs;
  if (!args.trace.empty() && runs.runs > 0) {
    if (auto written = write_trace(args, program, runs.shown, *format); !written)
      return fail(written.error());
  }
  const RunReport report{.program = program,
                         .source = input->path,
                         .store = args.store,
                         .level = args.level,
                         .seed = args.seed,
                         .wanted_runs = args.runs,
                         .runs = std::move(runs),
                         .divergences = std::move(done->divergences),
                         .trace_file = args.trace,
                         .seconds = std::chrono::duration<double>(Clock::now() - start).count()};
  if (auto written = args.pictures.write([&] { return run_page(report); }); !written)
    return fail(written.error());
  const int code = exit_code(header_of(report).outcome);
  return deliver(args.common,
                 args.common.json ? run_json(report) : run_text(report, args.common.paint()), code);
}

}  // namespace

Run add_run(CLI::App& app) {
  auto args = std::make_shared<RunArguments>();
  args->program.add_to(app);
  const auto set_store = [args](const std::string& name) {
    args->store =
        *std::ranges::find(kRunStores, name, [](RunStore store) { return name_of(store); });
  };
  app.add_option_function<std::string>(
         "--store", set_store,
         "serial: one transaction after the other; weak: reads see anything legal; "
         "replay: reads see what a history says")
      ->required()
      ->type_name("serial|weak|replay")
      ->check(one_of({"serial", "weak", "replay"}));
  add_base_level(app, args->level);
  args->specs.add_to(app);
  args->server.add_to(app);
  app.add_option("--seed", args->seed, "decides which session goes next, and what reads see")
      ->type_name("N")
      ->check(whole_number(0, kLargestSeed))
      ->capture_default_str();
  app.add_option("--runs", args->runs, "run N times, with this seed and those after it")
      ->type_name("N")
      ->check(whole_number(1, kMostOfAnything))
      ->capture_default_str();
  add_input_file(app, "--history", args->history.path, "the history to replay");
  app.add_option("--format", args->history.format, "the format of that history, if not recognised")
      ->type_name("FORMAT");
  add_output_file(app, "--trace", args->trace,
                  "record the run as a history: the first that went wrong, else the first");
  app.add_option("--to", args->to, "the format of the trace")
      ->type_name("jsonl|hist|isopredict")
      ->check(one_of({"jsonl", "hist", "isopredict"}))
      ->capture_default_str();
  args->pictures.add_to(app, "the run");
  add_common(app, args->common);
  app.footer(
      "Examples:\n"
      "  isoscope run examples/programs/bank.txn --store serial --seed 1 --trace observed.jsonl\n"
      "  isoscope run examples/programs/bank.txn --store weak --level cc --runs 1000\n"
      "  isoscope run examples/programs/bank.txn --store weak --level si --seed 7 \
--trace run.hist --to hist\n"
      "  isoscope run examples/programs/bank.txn --store replay --history run.hist --level si\n"
      "  isoscope run examples/sql/oversell.sql --store weak --level pg-rc --runs 100\n"
      "Exit codes: 0 ok, 1 an assertion failed, a run was unserializable or diverged, 2 bad "
      "input,\n"
      "3 unknown (time-out).");
  return [args] { return run_run(*args); };
}

}  // namespace isoscope
