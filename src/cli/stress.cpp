// isoscope stress --dsn DSN --workload W|APP.sql --isolation L --level CLAIMED
#include "force/stress.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "check/check.h"
#include "check/minimize.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/finding_files.h"
#include "cli/pictures.h"
#include "cli/values.h"
#include "force/app_stress.h"
#include "force/stress_plan.h"
#include "formats/jsonl.h"
#include "report/stress_report.h"
#include "support/input.h"
#include "support/output.h"
#include "verdict/logic.h"

namespace isoscope {
namespace {

struct StressArguments {
  CommonOptions common;
  std::string dsn;
  std::string workload = "register";
  std::string isolation;
  std::string level;
  std::int64_t clients = 8;
  std::int64_t txns = 10'000;
  double seconds = 0;
  std::int64_t keys = 10;
  std::uint64_t seed = 0;
  Pictures pictures;
  JunitFile junit;
  std::int64_t kill_clients = 0;
  std::string kill_server;
  std::int64_t server_kills = 1;
  std::string plan;
};

// A run and what is said of it.
struct Stressed {
  force::StressRun run;
  LevelAnswer answer;
  std::map<std::string, std::size_t> calls = {};  // of an application: by function
  std::vector<std::string> notes = {};
};

constexpr double kLongestLook = 10;  // seconds, at what was seen so far

Result<void> write_run(const std::string& path, const History& h) {
  auto output = Output::open(path);
  if (!output) return output.error();
  if (auto written = write_jsonl(h, output->sink()); !written) return written;
  return output->close();
}

std::function<void(const force::StressNumbers&, double)> stress_progress(
    const StressArguments& args, std::string_view what) {
  const Progress line = progress_line(args.common);
  if (!line) return {};
  return [line, what](const force::StressNumbers& numbers, double fraction) {
    std::size_t aborted = 0;
    for (const auto& [error, count] : numbers.aborts) aborted += count;
    line(fmt::format("{} committed, {:.0f} per second, {} aborted, {}", numbers.committed,
                     throughput(numbers), aborted, what),
         fraction);
  };
}

force::StressOptions options_of(const StressArguments& args, const Budget& budget) {
  force::StressOptions options{
      .workload = args.workload == "list"   ? force::StressWorkload::List
                  : args.workload == "bank" ? force::StressWorkload::Bank
                                            : force::StressWorkload::Register,
      .isolation = args.isolation,
      .clients = static_cast<std::size_t>(args.clients),
      .txns = static_cast<std::size_t>(args.txns),
      .seconds = args.seconds,
      .keys = static_cast<std::size_t>(args.keys),
      .seed = args.seed,
      .kill_clients = static_cast<std::size_t>(args.kill_clients),
      .kill_servers = args.kill_server.empty() ? 0 : static_cast<std::size_t>(args.server_kills),
      .kill_server = args.kill_server,
      .budget = budget,
      .progress = stress_progress(args, "no anomaly so far")};
  return options;
}

// Writes the smallest part of the violation in a form that force plays.
using PlanWriter = std::function<std::string(const History& minimal)>;

int deliver_stress(const StressArguments& args, Stressed& stressed, const Level& level,
                   const PlanWriter& plan, const Budget& budget) {
  const History& h = *stressed.run.history;
  StressReport report{
      .run = stressed.run,
      .checked = {.h = h, .source = args.isolation, .levels = {}, .seconds = seconds_running()},
      .calls = std::move(stressed.calls),
      .notes = std::move(stressed.notes)};
  report.checked.levels.push_back(std::move(stressed.answer));
  if (auto written = args.pictures.write([&] { return stress_page(report); }); !written)
    return fail(written.error());
  if (auto written = args.junit.write([&] { return stress_findings(report); }); !written)
    return fail(written.error());
  const auto& violation = report.checked.levels.front().answer.verdict.violation;
  if (violation && !args.plan.empty()) {
    Budget minimizing = budget;
    const Minimized minimal = minimize(h, level, LevelSet::built_in(), *violation, minimizing);
    auto output = Output::open(args.plan);
    if (!output) return fail(output.error());
    output->write(plan(minimal.part));
    if (auto closed = output->close(); !closed) return fail(closed.error());
  }
  CommonOptions where = args.common;
  where.output = "-";
  return deliver(where,
                 args.common.json ? stress_json(report) : stress_text(report, args.common.paint()),
                 exit_code(header_of(report).outcome));
}

// Rows of our own.
int stress_rows(const StressArguments& args, const Level& level, const Budget& budget) {
  auto server = force::open_server(args.dsn);
  if (!server) return fail(server.error());
  force::StressOptions options = options_of(args, budget);
  // Now and then what was seen so far is checked, and the first anomaly is enough.
  options.is_enough = [&](const History& so_far) {
    Budget checking = budget.within(kLongestLook);
    return check(so_far, level, checking).verdict.outcome == Outcome::Violated;
  };
  auto run = force::stress(**server, options);
  clear_progress_line();
  if (!run) return fail(run.error());
  if (args.common.output != "-")
    if (auto written = write_run(args.common.output, *run->history); !written)
      return fail(written.error());
  Stressed stressed{.run = std::move(*run), .answer = {.level = args.level, .answer = {}}};
  const History& h = *stressed.run.history;
  Budget checking = budget;
  stressed.answer.answer = check(h, level, checking, {.progress = progress_line(args.common)});
  if (!has_committed(h))
    stressed.answer.answer.verdict =
        Verdict::unknown("there is nothing to check: no transaction committed");
  // InnoDB shows a transaction the latest version of a row that it has changed itself. Of a list
  // that is a read of what others have appended, which such a level has in no other place.
  const bool is_unlike = options.workload == force::StressWorkload::List &&
                         !(*server)->has_returning() && snap_rules_of(level);
  if (is_unlike && stressed.answer.answer.verdict.outcome == Outcome::Violated)
    stressed.answer.answer.verdict = Verdict::unknown(
        "this level says nothing of lists that a transaction reads after it has appended to them: "
        "take --workload register or bank");
  clear_progress_line();
  return deliver_stress(
      args, stressed, level,
      [&](const History& minimal) { return force::stress_plan(minimal, options); }, budget);
}

// What check says of a recorded run: a violation must stand without coarse reads, and without
// knowing all nothing is consistent.
Verdict judged(const force::AppStressRun& run, const History& h, const RunNotes& notes,
               const Level& level, CheckAnswer& answer, Budget& budget) {
  if (!has_committed(h))
    return Verdict::unknown("there is nothing to check: no transaction committed");
  if (answer.verdict.outcome == Outcome::Violated && !run.fine.empty()) {
    LineReader lines = LineReader::over(run.fine);
    RunNotes of_fine;
    const auto fine = read_jsonl(lines, &of_fine);
    if (!fine || check(*fine, level, budget).verdict.outcome != Outcome::Violated)
      return Verdict::unknown(
          "it is violated only by rows of joins, on which the statements may "
          "not depend");
  }
  if (answer.verdict.outcome == Outcome::Consistent && notes.gaps > 0)
    return Verdict::unknown(notes.limit());
  return std::move(answer.verdict);
}

// Calls of an application's functions.
int stress_calls(const StressArguments& args, const Level& level, const Budget& budget) {
  if (args.kill_clients > 0 || !args.kill_server.empty())
    return fail({.what = "--kill-clients and --kill-server do not go with an application",
                 .hint = "take --workload register, list or bank"});
  auto text = read_whole(args.workload, budget);
  if (!text) return fail(text.error());
  auto app = sql::parse_application(*text);
  if (!app) return fail(app.error().in(args.workload));
  const std::string isolation = force::sql_isolation(args.isolation);
  if (isolation.empty())
    return fail({.what = fmt::format("'{}' is no level of PostgreSQL", args.isolation),
                 .hint = "READ COMMITTED, REPEATABLE READ and SERIALIZABLE are"});
  auto run = force::stress_app(*app, *text,
                               {.dsn = args.dsn,
                                .isolation = isolation,
                                .clients = static_cast<std::size_t>(args.clients),
                                .txns = static_cast<std::size_t>(args.txns),
                                .seconds = args.seconds,
                                .keys = static_cast<std::size_t>(args.keys),
                                .seed = args.seed,
                                .budget = budget,
                                .progress = stress_progress(args, "checked in the end")});
  clear_progress_line();
  if (!run) return fail(run.error().in(args.workload));
  if (args.common.output != "-") {
    auto output = Output::open(args.common.output);
    if (!output) return fail(output.error());
    output->write(run->text);
    if (auto closed = output->close(); !closed) return fail(closed.error());
  }
  LineReader lines = LineReader::over(run->text);
  RunNotes notes;
  auto history = read_jsonl(lines, &notes);
  if (!history) return fail(history.error());
  Stressed stressed{.run = {.product = run->product,
                            .history = std::move(*history),
                            .numbers = run->numbers,
                            .was_cut = run->was_cut},
                    .answer = {.level = args.level, .answer = {}},
                    .calls = run->calls};
  for (const std::string& function : run->left_out)
    stressed.notes.push_back("not called: " + function);
  Budget checking = budget;
  CheckAnswer answer =
      check(*stressed.run.history, level, checking, {.progress = progress_line(args.common)});
  answer.verdict = judged(*run, *stressed.run.history, notes, level, answer, checking);
  stressed.answer.answer = std::move(answer);
  clear_progress_line();
  return deliver_stress(
      args, stressed, level,
      [&](const History& minimal) {
        std::vector<std::string> calls;
        for (const TxnId t : minimal.txns())
          if (const auto call = run->call_of.find(minimal.name(t)); call != run->call_of.end())
            calls.push_back(call->second);
        return force::app_with_sessions(*text, calls);
      },
      budget);
}

int run_stress(const StressArguments& args) {
  const Budget budget = args.common.start();
  const LevelSet levels = LevelSet::built_in();
  auto level = levels.find(args.level);
  if (!level) return fail(level.error());
  return args.workload.ends_with(".sql") ? stress_calls(args, **level, budget)
                                         : stress_rows(args, **level, budget);
}

}  // namespace

Run add_stress(CLI::App& app) {
  auto args = std::make_shared<StressArguments>();
  app.add_option("--dsn", args->dsn,
                 "the server: PostgreSQL as libpq reads it, or mariadb://user@host:port")
      ->required()
      ->type_name("DSN");
  app.add_option("--workload", args->workload,
                 "what the clients do: rows of our own, or calls of an application's functions")
      ->type_name("register|list|bank|APP.sql")
      ->check([known = one_of({"register", "list", "bank"})](const std::string& name) {
        return name.ends_with(".sql") ? std::string() : known(name);
      })
      ->capture_default_str();
  app.add_option("--isolation", args->isolation, "the level of the server, as it calls it")
      ->required()
      ->type_name("L");
  app.add_option("-l,--level", args->level, "the level of isoscope that the server claims to give")
      ->required()
      ->type_name("LEVEL");
  app.add_option("--clients", args->clients, "clients at the same time")
      ->type_name("N")
      ->check(whole_number(1, 1'000))
      ->capture_default_str();
  app.add_option("--txns", args->txns, "transactions of all clients together")
      ->type_name("N")
      ->check(whole_number(1, kMostOfAnything))
      ->capture_default_str();
  app.add_option("--time", args->seconds, "stop after this time")->type_name("SECONDS");
  app.add_option("--keys", args->keys, "rows that they share")
      ->type_name("N")
      ->check(whole_number(2, 1'000'000))
      ->capture_default_str();
  app.add_option("--seed", args->seed, "decides what the clients do")
      ->type_name("N")
      ->check(whole_number(0, kLargestSeed))
      ->capture_default_str();
  args->pictures.add_to(app, "the violation");
  args->junit.add_to(app);
  app.add_option("--kill-clients", args->kill_clients,
                 "kill N connections in the course of the run")
      ->type_name("N")
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--kill-server", args->kill_server,
                 "a command that kills the server and starts it again, while the clients work")
      ->type_name("COMMAND");
  app.add_option("--server-kills", args->server_kills, "with --kill-server: how many times")
      ->type_name("N")
      ->check(whole_number(1, 1'000))
      ->capture_default_str();
  add_output_file(app, "--plan", args->plan,
                  "if the level is violated, write the smallest part for force: a plan, or of an "
                  "application itself with sessions");
  add_common(app, args->common);
  app.footer(
      "-o names the file of the run, a history in the format jsonl.\n"
      "Examples:\n"
      "  isoscope stress --dsn \"host=127.0.0.1 dbname=test\" --workload list "
      "--isolation \"REPEATABLE READ\" --level si\n"
      "  isoscope stress --dsn mariadb://root@127.0.0.1:3306 --workload bank "
      "--isolation \"REPEATABLE READ\" --level si -o run.jsonl\n"
      "  isoscope stress --dsn \"host=127.0.0.1 dbname=test\" --isolation \"READ COMMITTED\" "
      "--level "
      "si --plan plan.json\n"
      "  isoscope stress --dsn \"host=127.0.0.1 dbname=test\" --workload examples/sql/bank.sql "
      "--isolation \"READ COMMITTED\" --level si --txns 300 --plan race.sql\n"
      "Exit codes: 0 consistent, 1 violated, 2 bad input, 3 unknown.");
  return [args] { return run_stress(*args); };
}

}  // namespace isoscope
