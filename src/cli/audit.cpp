// isoscope audit APP.sql --level L …
#include "audit/audit.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "audit/advise.h"
#include "audit/claims.h"
#include "audit/server_levels.h"
#include "cli/audit_input.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/finding_files.h"
#include "cli/pictures.h"
#include "cli/values.h"
#include "formats/formats.h"
#include "report/audit_report.h"
#include "sql/read/assertions.h"
#include "support/output.h"
#include "support/printable.h"

namespace isoscope {
namespace {

using Clock = std::chrono::steady_clock;

struct AuditArguments {
  CommonOptions common;
  LevelInput specs;
  AuditInput input;
  std::size_t cycle = 4;
  bool all = false;
  std::string conflicts;  // empty: as the server has it
  std::string initial = "empty";
  bool prove = false;
  std::optional<std::size_t> path;
  bool advise = false;
  bool subsets = false;
  std::string history;
  std::string to = "hist";
  Pictures pictures;
  FindingFiles findings;
};

// Reports every function that cannot be modelled, where there is no other.
int fail_for_problems(const AuditArguments& args, const LoadedAudit& loaded) {
  for (const Error& problem : loaded.problems) (void)fail(problem);
  if (!args.input.only.empty())
    return fail({.what = "no function that --only names can be modelled"});
  const std::size_t count = loaded.problems.size();
  return fail({.what = count == 1
                           ? std::string("the only function cannot be modelled")
                           : fmt::format("none of the {} functions can be modelled", count)});
}

void print_notes(const AuditArguments& args, const LoadedAudit& loaded) {
  if (args.common.quiet || args.common.json) return;
  for (const sql::Note& note : loaded.app.notes)
    std::fprintf(stderr, "%s:%u:%u: %s: %s%s\n",
                 loaded.path == "-" ? "<stdin>" : printable(loaded.path).c_str(), note.where.line,
                 note.where.column, note.kind == sql::NoteKind::Gap ? "not modelled" : "note",
                 note.function.empty() ? "" : ("in " + printable(note.function) + ": ").c_str(),
                 printable(note.what).c_str());
}

// The first anomaly as a history.
Result<void> write_files(const AuditArguments& args, const AuditReport& report, Format format) {
  if (!args.history.empty()) {
    if (const auto history = audit_history(report)) {
      auto output = Output::open(args.history);
      if (!output) return output.error();
      if (auto written = write_history(*history, format, output->sink()); !written) return written;
      if (auto closed = output->close(); !closed) return closed;
    }
  }
  return {};
}

// Claims about rows are tried where calls can be executed, at a server's levels.
Result<void> try_claims(const LoadedAudit& loaded, AuditReport& report, Budget& budget) {
  auto claims = sql::parse_assertions(loaded.text, loaded.app);
  if (!claims) return loaded.located(claims.error());
  if (claims->empty()) return {};
  report.claim_texts = *std::move(claims);
  if (!audit::is_on_server(report.problem.levels) && !report.small_runs) return {};
  report.claims = audit::try_claims(report.problem, report.claim_texts, report.answer, budget);
  if (report.claims->has_broken()) {
    report.answer.outcome = audit::AuditOutcome::Anomaly;
    // One broken claim answers the question; with --all, what is undecided stays so.
    if (!report.options.all) report.answer.limit.clear();
  }
  return {};
}

// What needs the formulas, which know nothing of MariaDB; empty if nothing of it is asked for.
std::string needs_formulas(const AuditArguments& args) {
  if (args.path) return "--path";
  if (args.advise) return "--advise";
  if (args.subsets) return "--subsets";
  if (!args.input.serial.empty()) return "--serial";
  if (!args.conflicts.empty()) return "--conflicts";
  if (args.initial != "empty") return "--initial";
  return "";
}

// PostgreSQL locks rows, whatever their columns; the definitions of levels speak of columns.
audit::Conflicts conflicts_of(const AuditArguments& args) {
  const bool of_rows =
      args.conflicts.empty() ? args.input.server == "postgres" : args.conflicts == "row";
  return of_rows ? audit::Conflicts::Rows : audit::Conflicts::Columns;
}

// Without proofs: an anomaly is a run, and everything else is unknown.
void try_small_runs(const AuditArguments& args, AuditReport& report, Budget& budget) {
  constexpr std::size_t kMostCalls = 3;
  report.small_runs = audit::search_small_runs(
      report.problem, {.max_calls = std::min(args.cycle, kMostCalls), .all = report.options.all},
      budget);
  if (!report.small_runs->anomalies.empty()) {
    report.answer.outcome = audit::AuditOutcome::Anomaly;
    return;
  }
  report.answer.outcome = audit::AuditOutcome::Unknown;
  report.answer.limit =
      report.small_runs->is_complete
          ? "nothing is proved at MariaDB's levels, and no small run shows an anomaly"
          : limit_reached() +
                " was reached before all small runs were tried, and nothing is proved at "
                "MariaDB's levels";
}

int run_audit(const AuditArguments& args) {
  const auto start = Clock::now();
  Budget budget = args.common.start();
  auto levels = args.specs.load(budget);
  if (!levels) return fail(levels.error());
  auto format = find_format(args.to);
  if (!format) return fail(format.error());
  if (args.input.levels.size() > 1 && !args.advise)
    return fail({.what = "audit takes one level",
                 .hint = "use --assign TXN=LEVEL for single functions, or --advise to choose among "
                         "several levels"});
  if (const std::string option = needs_formulas(args);
      args.input.is_on_mariadb() && !option.empty())
    return fail({.what = option + " cannot be combined with --server mariadb",
                 .hint = "there, small runs are executed, and nothing is proved"});
  auto loaded = args.input.load(*levels, budget);
  if (!loaded) return fail(loaded.error());
  if (loaded->app.functions.empty() && !loaded->problems.empty())
    return fail_for_problems(args, *loaded);
  const audit::Problem problem{.app = loaded->app,
                               .levels = loaded->levels,
                               .conflicts = conflicts_of(args),
                               .serial = loaded->serial,
                               .rows_at_start = args.initial == "any"};
  if (auto fits = args.input.is_on_mariadb() ? audit::check_functions(problem)
                                             : audit::check_problem(problem);
      !fits)
    return fail(problem.app.functions.empty() ? fits.error().in(loaded->path)
                                              : loaded->located(fits.error()));
  for (const Level* candidate : loaded->candidates) {
    if (args.input.is_on_mariadb()) break;
    audit::Problem stronger = problem;
    stronger.levels.base = candidate;
    if (auto fits = audit::check_problem(stronger); !fits)
      return fail(loaded->located(fits.error()));
  }
  print_notes(args, *loaded);

  AuditReport report{.problem = problem,
                     .source = loaded->path,
                     // A baseline that knows the first anomaly must not hide the others.
                     .options = {.max_length = args.cycle,
                                 .all = args.all || args.findings.has_baseline(),
                                 .prove = args.prove || args.path.has_value(),
                                 .path = args.path,
                                 .progress = progress_line(args.common)}};
  if (args.input.is_on_mariadb()) {
    try_small_runs(args, report, budget);
  } else {
    report.answer = audit::audit(problem, report.options, budget);
  }
  if (auto tried = try_claims(*loaded, report, budget); !tried) return fail(tried.error());
  if (args.advise) {
    const bool has_anomaly = report.answer.outcome == audit::AuditOutcome::Anomaly;
    const auto& found = report.answer.search.anomalies;
    report.advice =
        audit::advise(problem, loaded->candidates, has_anomaly, report.options, budget,
                      found.empty() ? std::vector<sql::FunctionId>() : found.front().functions);
  }
  if (args.subsets) {
    report.subsets = audit::find_subsets(problem, loaded->candidates, report.options, budget);
    const sql::Application promoted = audit::with_promoted_reads(loaded->app);
    const audit::Problem locking{promoted, problem.levels, problem.conflicts, problem.serial,
                                 problem.rows_at_start};
    report.promoted = audit::find_subsets(locking, loaded->candidates, report.options, budget);
  }
  clear_progress_line();
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (auto written = write_files(args, report, *format); !written) return fail(written.error());
  if (auto written = args.pictures.write([&] { return audit_page(report); }); !written)
    return fail(written.error());
  const auto outcome = args.findings.write([&] { return audit_findings(report); }, overall(report));
  if (!outcome) return fail(outcome.error());
  return deliver(args.common,
                 args.common.json ? audit_json(report) : audit_text(report, args.common.paint()),
                 exit_code(*outcome));
}

}  // namespace

Run add_audit(CLI::App& app) {
  auto args = std::make_shared<AuditArguments>();
  args->input.add_to(app);
  args->specs.add_to(app);
  app.add_option("--cycle", args->cycle, "look for cycles of 2 to K calls")
      ->type_name("K")
      ->check(whole_number(2, 8))
      ->capture_default_str();
  app.add_flag("--all", args->all,
               "every anomaly that differs in its functions or kinds of edges, not only the first");
  app.add_option("--conflicts", args->conflicts,
                 "two writes of a row conflict if they have a column in common, or always; row by "
                 "default, column with --server formal")
      ->type_name("column|row")
      ->check(one_of({"column", "row"}));
  app.add_option("--initial", args->initial,
                 "tables with INSERTs start empty, or with any rows as the others do")
      ->type_name("empty|any")
      ->check(one_of({"empty", "any"}))
      ->capture_default_str();
  app.add_flag("--prove", args->prove, "prove that every execution is serializable, if it is");
  app.add_option("--path", args->path, "prove it by shortest paths of K edges only")
      ->type_name("K")
      ->check(whole_number(2, 8));
  app.add_flag(
      "--advise", args->advise,
      "the weakest level for each function, out of those given (of one: from it up), and repairs");
  app.add_flag("--subsets", args->subsets,
               "which functions are serializable together, and the lowest levels for all; as they "
               "are, and with reads FOR UPDATE");
  add_output_file(app, "--history", args->history,
                  "write the run of the first anomaly as a history");
  app.add_option("--to", args->to, "the format of that file")
      ->type_name("FORMAT")
      ->capture_default_str();
  args->pictures.add_to(app, "the anomalies");
  args->findings.add_to(app);
  add_common(app, args->common);
  app.footer(
      "Examples:\n"
      "  isoscope audit examples/audit/bank.sql\n"
      "  isoscope audit examples/audit/bank.sql --level pc\n"
      "  isoscope audit examples/audit/bank.sql --level si --prove\n"
      "  isoscope audit examples/audit/courseware.sql --level ec --cycle 2 --all\n"
      "  isoscope audit examples/audit/courseware.sql --level cc --assign enroll=si \
--serial enroll,rem_student\n"
      "  isoscope audit examples/audit/bank.sql --level ec,psi,si --advise\n"
      "  isoscope audit examples/audit/bank.sql --server mariadb\n"
      "  isoscope audit examples/audit/smallbank.sql --subsets\n"
      "  isoscope audit examples/audit/bank.sql --level pc --history run.hist --dot run.dot\n"
      "Exit codes: 0 none or serializable, 1 anomaly, 2 bad input, 3 unknown.");
  return [args] { return run_audit(*args); };
}

}  // namespace isoscope
