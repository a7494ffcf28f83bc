// Runs of programs as pages: explore, and run.
#include <fmt/format.h>

#include "check/check.h"
#include "report/explore_report.h"
#include "report/history_scene.h"
#include "report/plural.h"
#include "report/run_report.h"
#include "report/shown.h"
#include "spec/serializable.h"

namespace isoscope {

namespace {

using store::Recording;

constexpr double kSceneSeconds = 5;
constexpr std::size_t kMostOutcomes = 200;
constexpr std::size_t kMostOutcomeExamples = 12;

// A run with the reason why no serial order explains it, if that is so.
Scene run_scene(const Executable& program, std::string_view source, const Recording& run,
                std::string title) {
  const History h = store::to_history(program, run);
  Budget budget = Budget::seconds(kSceneSeconds);
  const CheckAnswer answer = check(h, serializable_level(), budget);
  const auto& violation = answer.verdict.violation;
  // A history of a run has its calls in the order of the run, after T0.
  const auto call_of = [&](TxnId t) -> std::string {
    if (t == kInitialTxn) return "";
    return printable(program.outline().calls[run.order[t.index - 1]].name);
  };
  SceneOptions options{.title = std::move(title), .call = call_of};
  Scene scene = history_scene(h, violation ? &*violation : nullptr, std::move(options));
  if (violation) {
    const std::string_view name = common_name(violation->anomaly);
    scene.sentence = fmt::format("Not serializable: {}{}", scene.sentence,
                                 name.empty() ? "" : fmt::format(" This is called {}.", name));
  } else if (answer.verdict.outcome == Outcome::Consistent) {
    scene.sentence = "A serial order explains this run.";
  }
  for (const AssertionId number : run.failed_assertions()) {
    const FailedAssertion failed = program.assertion(number);
    scene.notes.push_back(fmt::format(
        "Fails: {}{}", printable(failed.text),
        failed.place.line == 0 ? ""
                               : fmt::format("  ({}:{})", printable(source), failed.place.line)));
  }
  return scene;
}

std::string values_text(const Executable& program, const explore::ProgramOutcome& outcome) {
  std::string out;
  for (const CallId call : outcome.txns.ids()) {
    const auto names = program.local_names(call);
    std::string values;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!names[i].empty())
        values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", printable(names[i]),
                              shown_local(program, call, i, outcome.txns[call].locals[i]));
    }
    if (!outcome.txns[call].is_committed) values += values.empty() ? "aborts" : ", aborts";
    if (!values.empty())
      out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", shown_call(program, call), values);
  }
  return out;
}

// One row for each outcome, one column for each level that may allow it.
void add_outcomes_table(Page& page, const ExploreReport& report) {
  PageTable table{.title = "Outcomes, and the levels that allow each",
                  .columns = {"values at the end", "histories"},
                  .rows = {}};
  for (const Level* level : explore::ladder()) table.columns.push_back(level->name);
  table.columns.emplace_back("assertions");
  table.columns.emplace_back("an example");
  for (const explore::ProgramOutcome& outcome : *report.outcomes) {
    if (table.rows.size() == kMostOutcomes) {
      table.rows.push_back({{fmt::format("and {} more", report.outcomes->size() - kMostOutcomes)}});
      break;
    }
    std::vector<PageCell> row = {{values_text(report.program, outcome)},
                                 {std::to_string(outcome.histories)}};
    for (const Level* rung : explore::ladder()) {
      const std::string& level = rung->name;
      const bool allowed = std::ranges::count(outcome.levels, level) > 0;
      row.push_back({allowed ? "yes" : outcome.is_decided ? "no" : "?"});
    }
    row.push_back({outcome.failed_assertions.empty() ? "hold" : "one fails"});
    const bool is_drawn = outcome.example && table.rows.size() < kMostOutcomeExamples;
    row.push_back({is_drawn ? "a history" : "", is_drawn ? page.scenes.size() : kNoIndex});
    if (is_drawn)
      page.scenes.push_back(
          run_scene(report.program, report.source, *outcome.example,
                    fmt::format("a history of outcome {}", table.rows.size() + 1)));
    table.rows.push_back(std::move(row));
  }
  page.tables.push_back(std::move(table));
}

PageTable weakest_table(const explore::Weakest& weakest) {
  PageTable table{
      .title = "Levels, from the weakest", .columns = {"level", "assertions"}, .rows = {}};
  for (const explore::LevelTrial& trial : weakest.trials) {
    const char* found = trial.outcome == explore::ExploreOutcome::Complete   ? "all hold"
                        : trial.outcome == explore::ExploreOutcome::Violated ? "one fails"
                                                                             : "unknown";
    table.rows.push_back({{trial.level}, {found}});
  }
  return table;
}

}  // namespace

Page explore_page(const ExploreReport& report) {
  Page page = page_of(header_of(report), report.source);
  for (const sql::Note& gap : report.gaps)
    page.notes.push_back(fmt::format("Not modelled: line {}, {}", gap.where.line, gap.what));
  if (report.weakest) {
    std::string names;
    for (const std::string& level : report.weakest->minimal)
      names += (names.empty() ? "" : ", ") + level;
    page.sentence = names.empty() ? "No level was found at which all assertions hold"
                                  : fmt::format("All assertions hold from {} up", names);
    page.tables.push_back(weakest_table(*report.weakest));
    return page;
  }
  page.sentence = fmt::format(
      "{} at {}: {}, {}", printable(report.source), printable(report.level),
      plural(report.all.histories, "history", "histories"),
      report.all.violating > 0
          ? plural(report.all.violating, "violates an assertion", "violate an assertion")
          : "no assertion fails");
  if (report.all.is_out_of_time) page.notes.emplace_back("A limit was reached: there may be more.");
  for (std::size_t i = 0; i < report.all.violations.size(); ++i)
    page.scenes.push_back(run_scene(report.program, report.source, report.all.violations[i],
                                    fmt::format("violating history {}", i + 1)));
  if (report.outcomes) add_outcomes_table(page, report);
  return page;
}

Page run_page(const RunReport& report) {
  Page page = page_of(header_of(report), report.source);
  const store::Runs& runs = report.runs;
  page.sentence =
      runs.runs == 1
          ? fmt::format("A {} run: {}, {}", name_of(report.store),
                        runs.failed_assertions > 0 ? "an assertion failed" : "no assertion failed",
                        runs.unserializable > 0 ? "unserializable" : "no serial order is broken")
          : fmt::format("Of {} runs, {} failed an assertion and {} were unserializable", runs.runs,
                        runs.failed_assertions, runs.unserializable);
  if (runs.runs > 0)
    page.scenes.push_back(run_scene(report.program, report.source, runs.shown,
                                    report.store == RunStore::Replay
                                        ? "the run"
                                        : fmt::format("the run of seed {}", runs.shown_seed)));
  if (report.divergences) {
    for (const store::Divergence& divergence : *report.divergences)
      page.notes.push_back("Diverges: " + printable(store::describe(report.program, divergence)));
  }
  return page;
}

}  // namespace isoscope
