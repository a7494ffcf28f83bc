// isoscope synth --allow L … --forbid L …
#include "synth/synth.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>

#include "check/check.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/history_input.h"
#include "cli/pictures.h"
#include "cli/scope_input.h"
#include "report/synth_report.h"
#include "support/output.h"

namespace isoscope {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kGraceSeconds = 2;

struct SynthArguments {
  CommonOptions common;
  LevelInput specs;
  ScopeInput scope;
  std::vector<std::string> allow;
  std::vector<std::string> forbid;
  Pictures pictures;
  std::string to;
  bool minimal = false;
  bool all = false;
  bool irreducible = false;
  bool count = false;
  bool generic = false;
  std::string certificate;

  bool lists() const { return all || irreducible; }
};

Result<std::vector<const Level*>> find_all(const LevelSet& levels,
                                           const std::vector<std::string>& names) {
  std::vector<const Level*> found;
  for (const std::string& name : names) {
    auto level = levels.find(name);
    if (!level) return level.error();
    found.push_back(*level);
  }
  return found;
}

// What check() says against the history at each forbidden level.
SeparatingHistory explain(SynthFound found, const SynthQuery& query, Budget& search_budget) {
  // The search may have used up the time, but what it found deserves its reasons.
  Budget budget = search_budget.expired_now() ? Budget::seconds(kGraceSeconds) : search_budget;
  SeparatingHistory result{std::move(found), {}};
  for (const Level* level : query.forbid) {
    if (result.found.is_rechecked) {
      result.refutations.push_back(check(result.found.history, *level, budget));
    } else {
      result.refutations.emplace_back();
    }
  }
  return result;
}

// Fills the report by the kind of question that the options ask.
Result<void> answer(const SynthArguments& args, const SynthQuery& query, SynthReport& report,
                    Budget& budget) {
  const auto take = [&](const Answer& from) { static_cast<Answer&>(report) = from; };
  if (args.count) {
    auto counted = count_histories(query, budget);
    if (!counted) return counted.error();
    take(*counted);
    report.count = counted->count;
    report.scope = query.scope;
    return {};
  }
  if (args.lists()) {
    report.minimality = args.irreducible ? Minimality::Irreducible : Minimality::Fewest;
    auto listed = synthesize_all_minimal(query, *report.minimality, args.scope.most_txns, budget);
    if (!listed) return listed.error();
    take(*listed);
    report.scope = listed->scope;
    report.excluded_txns = listed->excluded_txns;
    for (SynthFound& found : listed->found)
      report.histories.push_back(explain(std::move(found), query, budget));
    return {};
  }
  const bool grow = args.minimal || args.scope.scope.txns == 0;
  auto found =
      grow ? synthesize_minimal(query, args.scope.most_txns, budget) : synthesize(query, budget);
  if (!found) return found.error();
  take(*found);
  report.scope = found->scope;
  report.excluded_txns = found->excluded_txns;
  if (!args.certificate.empty()) {
    CertificateFile file(args.certificate);
    report.certificate = file.add_synth(query, *found);
    if (auto written = write_whole(args.certificate, file.text()); !written) return written;
  }
  if (found->found) report.histories.push_back(explain(std::move(*found->found), query, budget));
  return {};
}

// run.hist, 2: run-2.hist.
std::string numbered(const std::string& path, std::size_t number) {
  const std::filesystem::path whole(path);
  std::filesystem::path name = whole.stem();
  name += fmt::format("-{}", number);
  name += whole.extension();
  return (whole.parent_path() / name).string();
}

// With --to: the histories themselves, one a file.
int deliver_histories(const SynthArguments& args, const SynthReport& report) {
  std::vector<std::string> texts;  // first, so that nothing is written if one cannot be
  for (const SeparatingHistory& one : report.histories) {
    auto text = history_file(report, one, *report.format);
    if (!text) return fail(text.error());
    texts.push_back(*std::move(text));
  }
  if (!args.lists()) {
    auto written = write_whole(args.common.output, texts.front());
    return written ? exit_code(SynthOutcome::Found) : fail(written.error());
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto fits = check_further_output(numbered(args.common.output, i + 1));
    if (!fits) return fail(fits.error());
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (auto written = write_whole(numbered(args.common.output, i + 1), texts[i]); !written)
      return fail(written.error());
  }
  return exit_code(SynthOutcome::Found);
}

// Contradictions among the options that CLI11 cannot see; and the format of --to.
Result<std::optional<Format>> find_target(const SynthArguments& args) {
  if (args.to.empty()) return std::optional<Format>();
  auto format = find_format(args.to);
  if (!format) return format.error();
  if (!can_write(*format)) return Error{.what = fmt::format("{} is read only", args.to)};
  if (args.lists() && !args.common.json && args.common.output == "-")
    return Error{.what = "--to prints one history, but --all may find several",
                 .hint = "-o FILE writes them to FILE-1, FILE-2, …"};
  return std::optional<Format>(*format);
}

int run_synth(const SynthArguments& args) {
  const auto start = Clock::now();
  if (args.allow.empty() && args.forbid.empty() && !args.count)
    return fail({.what = "synth needs levels: which allow the history, and which forbid it?",
                 .hint = "for instance --allow si --forbid ser; isoscope levels lists them",
                 .file = "isoscope"});
  auto target = find_target(args);
  if (!target) return fail(target.error());
  Budget budget = args.common.start();
  auto levels = args.specs.load(budget);
  if (!levels) return fail(levels.error());
  // A history that nothing else restricts is still one without a read from the future.
  auto allow =
      find_all(*levels, args.allow.empty() ? std::vector<std::string>{"true"} : args.allow);
  if (!allow) return fail(allow.error());
  auto forbid = find_all(*levels, args.forbid);
  if (!forbid) return fail(forbid.error());
  auto scope = args.scope.complete(args.count);
  if (!scope) return fail(scope.error());
  const SynthQuery query{.allow = *allow,
                         .forbid = *forbid,
                         .scope = *scope,
                         .progress = progress_line(args.common),
                         .certify = !args.certificate.empty(),
                         .generic = args.generic};

  SynthReport report;
  report.allow = args.allow.empty() ? std::vector<std::string>{"true"} : args.allow;
  report.forbid = args.forbid;
  report.format = *target;
  if (auto done = answer(args, query, report, budget); !done) return fail(done.error());
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();

  auto text = args.common.json ? synth_json(report) : synth_text(report, args.common.paint());
  if (!text) return fail(text.error());
  if (auto written = args.pictures.write([&] { return synth_page(report); }); !written)
    return fail(written.error());
  const int code = exit_code(header_of(report).outcome);
  if (report.format && !args.common.json) {
    if (!report.histories.empty()) return deliver_histories(args, report);
    CommonOptions to_terminal = args.common;  // an answer is no history
    to_terminal.output = "-";
    return deliver(to_terminal, *text, code);
  }
  return deliver(args.common, *text, code);
}

}  // namespace

Run add_synth(CLI::App& app) {
  auto args = std::make_shared<SynthArguments>();
  const auto level_list = [&](const char* name, std::vector<std::string>& into, const char* help) {
    app.add_option(name, into, help)->delimiter(',')->allow_extra_args(false)->type_name("LEVEL");
  };
  level_list("--allow", args->allow, "a level that allows the history; repeat it for more");
  level_list("--forbid", args->forbid, "a level that forbids it; repeat it for more");
  args->scope.add_to(app, "exactly N transactions besides T0");
  auto* minimal = app.add_flag(
      "--minimal", args->minimal,
      "a smallest history: fewest transactions, keys, values, operations, session edges");
  auto* all = app.add_flag("--all", args->all, "every minimal history, up to renaming");
  auto* irreducible =
      app.add_flag("--irreducible", args->irreducible,
                   "every history, up to renaming, of the smallest number of transactions, keys "
                   "and values that no operation and no session edge can be left out of")
          ->excludes(all);
  auto* count =
      app.add_flag("--count", args->count, "how many histories the scope has, up to renaming")
          ->excludes(minimal, all, irreducible);
  app.add_flag("--generic", args->generic, "plain search without analysis of the axioms");
  args->specs.add_to(app);
  app.add_option("--to", args->to, "print the history in this format, and nothing else")
      ->type_name("FORMAT")
      ->excludes(count);
  for (CLI::Option* option : args->pictures.add_to(app, "the histories and what forbids them"))
    option->excludes(count);
  add_output_file(app, "--certificate", args->certificate,
                  "write why there is none, for others to check: the clauses of each scope with "
                  "their reasons, and a DRAT proof")
      ->excludes(count, all, irreducible);
  add_common(app, args->common);
  app.footer(
      "Without --txns it tries 1, 2, 3, … transactions and prints a smallest history.\n"
      "Examples:\n"
      "  isoscope synth --allow si --forbid ser\n"
      "  isoscope synth --allow si,update-ser --forbid ser --all\n"
      "  isoscope synth --allow pc --forbid si --to jsonl -o lost-update.jsonl\n"
      "  isoscope synth --allow cc@vis --forbid pc@co --txns 4 --keys 2\n"
      "  isoscope synth --allow pc@snap --forbid pg-rc\n"
      "  isoscope synth --allow ser --forbid strict-ser\n"
      "  isoscope synth --allow si --forbid pc --txns 3 --keys 2 --certificate none.cert\n"
      "Exit codes: 0 there is none in the scope, 1 found, 2 bad input, 3 unknown.");
  return [args] { return run_synth(*args); };
}

}  // namespace isoscope
