// isoscope explore PROGRAM --level L …
#include "explore/explore.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/history_input.h"
#include "cli/mpi_transport.h"
#include "cli/pictures.h"
#include "cli/program_input.h"
#include "cli/server_program.h"
#include "cli/values.h"
#include "explore/outcomes.h"
#include "explore/weakest.h"
#include "report/explore_report.h"
#include "sql/server/level.h"
#include "support/output.h"
#include "support/version.h"

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
  Pictures pictures;
  bool assert_only = false;
  bool outcomes = false;
  bool weakest = false;
  bool ordered = false;
  bool mpi = false;
  bool resume = false;
  std::string checkpoint;
  double checkpoint_every = 60;
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

int deliver_report(const ExploreArguments& args, const ExploreReport& report) {
  if (auto written = args.pictures.write([&] { return explore_page(report); }); !written)
    return fail(written.error());
  return deliver(
      args.common,
      args.common.json ? explore_json(report) : explore_text(report, args.common.paint()),
      exit_code(header_of(report).outcome));
}

int run_weakest(const ExploreArguments& args, LoadedProgram& input, const LevelSet& levels,
                const explore::ExploreOptions& options) {
  const auto start = Clock::now();
  const Executable& program = *input.program;
  if (!program.has_assertions() && !input.claims.empty())
    return fail(
        input.located({.where = input.claims.front().place,
                       .what = "--weakest tries the definitions of levels, and claims about "
                               "rows are checked at PostgreSQL's levels only",
                       .hint = "ask for each: --level " + sql::server::pg_level_names()}));
  if (!program.has_assertions()) {
    return fail({.what = fmt::format("{}: there is nothing to check: the program has no assertion",
                                     input.path),
                 .hint = "--weakest finds the weakest level at which all assertions hold"});
  }
  auto weakest = explore::find_weakest(program, levels, options);
  clear_progress_line();
  if (!weakest) return fail(input.located(weakest.error()));
  ExploreReport report{.program = program, .source = input.path, .level = {}, .method = {}};
  report.weakest = std::move(*weakest);
  report.gaps = gaps_of(input);
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return deliver_report(args, report);
}

// Options that belong to definitions of levels are refused.
int run_on_a_server(const ExploreArguments& args, const LoadedProgram& input,
                    const ServerLevels& levels, const Budget& budget) {
  const std::string_view foreign = !args.base.empty()         ? "--base"
                                   : args.algorithm != "best" ? "--algorithm"
                                                              : "";
  if (!foreign.empty())
    return fail({.what = fmt::format("{} cannot be used at a server's levels", foreign),
                 .hint = "leave it out, or use --server formal and a level such as si"});
  return explore_on_server(args.common, input, levels,
                           {.assert_only = args.assert_only,
                            .outcomes = args.outcomes,
                            .violations = args.violations,
                            .histories = args.histories,
                            .late_wakeups = args.server.late_wakeups,
                            .pictures = args.pictures},
                           budget);
}

// What several processes and several runs must have in common to work on one exploration.
Result<std::string> identity_of(const ExploreArguments& args, const std::string& program) {
  std::string all =
      fmt::format("isoscope {}\n{}\n{}\n{}\n{}\n{}\n{}\n", kVersion, args.level, args.base,
                  args.algorithm, args.assert_only, args.outcomes, args.violations);
  for (const std::string& path : args.specs.specs) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{.what = fmt::format("cannot open '{}'", path)};
    std::ostringstream text;
    text << file.rdbuf();
    all += std::move(text).str();
  }
  return all + program;
}

// Work that is shared among processes or goes on in another run is about counts, violations and
// outcomes of one program at one level.
Result<void> check_sharing(const ExploreArguments& args) {
  if (args.resume && args.checkpoint.empty())
    return Error{.what = "--resume needs the file to go on from", .hint = "--checkpoint FILE"};
  const char* const option = args.mpi                  ? "--mpi"
                             : args.checkpoint.empty() ? nullptr
                                                       : "--checkpoint";
  if (option == nullptr) return {};
  const auto refuse = [&](const char* other, const char* hint) {
    return Error{.what = fmt::format("{} cannot be combined with {}", option, other), .hint = hint};
  };
  if (args.weakest) return refuse("--weakest", "ask for each level with --level");
  if (!args.histories.empty())
    return refuse("--histories", "one process writes them; it may have --threads");
  return {};
}

// All that an exploration needs. The plan points to the levels: it stays where it is.
struct Prepared {
  LevelSet levels;
  LoadedProgram input;
  // If the program is SQL and the level the server's: the level of each call. Then all is said.
  std::optional<ServerLevels> on_server = {};
  std::optional<explore::Plan> plan = {};  // none with --weakest
  std::string identity = {};               // if the work is shared
};

Result<std::unique_ptr<Prepared>> prepare(const ExploreArguments& args, const Budget& budget) {
  if (auto fits = check_sharing(args); !fits) return fits.error();
  auto levels = args.specs.load(budget);
  if (!levels) return levels.error();
  if (args.weakest && !args.level.empty()) {
    return Error{.what = "--weakest tries all levels: it takes no --level",
                 .hint = "use --level cc, or --weakest to find the weakest safe one"};
  }
  if (args.assert_only && args.outcomes) {
    return Error{.what = "--assert-only cannot be combined with --outcomes",
                 .hint =
                     "it stops at the first violated assertion and merges equal states: not "
                     "all outcomes are seen"};
  }
  auto input = args.program.load(budget);
  if (!input) return input.error();
  auto all = std::make_unique<Prepared>(
      Prepared{.levels = *std::move(levels), .input = *std::move(input)});
  all->input.stop_with(budget);
  all->input.print_remarks(args.common);
  if (all->input.sql != nullptr && (args.mpi || !args.checkpoint.empty())) {
    return Error{.what = "--mpi and --checkpoint are for .txn programs",
                 .hint = "an SQL program is explored by one process, with --threads"};
  }
  if (!args.weakest) {
    auto on_server = args.server.levels(all->input, all->levels, args.level);
    if (!on_server) return on_server.error();
    all->on_server = *std::move(on_server);
    if (all->on_server && (args.mpi || !args.checkpoint.empty())) {
      return Error{.what = "--mpi and --checkpoint do not go with a server's levels",
                   .hint = "one process explores the schedules of statements"};
    }
    if (all->on_server) {
      if (auto calls = all->input.require_calls(); !calls) return calls.error();
      return all;
    }
    if (args.level.empty())
      return Error{.what = "explore needs a level",
                   .hint = "use --level cc, or --weakest to find the weakest safe one"};
  }
  if (auto whole = all->input.require_whole_calls(); !whole) return whole.error();
  const Executable& program = *all->input.program;
  if (program.outline().calls.size() > explore::kMaxCalls) {
    return Error{.what = fmt::format("{} transactions are more than explore can have ({})",
                                     program.outline().calls.size(), explore::kMaxCalls),
                 .hint = "isoscope run executes longer programs"};
  }
  if (args.mpi || !args.checkpoint.empty()) {
    auto identity = identity_of(args, all->input.text);
    if (!identity) return identity.error();
    all->identity = *std::move(identity);
  }
  if (args.weakest) {
    if (auto calls = all->input.require_calls(); !calls) return calls.error();
    return all;
  }
  auto level = all->input.find_level(all->levels, args.level);
  if (!level) return level.error();
  if (auto calls = all->input.require_calls(); !calls) return calls.error();
  auto plan = explore::make_plan(
      program, **level, all->levels, find_algorithm(args.algorithm),
      args.base.empty() ? std::nullopt : std::optional<std::string>(args.base), budget);
  if (!plan) return all->input.located(plan.error());
  all->plan = *std::move(plan);
  return all;
}

int run_explore_with(const ExploreArguments& args, explore::Transport* transport) {
  const auto start = Clock::now();
  const Budget budget = args.common.start();
  const auto prepared = prepare(args, budget);
  const bool is_silent = transport != nullptr && transport->rank() > 0;
  if (transport != nullptr) {
    const auto agreed =
        explore::agree(*transport, prepared.ok() ? (*prepared)->identity : std::string(),
                       prepared.ok() ? std::nullopt : std::optional(prepared.error()));
    if (!agreed) return is_silent ? kGood : fail(agreed.error());
  }
  if (!prepared) return fail(prepared.error());
  LoadedProgram& input = (*prepared)->input;
  if (const auto& on_server = (*prepared)->on_server)
    return run_on_a_server(args, input, *on_server, budget);
  const Executable& program = *input.program;
  explore::ExploreOptions options{
      .threads = args.threads == 0 ? std::thread::hardware_concurrency() : args.threads,
      .budget = budget,
      .stop_at_violation = args.assert_only,
      .max_violations = args.assert_only ? 1 : args.violations,
      .on_history = {},
      .gives_up = {},
      .progress = is_silent ? Progress{} : progress_line(args.common)};
  if (args.weakest) return run_weakest(args, input, (*prepared)->levels, options);
  const explore::Plan& plan = *(*prepared)->plan;
  if (args.ordered) options.threads = 1;
  std::optional<Output> stream;
  if (!args.histories.empty()) {
    auto output = Output::open_lines(args.histories);
    if (!output) return fail(output.error());
    stream = std::move(*output);
  }
  explore::Outcomes outcomes(program, options.budget, args.pictures.is_wanted());
  std::uint64_t number = 0;
  if (stream || args.outcomes) {
    options.on_history = [&](const store::Recording& run) {
      if (stream) stream->write(history_line(program, run, ++number));
      if (args.outcomes) outcomes.add(run);
    };
    options.gives_up = [&] { return stream && stream->has_failed(); };
  }
  options.transport = transport;
  options.checkpoint = {.path = args.checkpoint,
                        .resumes = args.resume,
                        .seconds = args.checkpoint_every,
                        .identity = (*prepared)->identity};
  options.pack_listener = [&](explore::Packer& out) { outcomes.pack(out); };
  options.merge_listener = [&](explore::Unpacker& in) { outcomes.merge(in); };
  ExploreReport report{
      .program = program, .source = input.path, .level = args.level, .method = plan.description};
  report.gaps = gaps_of(input);
  report.all = explore::explore(program, plan, options);
  if (is_silent) return kGood;
  if (report.all.merging && report.all.merging->is_complete)
    report.method += ", equal states merged";
  clear_progress_line();
  if (report.all.error) return fail(*report.all.error);
  if (stream) {
    if (auto closed = stream->close(); !closed) return fail(closed.error());
  }
  if (report.all.fault) return fail(input.located(report.all.fault->error));
  if (args.outcomes) report.outcomes = outcomes.sorted();
  report.stopped_early = args.assert_only && report.all.violating > 0;
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return deliver_report(args, report);
}

// Each process does the same; the first of them speaks.
int run_explore(const ExploreArguments& args) {
  if (!args.mpi) return run_explore_with(args, nullptr);
  const auto transport = start_mpi();
  if (!transport) return fail(transport.error());
  return run_explore_with(args, transport->get());
}

}  // namespace

Run add_explore(CLI::App& app) {
  auto args = std::make_shared<ExploreArguments>();
  args->program.add_to(app);
  add_base_level(app, args->level);
  args->specs.add_to(app);
  args->server.add_to(app);
  app.add_flag("--assert-only", args->assert_only,
               "stop at the first violated assertion; merge equal states and count no histories");
  app.add_flag("--outcomes", args->outcomes,
               "list the distinct final values of all locals, and the levels that allow each");
  app.add_flag(
      "--weakest", args->weakest,
      "find the weakest level at which all assertions hold, and which calls may be weaker");
  add_output_file(app, "--histories", args->histories,
                  "write every history, one JSON object per line");
  app.add_flag("--ordered", args->ordered,
               "write them in a fixed order, that of one thread, which then writes them alone");
  app.add_option("--violations", args->violations, "how many violating histories to show")
      ->type_name("N")
      ->check(whole_number(0, kMostOfAnything))
      ->capture_default_str();
  args->pictures.add_to(app, "the violating histories");
  app.add_option("--threads", args->threads, "threads to use; 0: one per core")
      ->type_name("N")
      ->check(whole_number(0, 1024))
      ->capture_default_str();
  app.add_flag("--mpi", args->mpi,
               "share the work among the processes that mpirun started; each has its --threads");
  add_output_file(app, "--checkpoint", args->checkpoint,
                  "write down from time to time, and when the time is over, what is left to do");
  app.add_flag("--resume", args->resume, "go on where the checkpoint ends");
  app.add_option("--checkpoint-every", args->checkpoint_every, "seconds between checkpoints")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber)
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
      "  isoscope explore examples/programs/lost-update.txn --level pg-rr\n"
      "  isoscope explore examples/programs/on-call.txn --level cc --histories all.jsonl \
--threads 2\n"
      "  isoscope explore examples/programs/on-call.txn --level cc --checkpoint "
      "on-call.checkpoint\n"
      "On many cores or machines: mpirun -n 8 isoscope explore PROGRAM --level cc --mpi\n"
      "Exit codes: 0 complete and no assertion fails, 1 an assertion fails, 2 bad input, 3 "
      "unknown.");
  return [args] { return run_explore(*args); };
}

}  // namespace isoscope
