// isoscope check HISTORY --level L …
#include "check/check.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "check/all_violations.h"
#include "check/level_table.h"
#include "check/minimize.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/finding_files.h"
#include "cli/history_input.h"
#include "cli/pictures.h"
#include "cli/values.h"
#include "report/check_report.h"
#include "support/output.h"
#include "support/printable.h"

namespace isoscope {

namespace {

using Clock = std::chrono::steady_clock;

// To report which orders were tried is optional; it takes no longer than this.
constexpr double kOrdersSeconds = 2;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct CheckArguments {
  CommonOptions common;
  HistoryInput history;
  std::vector<std::string> paths;
  LevelInput specs;
  std::vector<std::string> levels;
  bool strongest = false;
  bool no_session_order = false;
  std::string explain = "first";
  std::size_t most = 1000;
  Pictures pictures;
  FindingFiles findings;
  std::string minimize;
  std::string to = "hist";
  std::string certificate;
};

// A level to be checked, and what it is called.
struct Wanted {
  std::string name;
  const Level* level = nullptr;
};

// Reports each violation as it is found: to find all takes a check for each.
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
                             const std::vector<Wanted>& wanted, const LevelSet& levels,
                             Format format, Budget& budget) {
  for (std::size_t i = 0; i < report.levels.size(); ++i) {
    const Verdict& verdict = report.levels[i].answer.verdict;
    if (!verdict.violation) continue;
    if (const auto& choice = report.levels[i].choice; choice && !choice->for_all_choices)
      return Error{
          .what = "--minimize cannot find a part that is violated for every choice of writers",
          .hint = "name the writers of the reads that have several"};
    const auto [small, is_minimal] =
        minimize(report.levels[i].history(report.h), *wanted[i].level, levels, *verdict.violation,
                 budget, progress_line(args.common));
    report.is_minimal = is_minimal;
    auto output = Output::open(args.minimize);
    if (!output) return output.error();
    if (auto written = write_history(small, format, output->sink()); !written) return written;
    return output->close();
  }
  return {};
}

// Every level by its bare name; those that speak of real time only where there are times.
std::vector<Wanted> all_levels(const LevelSet& levels, const History& h) {
  std::vector<Wanted> all;
  for (const auto& level : levels.all()) {
    if (level->uses_real_time && !h.has_times()) continue;
    const auto found = levels.find(level->name);
    const bool is_new = std::none_of(all.begin(), all.end(),
                                     [&](const Wanted& w) { return w.name == level->name; });
    if (found && is_new) all.push_back({level->name, *found});
  }
  return all;
}

Result<std::vector<Wanted>> wanted_levels(const CheckArguments& args, const LevelSet& levels,
                                          const History& h) {
  std::vector<Wanted> wanted;
  if (args.strongest) {
    for (const Level* level : levels_with_engines(h.has_times()))
      wanted.push_back({level->name, level});
  }
  for (const std::string& name : args.levels) {
    if (name == "all" && !levels.find(name)) {
      for (Wanted& each : all_levels(levels, h)) wanted.push_back(std::move(each));
      continue;
    }
    auto level = levels.find(name);
    if (!level) return level.error();
    wanted.push_back({name, *level});
  }
  return wanted;
}

// What cannot be said of the history although its facts satisfy the level.
std::string limit_of(const History& h, const RunNotes& notes, const Wanted& wanted) {
  // A witness of what was recorded is none of what happened.
  if (notes.gaps > 0) return notes.limit();
  if (wanted.level->uses_real_time && !h.has_times())
    return fmt::format("'{}' speaks of real time, and this history has no times", wanted.name);
  return {};
}

// A violation in a recorded run whose statements may depend on less than they are said to read: is
// there one without such reads?
void keep_certain(const History& h, const Assignment& levels, LevelAnswer& level, Budget& budget) {
  if (!level.answer.verdict.violation || !h.has_coarse_reads()) return;
  if (!level.choice) {
    History certain = h.copy().without_coarse_reads();
    CheckAnswer answer = Checker(certain).check(levels, budget);
    if (answer.verdict.violation) {
      level.answer = std::move(answer);
      level.certain = std::move(certain);
      return;
    }
  }
  level.answer.verdict = Verdict::unknown(
      "the violation that was found rests on a query of several tables, which may depend on fewer "
      "rows than it is recorded to read");
}

// Why the level is violated, so that another program can check it.
CertificateNote certify(CertificateFile& file, const History& h, const Assignment& levels,
                        const LevelAnswer& level, Budget& budget) {
  const Verdict& verdict = level.answer.verdict;
  if (level.choice && verdict.violation && !level.choice->for_all_choices)
    return file.add_none(
        "check", fmt::format("because the writers of {} reads are open: each of the {} choices "
                             "that were tried is refuted by a reason of its own",
                             h.choices().size(), level.choice->proposals));
  return file.add_check(level.history(h), levels, level.level, verdict, budget);
}

Result<CheckReport> check_history(const CheckArguments& args, const History& h,
                                  const std::vector<Wanted>& wanted, const LevelSet& levels,
                                  const RunNotes& notes, Budget& budget) {
  CheckReport report{
      .h = h, .source = args.history.path, .levels = {}, .session_order = !args.no_session_order};
  Checker checker(h, {.progress = progress_line(args.common)});
  std::vector<const Level*> holding;
  CertificateFile certificates(args.certificate);
  for (const Wanted& each : wanted) {
    const auto level_start = Clock::now();
    auto assignment = assign_levels(h, *each.level, levels);
    if (!assignment) return assignment.error().in(args.history.path);
    LevelAnswer level{.level = each.name, .answer = {}};
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
    if (level.answer.verdict.outcome == Outcome::Consistent) {
      if (std::string limit = limit_of(h, notes, each); !limit.empty())
        level.answer.verdict = Verdict::unknown(std::move(limit));
    }
    keep_certain(h, *assignment, level, budget);
    if (level.answer.verdict.outcome == Outcome::Consistent) holding.push_back(each.level);
    const bool wants_all = args.explain == "all" || args.findings.has_baseline();
    if (wants_all && level.answer.verdict.violation)
      level.all = all_violations(level.history(h), *each.level, levels,
                                 *level.answer.verdict.violation, args.most, budget,
                                 progress_line(args.common), violation_stream(args, level, h));
    if (const auto& violation = level.answer.verdict.violation;
        violation && !violation->core.empty() && has_points(*assignment)) {
      Budget part = budget.within(kOrdersSeconds);
      level.orders = tried_orders(level.history(h), *assignment, violation->core, part);
    }
    if (!args.certificate.empty())
      level.certificate = certify(certificates, h, *assignment, level, budget);
    level.seconds = seconds_since(level_start);
    report.levels.push_back(std::move(level));
  }
  if (!args.certificate.empty()) {
    auto written = write_whole(args.certificate, certificates.text());
    if (!written) return written.error();
  }
  if (args.strongest) {
    report.strongest.emplace();
    for (const Level* level : strongest_of(holding)) report.strongest->push_back(level->name);
  }
  return report;
}

// The pictures and parts that were asked for.
Result<void> write_further_files(const CheckArguments& args, CheckReport& report,
                                 const std::vector<Wanted>& wanted, const LevelSet& levels,
                                 Budget& budget) {
  auto format = find_format(args.to);
  if (!format) return format.error();
  if (!report.levels.empty()) {
    if (auto written = args.pictures.write([&] { return check_page(report); }); !written)
      return written;
  }
  if (args.minimize.empty()) return {};
  return write_minimized(args, report, wanted, levels, *format, budget);
}

Result<void> check_options(const CheckArguments& args) {
  if (args.levels.empty() && !args.strongest)
    return Error{.what = "--level is required",
                 .hint =
                     "for instance --level si; isoscope levels lists the levels, and "
                     "--strongest asks for the strongest that hold"};
  if (!args.levels.empty() && args.strongest)
    return Error{.what = "--level and --strongest exclude each other",
                 .hint = "--strongest asks for all levels that have engines"};
  if (args.paths.size() > 1 && (args.pictures.is_wanted() || args.findings.is_wanted() ||
                                !args.minimize.empty() || !args.certificate.empty()))
    return Error{.what = "pictures, findings, --minimize and --certificate take one history",
                 .hint = "check the one that is violated alone"};
  auto format = find_format(args.to);
  return format ? Result<void>() : format.error();
}

int run_check(CheckArguments args) {
  const auto start = Clock::now();
  Budget budget = args.common.start();
  if (auto good = check_options(args); !good) return fail(good.error());
  auto levels = args.specs.load(budget);
  if (!levels) return fail(levels.error());
  for (const std::string& name : args.levels) {
    const auto level = levels->find(name);  // before anything is read
    if (!level && name != "all") return fail(level.error());
  }
  CheckJson json;
  std::string text;
  Outcome outcome = Outcome::Consistent;
  std::optional<Outcome> judged;  // of the one history whose findings are written
  for (const std::string& path : args.paths) {
    const auto history_start = Clock::now();
    args.history.path = path;
    RunNotes notes;
    auto history = args.history.read(progress_line(args.common), budget, Ambiguity::Keep, &notes);
    if (!history) return fail(history.error());
    if (args.no_session_order) history = std::move(*history).without_session_order();
    auto wanted = wanted_levels(args, *levels, *history);
    if (!wanted) return fail(wanted.error());
    auto report = check_history(args, *history, *wanted, *levels, notes, budget);
    if (!report) return fail(report.error());
    report->seconds = seconds_since(history_start);
    if (auto written = write_further_files(args, *report, *wanted, *levels, budget); !written)
      return fail(written.error());
    outcome = worse(outcome, overall(*report));
    if (args.findings.is_wanted()) {
      const auto written = args.findings.write([&] { return check_findings(*report); }, outcome);
      if (!written) return fail(written.error());
      judged = *written;
    }
    if (args.common.json) {
      json.add(*report);
      continue;
    }
    if (args.paths.size() > 1) text += args.common.paint().strong(path) + '\n';
    text += check_text(*report, args.common.paint());
  }
  if (args.common.json) text = json.text(seconds_since(start));
  return deliver(args.common, text, exit_code(judged.value_or(outcome)));
}

}  // namespace

Run add_check(CLI::App& app) {
  auto args = std::make_shared<CheckArguments>();
  add_input_files(app, "HISTORY", args->paths, "the histories; - is standard input")->required();
  args->history.add_format_to(app);
  app.add_option("-l,--level", args->levels,
                 "a level to check; repeat it, or separate several by commas; all: every level")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LEVEL");
  app.add_flag("--strongest", args->strongest,
               "instead of --level: which are the strongest built-in levels that hold?");
  app.add_flag("--no-session-order", args->no_session_order,
               "take every transaction for a session of its own");
  args->specs.add_to(app);
  app.add_option("--explain", args->explain, "explain the first violation, or count all by anomaly")
      ->type_name("first|all")
      ->check(one_of({"first", "all"}))
      ->capture_default_str();
  app.add_option("--most", args->most, "with --explain all: stop after N violations")
      ->type_name("N")
      ->check(whole_number(1, kMostOfAnything))
      ->capture_default_str();
  args->pictures.add_to(app, "the violation, or the order found,");
  args->findings.add_to(app);
  add_output_file(app, "--minimize", args->minimize,
                  "write the smallest part that is still violated");
  add_output_file(app, "--certificate", args->certificate,
                  "write why a level is violated, for others to check: clauses with their reasons "
                  "and a DRAT proof where a search decided it, else the cycle");
  app.add_option("--to", args->to, "the format of that file")
      ->type_name("FORMAT")
      ->capture_default_str();
  add_common(app, args->common);
  app.footer(
      "Examples:\n"
      "  isoscope check examples/lost-update.hist --level si\n"
      "  isoscope generate history --txns 200 --inject lost-update | isoscope check - --level si\n"
      "  isoscope check examples/lost-update.hist --level rc,ra,cc,pc,psi,si,ser\n"
      "  isoscope check examples/lost-update.hist examples/write-skew.hist --level si\n"
      "  isoscope check examples/write-skew.hist --strongest\n"
      "  isoscope check examples/write-skew.hist --level ser --svg cycle.svg --html cycle.html\n"
      "  isoscope check examples/write-skew.hist --level ser --explain all\n"
      "  isoscope check examples/long-fork.hist --level si --minimize small.hist\n"
      "  isoscope check examples/long-fork.hist --spec examples/no-long-fork.level \
--level no-long-fork\n"
      "  isoscope check examples/write-skew.hist --level ser --certificate ser.cert\n"
      "Exit codes: 0 consistent, 1 violated, 2 bad input, 3 unknown.");
  return [args] { return run_check(*args); };
}

}  // namespace isoscope
