// isoscope force PLAN|SPEC|APP.sql|PREDICTED --dsn DSN [--app APP.sql]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/command_input.h"
#include "cli/files.h"
#include "cli/history_input.h"
#include "cli/pictures.h"
#include "cli/values.h"
#include "force/app_forcing.h"
#include "force/forcing.h"
#include "force/plan_file.h"
#include "report/command_force_report.h"
#include "report/force_report.h"
#include "support/input.h"
#include "support/output.h"

namespace isoscope {
namespace {

struct ForceArguments {
  CommonOptions common;
  std::string input;
  std::string dsn;
  CommandInput commands;
  std::int64_t race = 1;
  bool first = false;
  std::string isolationtester;
  std::string app;
  std::string level = "read-committed";
  Pictures pictures;
};

Result<force::Spec> read_forced(const ForceArguments& args, const Budget& budget) {
  auto text = read_whole(args.input, budget);
  if (!text) return text.error();
  auto spec = force::looks_like_plan(*text) ? force::read_plan(*text)
              : force::looks_like_spec(*text)
                  ? force::read_spec(*text)
                  : Result<force::Spec>(Error{.what = "this is neither a plan nor a "
                                                      "specification of isolationtester",
                                              .hint = "docs/force.md shows both"});
  if (!spec) return spec.error().in(args.input == "-" ? "standard input" : args.input);
  return spec;
}

// FILE.spec and the output that isolationtester has for it, FILE.out.
Result<void> write_test(const std::string& path, const force::Spec& spec,
                        const force::ForceAnswer& answer) {
  force::Spec written = spec;
  written.permutations.clear();
  std::string expected = fmt::format("Parsed test spec with {} sessions\n", spec.sessions.size());
  for (const force::Forced& forced : answer.forced) {
    written.permutations.push_back(forced.permutation);
    expected += force::isolationtester_output(spec, forced.permutation, forced.run);
  }
  std::string expected_path = path;
  if (expected_path.ends_with(".spec")) expected_path.resize(expected_path.size() - 5);
  expected_path += ".out";
  if (auto free = check_further_output(expected_path); !free) return free;
  const std::pair<std::string, std::string> files[] = {{path, force::write_spec(written)},
                                                       {expected_path, expected}};
  for (const auto& [file, text] : files) {
    auto output = Output::open(file);
    if (!output) return output.error();
    output->write(text);
    if (auto closed = output->close(); !closed) return closed;
  }
  return {};
}

int report_force(const ForceArguments& args, const force::Spec& spec,
                 const force::ForceAnswer& answer) {
  const ForceReport report{
      .spec = spec, .source = args.input, .answer = answer, .seconds = seconds_running()};
  if (auto written = args.pictures.write([&] { return force_page(report); }); !written)
    return fail(written.error());
  return deliver(args.common,
                 args.common.json ? force_json(report) : force_text(report, args.common.paint()),
                 exit_code(outcome_of(answer.verdict)));
}

// The calls of an application, all of them or those that a predicted history has.
int run_app(const ForceArguments& args, const std::string& path, std::vector<std::string> only,
            const Budget& budget) {
  if (!args.isolationtester.empty())
    return fail({.what = "--isolationtester writes plans and specifications, not applications"});
  auto text = read_whole(path, budget);
  if (!text) return fail(text.error());
  auto app = sql::parse_application(*text);
  if (!app) return fail(app.error().in(path));
  const std::string isolation = force::sql_isolation(args.level);
  if (isolation.empty())
    return fail({.what = fmt::format("'{}' is no level of PostgreSQL", args.level),
                 .hint = "read-committed, repeatable-read and serializable are"});
  auto forced =
      force::force_app(*app, *text,
                       {.dsn = args.dsn,
                        .isolation = isolation,
                        .only = std::move(only),
                        .most_schedules = static_cast<std::size_t>(args.commands.schedules),
                        .times = static_cast<std::size_t>(args.commands.times),
                        .budget = budget,
                        .progress = progress_line(args.common)});
  clear_progress_line();
  if (!forced) return fail(forced.error().in(path));
  return report_force(args, forced->spec, forced->answer);
}

// The names of the transactions of a history, which are those of calls: alice[1].
Result<std::vector<std::string>> calls_of(const ForceArguments& args, const Budget& budget) {
  RunNotes notes;
  const HistoryInput input{.path = args.input, .format = {}};
  auto history = input.read(progress_line(args.common), budget, Ambiguity::Keep, &notes);
  clear_progress_line();
  if (!history) return history.error();
  std::vector<std::string> names;
  for (std::uint32_t t = 1; t < history->num_txns(); ++t) names.push_back(history->name(TxnId{t}));
  return names;
}

// The user's own commands, through the proxy that holds their statements.
int run_commands(const ForceArguments& args, const Budget& budget) {
  if (!args.isolationtester.empty() || !args.app.empty() || args.first)
    return fail({.what = "--isolationtester, --app and --first cannot be combined with commands",
                 .hint = "--script DIR writes a regression test of commands"});
  std::optional<force::CommandPlan> plan;
  if (!args.input.empty()) {
    auto text = read_whole(args.input, budget);
    if (!text) return fail(text.error());
    auto made = force::read_command_plan(*text, static_cast<std::size_t>(args.race));
    if (!made) return fail(made.error().in(args.input == "-" ? "standard input" : args.input));
    plan = std::move(*made);
  }
  const force::CommandPlan* played = plan ? &*plan : nullptr;
  auto commands = args.commands.commands(played);
  if (!commands) return fail(commands.error());
  if (auto written = args.commands.write_script(args.dsn, played); !written)
    return fail(written.error());
  auto answer = args.commands.force(args.dsn, played, budget, progress_line(args.common));
  clear_progress_line();
  if (!answer) return fail(answer.error());
  CommandForceReport report{
      .source = args.input, .sessions = {}, .answer = *answer, .seconds = seconds_running()};
  for (const force::ShellCommand& command : *commands) report.sessions.push_back(command.session);
  if (auto written = args.pictures.write([&] { return command_force_page(report); }); !written)
    return fail(written.error());
  return deliver(args.common,
                 args.common.json ? command_force_json(report)
                                  : command_force_text(report, args.common.paint()),
                 exit_code(outcome_of(answer->verdict)));
}

int run_force(const ForceArguments& args) {
  const Budget budget = args.common.start();
  if (!args.commands.runs.empty()) return run_commands(args, budget);
  if (args.input.empty())
    return fail({.what = "there is nothing to force", .hint = "name a plan, or commands: --run"});
  if (!args.commands.setup.empty() || !args.commands.teardown.empty() ||
      !args.commands.script.empty())
    return fail({.what = "--setup, --teardown and --script need --run"});
  if (!args.app.empty()) {
    auto names = calls_of(args, budget);
    if (!names) return fail(names.error());
    return run_app(args, args.app, std::move(*names), budget);
  }
  if (args.input.ends_with(".sql")) return run_app(args, args.input, {}, budget);
  auto spec = read_forced(args, budget);
  if (!spec) return fail(spec.error());
  auto answer = force::force_spec(*spec, {.dsn = args.dsn,
                                          .times = static_cast<std::size_t>(args.commands.times),
                                          .stops_at_first = args.first,
                                          .budget = budget,
                                          .progress = progress_line(args.common)});
  clear_progress_line();
  if (!answer) return fail(answer.error());
  if (!args.isolationtester.empty())
    if (auto written = write_test(args.isolationtester, *spec, *answer); !written)
      return fail(written.error());
  return report_force(args, *spec, *answer);
}

}  // namespace

Run add_force(CLI::App& app) {
  auto args = std::make_shared<ForceArguments>();
  add_input_file(
      app, "PLAN", args->input,
      "a plan (isoscope-plan/1), a .spec of isolationtester, an SQL application with "
      "sessions (.sql), with --app a predicted history, with --run a predicted plan; - is "
      "standard input");
  app.add_option("--dsn", args->dsn, "the PostgreSQL server, as libpq reads it: words or a URL")
      ->required()
      ->type_name("DSN");
  args->commands.add_to(app);
  app.add_option("--race", args->race,
                 "with --run: which prediction of the answer of predict --json is played")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  args->commands.add_counts_to(app);
  app.add_flag("--first", args->first, "stop at the first order that goes wrong");
  add_output_file(app, "--isolationtester", args->isolationtester,
                  "write what was played as a .spec, and beside it the expected output (.out)");
  add_input_file(app, "--app", args->app,
                 "the SQL application whose calls the predicted history has");
  app.add_option("-l,--level", args->level,
                 "of an application: the level of calls without one of their own")
      ->type_name("LEVEL")
      ->capture_default_str();
  args->pictures.add_to(app, "the orders of steps");
  add_common(app, args->common);
  app.footer(
      "Without a permutation or steps, every order is played. The run is recorded, and reproduced "
      "if\n"
      "its history is not serializable; serial orders are played too, for comparison.\n"
      "Examples:\n"
      "  isoscope force examples/force/lost-update.spec --dsn \"host=127.0.0.1 dbname=test\"\n"
      "  isoscope force examples/force/write-skew.json --dsn postgresql://127.0.0.1/test "
      "--times 100\n"
      "  isoscope force examples/sql/bank.sql --dsn \"host=127.0.0.1 dbname=test\" --level "
      "repeatable-read\n"
      "  isoscope predict run.jsonl --level pg-rc --sessions transaction --predicted plan.json\n"
      "  isoscope force plan.json --dsn \"host=127.0.0.1 dbname=test\" --setup 'psql -qf "
      "schema.sql' "
      "\\\n"
      "      --run s1='python buy.py 1 3' --run s1.2='python buy.py 1 4'\n"
      "Exit codes: 0 prevented, 1 reproduced, 2 bad input, 3 diverged or unknown.");
  return [args] { return run_force(*args); };
}

}  // namespace isoscope
