// isoscope probe --dsn DSN
#include "force/probe.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/finding_files.h"
#include "cli/pictures.h"
#include "report/probe_report.h"

namespace isoscope {
namespace {

struct ProbeArguments {
  CommonOptions common;
  std::string dsn;
  std::vector<std::string> levels;
  std::vector<std::string> expected;
  std::vector<std::string> only;
  Pictures pictures;
  JunitFile junit;
};

int run_probe_command(const ProbeArguments& args) {
  force::ProbeOptions options{.levels = args.levels,
                              .only = args.only,
                              .budget = args.common.start(),
                              .progress = progress_line(args.common)};
  for (const std::string& pair : args.expected) {
    const std::size_t sign = pair.rfind('=');
    if (sign == std::string::npos)
      return fail({.what = fmt::format("--expect {} has no '='", pair),
                   .hint = "write --expect \"REPEATABLE READ=si\""});
    options.expected[pair.substr(0, sign)] = pair.substr(sign + 1);
  }
  auto server = force::open_server(args.dsn);
  if (!server) return fail(server.error());
  auto answer = force::probe(**server, options);
  clear_progress_line();
  if (!answer) return fail(answer.error());
  if (auto written = args.pictures.write([&] { return probe_page(*answer); }); !written)
    return fail(written.error());
  if (auto written = args.junit.write([&] { return probe_findings(*answer, seconds_running()); });
      !written)
    return fail(written.error());
  const int code = exit_code(answer->outcome);
  return deliver(args.common,
                 args.common.json ? probe_json(*answer, seconds_running())
                                  : probe_text(*answer, args.common.paint()),
                 code);
}

}  // namespace

Run add_probe(CLI::App& app) {
  auto args = std::make_shared<ProbeArguments>();
  app.add_option("--dsn", args->dsn,
                 "the server: PostgreSQL as libpq reads it, or mariadb://user@host:port")
      ->required()
      ->type_name("DSN");
  app.add_option("--levels", args->levels,
                 "only these levels, as the server calls them; all without it")
      ->type_name("L,L")
      ->delimiter(',');
  app.add_option("--expect", args->expected,
                 "what a level of the server must give, in place of what its vendor says")
      ->type_name("L=LEVEL");
  app.add_option("--only", args->only, "only these probes")->type_name("P,P")->delimiter(',');
  args->pictures.add_to(app, "the table");
  args->junit.add_to(app);
  add_common(app, args->common);
  app.footer(
      "The probes run in a schema (MariaDB: a database) of their own, which is dropped again.\n"
      "Examples:\n"
      "  isoscope probe --dsn \"host=127.0.0.1 dbname=test\"\n"
      "  isoscope probe --dsn mariadb://root@127.0.0.1:3306 --levels \"REPEATABLE READ\"\n"
      "  isoscope probe --dsn postgresql://127.0.0.1/test --expect \"REPEATABLE READ=si\" --json\n"
      "Exit codes: 0 kept, 1 broken, 2 bad input, 3 unknown.");
  return [args] { return run_probe_command(*args); };
}

}  // namespace isoscope
