// isoscope check HISTORY --level L …
#include "check/check.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>

#include "check/all_violations.h"
#include "check/minimize.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/history_input.h"
#include "cli/values.h"
#include "report/check_report.h"
#include "support/output.h"
#include "support/printable.h"

namespace isoscope {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct CheckArguments {
  CommonOptions common;
  HistoryInput history;
  LevelInput specs;
  std::vector<std::string> levels;
  std::string explain = "first";
  std::size_t most = 1000;
  std::string dot;
  std::string minimize;
  std::string to = "hist";
};

int exit_code(Outcome outcome) {
  switch (outcome) {
    case Outcome::Consistent:
      return kGood;
    case Outcome::Violated:
      return kInteresting;
    case Outcome::Unknown:
      return kUnknown;
  }
  return kUnknown;
}

// The first violated level, or the first of all: what a picture should show.
const LevelAnswer& worth_drawing(const CheckReport& report) {
  for (const LevelAnswer& level : report.levels) {
    if (level.answer.verdict.outcome == Outcome::Violated) return level;
  }
  return report.levels.front();
}

// Tells each violation as it is found: to find all takes a check for each.
ViolationSink violation_stream(const CheckArguments& args, const LevelAnswer& level,
                               const History& whole) {
  if (args.common.json || args.common.quiet || args.common.output != "-") return {};
  const History& h = level.history(whole);
  return [&h, name = level.level, number = std::size_t{0}](const Violation& v) mutable {
    clear_progress_line();
    const std::string line = violation_line(h, v, ++number);
    std::printf("%s  %s\n", name.c_str(), printable(line).c_str());
    std::fflush(stdout);
  };
}

// Writes the smallest part that still violates the first violated level.
Result<void> write_minimized(const CheckArguments& args, CheckReport& report,
                             const std::vector<const Level*>& wanted, const LevelSet& levels,
                             Format format, Budget& budget) {
  for (std::size_t i = 0; i < report.levels.size(); ++i) {
    const Verdict& verdict = report.levels[i].answer.verdict;
    if (!verdict.violation) continue;
    if (const auto& choice = report.levels[i].choice; choice && !choice->for_all_choices)
      return Error{
          .what = "--minimize cannot tell a part whose every choice of writers is violated",
          .hint = "name the writers of the reads that have several"};
    const auto [small, is_minimal] =
        minimize(report.levels[i].history(report.h), *wanted[i], levels, *verdict.violation, budget,
                 progress_line(args.common));
    report.is_minimal = is_minimal;
    auto output = Output::open(args.minimize);
    if (!output) return output.error();
    if (auto written = write_history(small, format, output->sink()); !written) return written;
    return output->close();
  }
  return {};
}

int run_check(const CheckArguments& args) {
  const auto start = Clock::now();
  Budget budget = args.common.start();
  auto levels = args.specs.load(budget);
  if (!levels) return fail(levels.error());
  std::vector<const Level*> wanted;
  for (const std::string& name : args.levels) {
    auto level = levels->find(name);
    if (!level) return fail(level.error());
    wanted.push_back(*level);
  }
  auto format = find_format(args.to);
  if (!format) return fail(format.error());
  RunNotes notes;
  auto history = args.history.read(progress_line(args.common), budget, Ambiguity::Keep, &notes);
  if (!history) return fail(history.error());
  const History& h = *history;

  CheckReport report{.h = h, .source = args.history.path, .levels = {}, .seconds = 0};
  Checker checker(h, {.progress = progress_line(args.common)});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto level_start = Clock::now();
    auto assignment = assign_levels(h, *wanted[i], *levels);
    if (!assignment) return fail(assignment.error().in(args.history.path));
    LevelAnswer level{.level = args.levels[i], .answer = {}};
    if (!has_committed(h)) {
      level.answer.verdict =
          Verdict::unknown("there is nothing to check: no transaction of the history committed");
    } else if (!h.choices().empty()) {
      level.choice =
          check_choices(h, *assignment, budget, {.progress = progress_line(args.common)});
      level.answer = level.choice->answer;
    } else {
      level.answer = checker.check(*assignment, budget);
    }
    // A witness of what was recorded is none of what happened.
    if (notes.gaps > 0 && level.answer.verdict.outcome == Outcome::Consistent)
      level.answer.verdict = Verdict::unknown(notes.limit());
    if (args.explain == "all" && level.answer.verdict.violation)
      level.all = all_violations(level.history(h), *wanted[i], *levels,
                                 *level.answer.verdict.violation, args.most, budget,
                                 progress_line(args.common), violation_stream(args, level, h));
    level.seconds = seconds_since(level_start);
    report.levels.push_back(std::move(level));
  }
  report.seconds = seconds_since(start);

  if (!args.dot.empty()) {
    const LevelAnswer& drawn = worth_drawing(report);
    if (auto written = write_whole(args.dot, check_dot(drawn.history(h), drawn)); !written)
      return fail(written.error());
  }
  if (!args.minimize.empty()) {
    auto written = write_minimized(args, report, wanted, *levels, *format, budget);
    if (!written) return fail(written.error());
  }
  const std::string text =
      args.common.json ? check_json(report) : check_text(report, args.common.paint());
  return deliver(args.common, text, exit_code(overall(report)));
}

}  // namespace

Run add_check(CLI::App& app) {
  auto args = std::make_shared<CheckArguments>();
  args->history.add_to(app);
  app.add_option("-l,--level", args->levels,
                 "a level to check; repeat it, or separate several by commas")
      ->required()
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LEVEL");
  args->specs.add_to(app);
  app.add_option("--explain", args->explain, "explain the first violation, or count all by anomaly")
      ->type_name("first|all")
      ->check(one_of({"first", "all"}))
      ->capture_default_str();
  app.add_option("--most", args->most, "with --explain all: stop after so many violations")
      ->type_name("N")
      ->check(whole_number(1, kMostOfAnything))
      ->capture_default_str();
  add_output_file(app, "--dot", args->dot, "draw the violation, or the order found, for Graphviz");
  add_output_file(app, "--minimize", args->minimize,
                  "write the smallest part that is still violated");
  app.add_option("--to", args->to, "the format of that file")
      ->type_name("FORMAT")
      ->capture_default_str();
  add_common(app, args->common);
  app.footer(
      "Examples:\n"
      "  isoscope check examples/lost-update.hist --level si\n"
      "  isoscope generate history --txns 200 --inject lost-update | isoscope check - --level si\n"
      "  isoscope check examples/lost-update.hist --level rc,ra,cc,pc,psi,si,ser\n"
      "  isoscope check examples/write-skew.hist --level ser --dot cycle.dot\n"
      "  isoscope check examples/write-skew.hist --level ser --explain all\n"
      "  isoscope check examples/long-fork.hist --level si --minimize small.hist\n"
      "  isoscope check examples/long-fork.hist --spec examples/no-long-fork.level \
--level no-long-fork\n"
      "Exit codes: 0 consistent, 1 violated, 2 bad input, 3 unknown.");
  return [args] { return run_check(*args); };
}

}  // namespace isoscope
