// isoscope force PLAN|SPEC|APP.sql|PREDICTED --dsn DSN [--app APP.sql]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/history_input.h"
#include "cli/pictures.h"
#include "cli/values.h"
#include "force/app_forcing.h"
#include "force/forcing.h"
#include "force/plan_file.h"
#include "report/force_report.h"
#include "support/input.h"
#include "support/output.h"

namespace isoscope {
namespace {

struct ForceArguments {
  CommonOptions common;
  std::string input;
  std::string dsn;
  std::int64_t times = 1;
  bool first = false;
  std::string isolationtester;
  std::string app;
  std::string level = "read-committed";
  std::int64_t schedules = 1'000;
  Pictures pictures;
};

constexpr std::int64_t kMostTimes = 1'000'000;

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
  const int code = exit_code(answer.verdict);
  return deliver(args.common,
                 args.common.json ? force_json(report) : force_text(report, args.common.paint()),
                 code);
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
  auto forced = force::force_app(*app, *text,
                                 {.dsn = args.dsn,
                                  .isolation = isolation,
                                  .only = std::move(only),
                                  .most_schedules = static_cast<std::size_t>(args.schedules),
                                  .times = static_cast<std::size_t>(args.times),
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

int run_force(const ForceArguments& args) {
  const Budget budget = args.common.start();
  if (!args.app.empty()) {
    auto names = calls_of(args, budget);
    if (!names) return fail(names.error());
    return run_app(args, args.app, std::move(*names), budget);
  }
  if (args.input.ends_with(".sql")) return run_app(args, args.input, {}, budget);
  auto spec = read_forced(args, budget);
  if (!spec) return fail(spec.error());
  auto answer = force::force_spec(*spec, {.dsn = args.dsn,
                                          .times = static_cast<std::size_t>(args.times),
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
  add_input_file(app, "PLAN", args->input,
                 "a plan (isoscope-plan/1), a .spec of isolationtester, an SQL application with "
                 "sessions (.sql), or with --app a predicted history; - is standard input")
      ->required();
  app.add_option("--dsn", args->dsn, "the PostgreSQL server, as libpq reads it: words or a URL")
      ->required()
      ->type_name("DSN");
  app.add_option("--times", args->times, "play each order of steps so many times")
      ->type_name("N")
      ->check(whole_number(1, kMostTimes))
      ->capture_default_str();
  app.add_flag("--first", args->first, "stop at the first order that goes wrong");
  add_output_file(app, "--isolationtester", args->isolationtester,
                  "write what was played as a .spec, and beside it the expected output (.out)");
  add_input_file(app, "--app", args->app,
                 "the SQL application whose calls the predicted history has");
  app.add_option("-l,--level", args->level,
                 "of an application: the level of calls without one of their own")
      ->type_name("LEVEL")
      ->capture_default_str();
  app.add_option("--schedules", args->schedules, "of an application: try at most so many")
      ->type_name("N")
      ->check(whole_number(1, kMostTimes))
      ->capture_default_str();
  args->pictures.add_to(app, "the orders of steps");
  add_common(app, args->common);
  app.footer(
      "Without a permutation or steps, every order is played. The server itself plays the serial\n"
      "orders of the committed transactions too: what none of them gives is reproduced.\n"
      "Examples:\n"
      "  isoscope force examples/force/lost-update.spec --dsn \"host=127.0.0.1 dbname=test\"\n"
      "  isoscope force examples/force/write-skew.json --dsn postgresql://127.0.0.1/test "
      "--times 100\n"
      "  isoscope force examples/sql/bank.sql --dsn \"host=127.0.0.1 dbname=test\" --level "
      "repeatable-read\n"
      "Exit codes: 0 prevented, 1 reproduced, 2 bad input, 3 diverged or unknown.");
  return [args] { return run_force(*args); };
}

}  // namespace isoscope
