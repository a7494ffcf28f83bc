// isoscope stress --dsn DSN --workload W --isolation L --level CLAIMED
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
#include "force/stress_plan.h"
#include "formats/jsonl.h"
#include "report/check_report.h"
#include "report/json.h"
#include "support/output.h"
#include "support/printable.h"

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

constexpr double kLongestLook = 10;  // seconds, at what was seen so far

double throughput(const force::StressNumbers& numbers) {
  return numbers.seconds > 0 ? static_cast<double>(numbers.committed) / numbers.seconds : 0;
}

std::string stress_text(const force::StressRun& run, const CheckReport& report,
                        const Paint& paint) {
  const force::StressNumbers& numbers = run.numbers;
  std::string out = fmt::format("{}: {} committed, {:.0f} per second", run.product,
                                numbers.committed, throughput(numbers));
  for (const auto& [error, count] : numbers.aborts)
    out += fmt::format(", {} aborted by {}", count, error);
  if (numbers.unknown > 0) out += fmt::format(", {} of unknown outcome", numbers.unknown);
  if (numbers.killed_clients > 0)
    out += fmt::format(", {} connections killed", numbers.killed_clients);
  if (numbers.killed_servers > 0)
    out += fmt::format(", the server killed {} times", numbers.killed_servers);
  return out + '\n' + check_text(report, paint);
}

std::string stress_json(const force::StressRun& run, const CheckReport& report) {
  Json json = Json::parse(check_json(report));
  json["command"] = "stress";
  json["server"] = run.product;
  const force::StressNumbers& numbers = run.numbers;
  json["committed"] = numbers.committed;
  json["unknown"] = numbers.unknown;
  json["aborts"] = numbers.aborts;
  json["throughput"] = throughput(numbers);
  json["killed_clients"] = numbers.killed_clients;
  json["killed_servers"] = numbers.killed_servers;
  return dump(json) + '\n';
}

Page stress_page(const force::StressRun& run, const CheckReport& report) {
  Page page = check_page(report);
  page.command = "stress";
  page.source = printable(run.product + ", " + report.source);
  PageTable table{.title = "The run", .columns = {"transactions", "count"}, .rows = {}};
  table.rows.push_back({{"committed"}, {std::to_string(run.numbers.committed)}});
  for (const auto& [error, count] : run.numbers.aborts)
    table.rows.push_back({{"aborted by " + printable(error)}, {std::to_string(count)}});
  if (run.numbers.unknown > 0)
    table.rows.push_back({{"of unknown outcome"}, {std::to_string(run.numbers.unknown)}});
  page.tables.push_back(std::move(table));
  if (run.numbers.seconds > 0)
    page.notes.push_back(
        fmt::format("{:.0f} transactions per second committed.",
                    static_cast<double>(run.numbers.committed) / run.numbers.seconds));
  if (run.was_cut) page.notes.emplace_back("A limit was reached before all transactions were run.");
  return page;
}

Result<void> write_run(const std::string& path, const History& h) {
  auto output = Output::open(path);
  if (!output) return output.error();
  if (auto written = write_jsonl(h, output->sink()); !written) return written;
  return output->close();
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
      .budget = budget};
  if (const Progress line = progress_line(args.common)) {
    options.progress = [line](const force::StressNumbers& numbers, double fraction) {
      std::size_t aborted = 0;
      for (const auto& [error, count] : numbers.aborts) aborted += count;
      line(fmt::format("{} committed, {:.0f} per second, {} aborted, no anomaly so far",
                       numbers.committed, throughput(numbers), aborted),
           fraction);
    };
  }
  return options;
}

// The smallest part of the violation, as a plan.
Result<void> write_plan(const std::string& path, const History& h, const Level& level,
                        const Violation& violation, const force::StressOptions& options,
                        Budget& budget) {
  const Minimized minimal = minimize(h, level, LevelSet::built_in(), violation, budget);
  auto output = Output::open(path);
  if (!output) return output.error();
  output->write(force::stress_plan(minimal.part, options));
  return output->close();
}

int run_stress(const StressArguments& args) {
  const Budget budget = args.common.start();
  const LevelSet levels = LevelSet::built_in();
  auto level = levels.find(args.level);
  if (!level) return fail(level.error());
  auto server = force::open_server(args.dsn);
  if (!server) return fail(server.error());
  force::StressOptions options = options_of(args, budget);
  // Now and then what was seen so far is checked, and the first anomaly is enough.
  options.is_enough = [&](const History& so_far) {
    Budget checking = budget.within(kLongestLook);
    return check(so_far, **level, checking).verdict.outcome == Outcome::Violated;
  };
  auto run = force::stress(**server, options);
  clear_progress_line();
  if (!run) return fail(run.error());
  if (args.common.output != "-")
    if (auto written = write_run(args.common.output, *run->history); !written)
      return fail(written.error());
  CheckReport report{.h = *run->history, .source = args.isolation, .levels = {}, .seconds = 0};
  LevelAnswer answer{.level = args.level, .answer = {}};
  Budget checking = budget;
  answer.answer = check(*run->history, **level, checking, {.progress = progress_line(args.common)});
  if (!has_committed(*run->history))
    answer.answer.verdict = Verdict::unknown("there is nothing to check: no transaction committed");
  clear_progress_line();
  report.levels.push_back(std::move(answer));
  report.seconds = seconds_running();
  const Outcome outcome = overall(report);
  if (auto written = args.pictures.write([&] { return stress_page(*run, report); }); !written)
    return fail(written.error());
  if (auto written = args.junit.write([&] {
        Findings findings = check_findings(report);
        findings.command = "stress";
        return findings;
      });
      !written)
    return fail(written.error());
  const auto& violation = report.levels.front().answer.verdict.violation;
  if (outcome == Outcome::Violated && violation && !args.plan.empty())
    if (auto written = write_plan(args.plan, *run->history, **level, *violation, options, checking);
        !written)
      return fail(written.error());
  CommonOptions where = args.common;
  where.output = "-";
  return deliver(
      where,
      args.common.json ? stress_json(*run, report) : stress_text(*run, report, args.common.paint()),
      exit_code(outcome));
}

}  // namespace

Run add_stress(CLI::App& app) {
  auto args = std::make_shared<StressArguments>();
  app.add_option("--dsn", args->dsn,
                 "the server: PostgreSQL as libpq reads it, or mariadb://user@host:port")
      ->required()
      ->type_name("DSN");
  app.add_option("--workload", args->workload, "what the clients do")
      ->type_name("register|list|bank")
      ->check(one_of({"register", "list", "bank"}))
      ->capture_default_str();
  app.add_option("--isolation", args->isolation, "the level of the server, as it calls it")
      ->required()
      ->type_name("L");
  app.add_option("-l,--level", args->level, "the level of ours that it is said to give")
      ->required()
      ->type_name("LEVEL");
  app.add_option("--clients", args->clients, "so many at once")
      ->type_name("N")
      ->check(whole_number(1, 1'000))
      ->capture_default_str();
  app.add_option("--txns", args->txns, "so many transactions in all")
      ->type_name("N")
      ->check(whole_number(1, kMostOfAnything))
      ->capture_default_str();
  app.add_option("--time", args->seconds, "stop after so many seconds")->type_name("SECONDS");
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
                 "kill so many connections in the course of the run")
      ->type_name("N")
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--kill-server", args->kill_server,
                 "a command that kills the server and starts it again, while the clients work")
      ->type_name("COMMAND");
  app.add_option("--server-kills", args->server_kills, "with --kill-server: so often")
      ->type_name("N")
      ->check(whole_number(1, 1'000))
      ->capture_default_str();
  add_output_file(app, "--plan", args->plan,
                  "if the level is violated, write the smallest part as a plan for force");
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
      "Exit codes: 0 consistent, 1 violated, 2 bad input, 3 unknown.");
  return [args] { return run_stress(*args); };
}

}  // namespace isoscope
