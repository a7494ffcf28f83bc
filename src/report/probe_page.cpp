// What the levels of a server really allow: the table of `probe` as a page, and for continuous
// integration.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/header.h"
#include "report/plural.h"
#include "report/probe_report.h"
#include "report/schedule_scene.h"
#include "support/printable.h"

namespace isoscope {
namespace {

using force::ProbeCell;
using force::ProbedLevel;

std::string levels_words(const ProbedLevel& level) {
  return level.strongest.empty() ? "no level of ours"
                                 : fmt::format("{}", fmt::join(level.strongest, ", "));
}

PlayedStep::Kind kind_of(const force::ProbeStep& step, bool had_waited) {
  if (!step.waits_for.empty()) return PlayedStep::Kind::Waits;
  if (step.sql == "ROLLBACK") return PlayedStep::Kind::Abort;
  return had_waited ? PlayedStep::Kind::GoesOn : PlayedStep::Kind::Statement;
}

Scene probe_scene(const force::Probe& probe, const ProbedLevel& level, const ProbeCell& cell) {
  PlayedRun run{.title = fmt::format("{} {} at {}", probe.name, probe.title, level.name),
                .sentence = fmt::format("Possible in {} of {}. {}", cell.anomalous,
                                        plural(cell.schedules, "schedule", "schedules"), cell.run)};
  for (const force::ProbeSession& session : probe.sessions) run.lanes.push_back(session.name);
  for (const auto& [key, value] : probe.rows)
    run.start.push_back({key, value ? std::to_string(*value) : "no row", "T0"});
  ById<force::ActorId, bool> waits(probe.sessions.size(), false);
  for (const force::ProbeStep& step : cell.steps) {
    if (step.sql.starts_with("BEGIN") || step.sql.starts_with("START")) continue;
    PlayedStep played{.kind = kind_of(step, waits[step.session]),
                      .lane = step.session.index,
                      .txn = probe.sessions[step.session].name,
                      .sql = printable(step.sql),
                      .result = step.answer == step.sql ? "" : printable(step.answer)};
    waits[step.session] = !step.waits_for.empty();
    if (!step.waits_for.empty()) {
      std::vector<std::string> names;
      for (const force::ActorId s : step.waits_for) names.push_back(probe.sessions[s].name);
      played.result = fmt::format("for {}", fmt::join(names, ", "));
    }
    run.steps.push_back(std::move(played));
  }
  Scene scene = schedule_scene(std::move(run));
  scene.run.start.clear();  // what a step leaves in the rows was not asked
  return scene;
}

}  // namespace

Page probe_page(const force::ProbeAnswer& answer) {
  Page page = page_of(header_of("probe", answer, 0), answer.product);
  std::size_t broken = 0;
  for (const ProbedLevel& level : answer.levels) broken += level.is_kept ? 0 : 1;
  page.sentence =
      broken > 0 ? fmt::format("{}: {} less than expected", printable(answer.product),
                               plural(broken, "level gives", "levels give"))
      : answer.limit.empty()
          ? fmt::format("{}: no level gave less than expected", printable(answer.product))
          : fmt::format("{}: not everything was played", printable(answer.product));
  page.notes.emplace_back(
      "What was seen in all schedules of small programs. It is no proof that more cannot happen.");
  if (!answer.limit.empty())
    page.notes.push_back(fmt::format("Unknown: {}.", printable(answer.limit)));
  PageTable table{.title = "Anomalies by declared level", .columns = {"anomaly"}, .rows = {}};
  for (const ProbedLevel& level : answer.levels) table.columns.push_back(level.name);
  for (std::size_t p = 0; p < answer.probes.size(); ++p) {
    const force::Probe& probe = *answer.probes[p];
    std::vector<PageCell> row = {{fmt::format("{} {}", probe.name, probe.title)}};
    for (const ProbedLevel& level : answer.levels) {
      if (p >= level.cells.size()) continue;
      const ProbeCell& cell = level.cells[p];
      const bool is_drawn = cell.anomalous > 0 && !cell.steps.empty();
      row.push_back({cell_text(cell), is_drawn ? page.scenes.size() : kNoIndex});
      if (is_drawn) page.scenes.push_back(probe_scene(probe, level, cell));
    }
    table.rows.push_back(std::move(row));
  }
  page.tables.push_back(std::move(table));
  PageTable levels{.title = "What the levels amount to",
                   .columns = {"declared level", "what was seen satisfies", "expected", "verdict"},
                   .rows = {}};
  for (const ProbedLevel& level : answer.levels)
    levels.rows.push_back({{level.name},
                           {levels_words(level)},
                           {level.expected.empty() ? "nothing" : level.expected},
                           {level.expected.empty() ? ""
                            : level.is_kept        ? std::string(level_verdict(level))
                                                   : "broken by " + printable(level.broken_by)}});
  page.tables.insert(page.tables.begin(), std::move(levels));
  return page;
}

Findings probe_findings(const force::ProbeAnswer& answer, double seconds) {
  Findings findings{.command = "probe", .source = answer.product};
  for (const ProbedLevel& level : answer.levels) {
    FindingCase one{.name = level.expected.empty()
                                ? level.name
                                : fmt::format("{} gives {}", level.name, level.expected)};
    one.details = fmt::format("what was seen satisfies {}", levels_words(level));
    if (!level.is_complete) {
      one.outcome = Outcome::Unknown;
      one.message = answer.limit;
    }
    if (!level.is_kept) {
      one.outcome = Outcome::Violated;
      one.message = fmt::format("{} is broken by {}", level.expected, level.broken_by);
      Finding& finding = findings.findings.emplace_back();
      finding.rule = "broken-level";
      finding.message =
          fmt::format("{} does not give {}: {}", level.name, level.expected, level.broken_by);
      finding.place.file = answer.product;
      finding.identity = fmt::format("probe {} {}", level.name, level.expected);
    }
    findings.cases.push_back(std::move(one));
  }
  if (!answer.limit.empty())
    findings.cases.push_back(
        {.name = "all schedules", .outcome = Outcome::Unknown, .message = answer.limit});
  if (!findings.cases.empty()) findings.cases.front().seconds = seconds;
  return findings;
}

}  // namespace isoscope
