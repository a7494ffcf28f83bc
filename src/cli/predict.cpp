// isoscope predict TRACE --level L …
#include "predict/predict.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "check/check.h"
#include "cli/command.h"
#include "cli/command_input.h"
#include "cli/files.h"
#include "cli/finding_files.h"
#include "cli/history_input.h"
#include "cli/pictures.h"
#include "cli/program_input.h"
#include "cli/values.h"
#include "formats/formats.h"
#include "predict/validate.h"
#include "races/races.h"
#include "report/command_force_report.h"
#include "report/predict_report.h"
#include "report/races_report.h"
#include "sql/server/level.h"
#include "support/output.h"

namespace isoscope {
namespace {

using sql::server::pg_level_names;
using Clock = std::chrono::steady_clock;

struct PredictArguments {
  CommonOptions common;
  HistoryInput history;
  LevelInput specs;
  std::string level;
  std::string sessions = "connection";
  std::string boundary = "relaxed";
  std::string encoding = "exact";
  bool minimal = true;
  std::optional<std::size_t> all = {};
  ProgramInput app;
  bool validate = false;
  std::string predicted;
  std::string to = "jsonl";
  Pictures pictures;
  FindingFiles findings;
  bool force = false;
  std::string dsn;
  std::int64_t race = 1;
  CommandInput commands;
};

predict::Boundary find_boundary(std::string_view name) {
  if (name == "strict") return predict::Boundary::Strict;
  if (name == "strict+") return predict::Boundary::StrictPlus;
  return predict::Boundary::Relaxed;
}

// The first prediction as a history.
Result<void> write_files(const PredictArguments& args, const PredictReport& report, Format format) {
  if (report.answer.predictions.empty()) return {};
  if (!args.predicted.empty()) {
    auto output = Output::open(args.predicted);
    if (!output) return output.error();
    auto written = write_history(report.answer.predictions.front().history, format, output->sink());
    if (!written) return written;
    if (auto closed = output->close(); !closed) return closed;
  }
  return {};
}

// The plan of a race in the file of --predicted.
Result<void> write_plan(const PredictArguments& args, const std::string& plan) {
  if (args.predicted.empty()) return {};
  auto output = Output::open(args.predicted);
  if (!output) return output.error();
  output->write(plan);
  return output->close();
}

// Makes a predicted race happen on the server.
int force_race(const PredictArguments& args, const RacesReport& races, const std::string& plan_text,
               const Budget& budget) {
  auto plan = force::read_command_plan(plan_text, 1);
  if (!plan) return fail(plan.error());
  if (auto written = args.commands.write_script(args.dsn, &*plan); !written)
    return fail(written.error());
  auto answer = args.commands.force(args.dsn, &*plan, budget, progress_line(args.common));
  clear_progress_line();
  if (!answer) return fail(answer.error());
  const CommandForceReport report{.source = fmt::format("race {}", args.race),
                                  .sessions = plan->sessions,
                                  .answer = *answer,
                                  .seconds = seconds_running()};
  std::string text;
  if (args.common.json) {
    Json json = races_object(races);
    json["force"] = command_force_object(report);
    text = dump(json);
  } else {
    text = races_text(races, args.common.paint()) + "\n" +
           command_force_text(report, args.common.paint());
  }
  return deliver(args.common, text, exit_code(outcome_of(answer->verdict)));
}

// A recorded run at a level of PostgreSQL's: which pairs of transactions race?
int run_races(const PredictArguments& args, sql::server::PgLevel server, const History& history,
              const LevelSet& levels, Clock::time_point start, Budget& budget) {
  const races::Run run = races::run_of(history);
  RacesReport report{
      .run = run,
      .source = args.history.path,
      .level = args.level,
      .options = {.level = server, .sessions_are_connections = args.sessions == "connection"},
      .answer = {}};
  const auto level = levels.find(args.level);
  report.answer = races::find_races(run, report.options, level ? *level : nullptr, budget);
  clear_progress_line();
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const auto race = static_cast<std::size_t>(args.race);
  if (!report.answer.races.empty() && race > report.answer.races.size())
    return fail({.what = fmt::format("there is no race {}", race),
                 .hint = fmt::format("there are {}", report.answer.races.size())});
  std::string plan;
  if (!report.answer.races.empty()) {
    plan = dump(race_plan(report, report.answer.races[race - 1])) + "\n";
    if (auto written = write_plan(args, plan); !written) return fail(written.error());
  }
  if (auto written = args.pictures.write([&] { return races_page(report); }); !written)
    return fail(written.error());
  const auto judged =
      args.findings.write([&] { return races_findings(report); }, report.answer.outcome);
  if (!judged) return fail(judged.error());
  if (args.force && !report.answer.races.empty()) return force_race(args, report, plan, budget);
  return deliver(args.common,
                 args.common.json ? races_json(report) : races_text(report, args.common.paint()),
                 exit_code(*judged));
}

// A baseline that knows the first prediction must not hide the others.
std::size_t most_predictions(const PredictArguments& args) {
  constexpr std::size_t kMostAgainstBaseline = 100;
  return args.all.value_or(args.findings.has_baseline() ? kMostAgainstBaseline : 1);
}

// Runs the program along each prediction. Without --validate, too: what the run wrote takes the
// place of what is not known.
Result<void> run_program(const PredictArguments& args, LoadedProgram& program, const Level& level,
                         const LevelSet& levels, PredictReport& report, Budget& budget) {
  report.program = program.program.get();
  report.program_source = args.app.path;
  program.adopt_rows_of(report.observed);
  for (predict::Prediction& prediction : report.answer.predictions) {
    auto validated = predict::validate(*program.program, prediction, level, levels,
                                       report.options.boundary, budget);
    if (!validated) return validated.error();
    prediction.history = predict::with_values(prediction, *validated);
    if (args.validate) report.validations.push_back(*std::move(validated));
  }
  return {};
}

Result<LoadedProgram> load_app(const PredictArguments& args, const Budget& budget) {
  auto loaded = args.app.load(budget);
  if (!loaded) return loaded;
  if (auto calls = loaded->require_calls(); !calls) return calls.error();
  if (auto whole = loaded->require_whole_calls(); !whole) return whole.error();
  return loaded;
}

int run_predict(const PredictArguments& args) {
  const auto start = Clock::now();
  Budget budget = args.common.start();
  if (args.validate && args.app.path.empty())
    return fail({.what = "--validate needs the program", .hint = "use --app PROGRAM --validate"});
  if (args.force != !args.dsn.empty() || args.force != !args.commands.runs.empty())
    return fail({.what = "--force needs --dsn and --run, and these need --force",
                 .hint = "write --force --dsn DSN --run SESSION=COMMAND --run SESSION=COMMAND"});
  auto levels = args.specs.load(budget);
  if (!levels) return fail(levels.error());
  const auto server = races::server_level(args.level);
  auto level = find_timeless(*levels, args.level);
  if (!level && !server) return fail(level.error());
  auto format = find_format(args.to);
  if (!format) return fail(format.error());
  LoadedProgram program;
  if (!args.app.path.empty()) {
    auto loaded = load_app(args, budget);
    if (!loaded) return fail(loaded.error());
    program = *std::move(loaded);
  }
  RunNotes notes;
  auto history = args.history.read(progress_line(args.common), budget, Ambiguity::Refuse, &notes);
  if (!history) return fail(history.error());
  if (server && notes.is_recorded)
    return run_races(args, *server, *history, *levels, start, budget);
  if (!level) return fail(level.error());
  if (args.force)
    return fail({.what = "--force plays races of recorded runs at PostgreSQL's levels",
                 .hint = "take --level " + pg_level_names() + ", and a run of isoscope record"});
  if ((*level)->framework != Framework::CoSnap) {
    if (auto plain = require_plain(**level, "predict"); !plain) return fail(plain.error());
  } else if (program.program != nullptr) {
    return fail({.what = fmt::format("--app runs the program on the embedded store, which does not "
                                     "know levels over co, snap, as '{}' is",
                                     (*level)->full_name()),
                 .hint = "leave --app out; isoscope explore and run execute programs at " +
                         pg_level_names("and")});
  }
  if (notes.gaps > 0) return fail(Error{.what = notes.limit(), .is_limit = true});
  if (!has_committed(*history))
    return fail(
        Error{.what = "there is nothing to predict from: no transaction of the run committed",
              .is_limit = true});
  auto already = predict::check_observed(*history, **level, *levels, budget);
  if (!already) return fail(already.error().in(args.history.path));

  PredictReport report{.observed = *history,
                       .source = args.history.path,
                       .level = args.level,
                       .options = {.boundary = find_boundary(args.boundary),
                                   .encoding = args.encoding == "approx" ? predict::Encoding::Approx
                                                                         : predict::Encoding::Exact,
                                   .minimal = args.minimal,
                                   .most = most_predictions(args),
                                   .progress = progress_line(args.common)},
                       .answer = {}};
  if (*already) {
    report.answer.outcome = predict::PredictOutcome::Predicted;
    report.answer.reads = (*already)->history.reads_from().size();
    report.answer.predictions.push_back(**std::move(already));
  } else {
    report.answer = predict::predict(*history, **level, *levels, report.options, budget);
  }
  clear_progress_line();
  if (program.program != nullptr) {
    auto run = run_program(args, program, **level, *levels, report, budget);
    if (!run) return fail(run.error().in(args.app.path));
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (auto written = write_files(args, report, *format); !written) return fail(written.error());
  if (auto written = args.pictures.write([&] { return predict_page(report); }); !written)
    return fail(written.error());
  const auto judged =
      args.findings.write([&] { return predict_findings(report); }, report.answer.outcome);
  if (!judged) return fail(judged.error());
  const std::string text =
      args.common.json ? predict_json(report) : predict_text(report, args.common.paint());
  return deliver(args.common, text, exit_code(*judged));
}

}  // namespace

Run add_predict(CLI::App& app) {
  auto args = std::make_shared<PredictArguments>();
  args->history.add_to(app);
  app.add_option("-l,--level", args->level, "the level that the predicted run must satisfy")
      ->required()
      ->type_name("LEVEL");
  args->specs.add_to(app);
  app.add_option("--sessions", args->sessions,
                 "whether a connection is one client, or every transaction is a client of its own")
      ->type_name("connection|transaction")
      ->check(one_of({"connection", "transaction"}))
      ->capture_default_str();
  app.add_option("--boundary", args->boundary,
                 "what of a transaction with changed reads counts: all of it, or what precedes "
                 "the changed read")
      ->type_name("strict|strict+|relaxed")
      ->check(one_of({"strict", "strict+", "relaxed"}))
      ->capture_default_str();
  app.add_option("--encoding", args->encoding,
                 "exact: every unserializable run; approx: only those with a cyclic pco")
      ->type_name("exact|approx")
      ->check(one_of({"exact", "approx"}))
      ->capture_default_str();
  app.add_option("--all", args->all,
                 "find up to N runs, with different transactions involved (1; with --baseline 100)")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  app.add_flag("--minimal,!--no-minimal", args->minimal,
               "prefer the fewest changed reads (the default)");
  add_input_file(app, "--app", args->app.path, "the .txn or SQL program that the trace is of")
      ->type_name("PROGRAM");
  args->app.add_workload_to(app);
  app.add_flag("--validate", args->validate, "run the program along each prediction");
  add_output_file(app, "--predicted", args->predicted,
                  "write the first predicted history; at a level of PostgreSQL's the plan of a "
                  "race, for force");
  app.add_option("--race", args->race, "the race whose plan is written and forced")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  app.add_flag("--force", args->force, "play the race on the server, with commands of your own");
  app.add_option("--dsn", args->dsn, "with --force: the PostgreSQL server, as libpq reads it")
      ->type_name("DSN");
  args->commands.add_to(app);
  args->commands.add_counts_to(app);
  app.add_option("--to", args->to, "the format of that file")
      ->type_name("FORMAT")
      ->capture_default_str();
  args->pictures.add_to(app, "the predictions");
  args->findings.add_to(app);
  add_common(app, args->common);
  app.footer(
      "Examples:\n"
      "  isoscope predict examples/predict/two-reports.hist --level cc\n"
      "  isoscope predict examples/shop/run.jsonl --level pg-rc --sessions transaction\n"
      "  isoscope predict examples/predict/known-past.hist --level rc --boundary strict --all 5\n"
      "  isoscope run examples/predict/bank.txn --store serial --seed 1 --trace bank.jsonl\n"
      "  isoscope predict bank.jsonl --level cc --app examples/predict/bank.txn --validate\n"
      "  isoscope predict bank.jsonl --level cc --predicted next.jsonl --html next.html\n"
      "Exit codes: 0 nothing predicted, 1 predicted, 2 bad input, 3 unknown; with --force those of "
      "force.");
  return [args] { return run_predict(*args); };
}

}  // namespace isoscope
