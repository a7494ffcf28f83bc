#include <fmt/format.h>

#include "report/check_report.h"
#include "report/explain.h"
#include "report/history_scene.h"
#include "report/plural.h"
#include "support/printable.h"

namespace isoscope {

namespace {

std::string violation_title(const std::string& level, const Violation& v) {
  const std::string_view name = common_name(v.anomaly);
  return fmt::format("{} at {}", name.empty() ? "violation" : name, printable(level));
}

// The scene of a level, or kNoIndex: an unknown answer has none.
std::size_t add_scene(Page& page, const History& whole, const LevelAnswer& level) {
  const Verdict& verdict = level.answer.verdict;
  const History& h = level.history(whole);
  if (verdict.violation) {
    page.scenes.push_back(history_scene(
        h, &*verdict.violation, {.title = violation_title(level.level, *verdict.violation)}));
    return page.scenes.size() - 1;
  }
  if (!verdict.witness) return kNoIndex;
  const bool is_co = verdict.witness->framework != Framework::VisAr;
  Scene scene =
      history_scene(h, nullptr,
                    {.title = fmt::format("an order that {} allows", printable(level.level)),
                     .order = verdict.witness->order,
                     .order_words = is_co ? "the commit order that was found"
                                          : "the arbitration that was found"});
  scene.sentence = fmt::format("In this order of the transactions every axiom of {} holds.",
                               printable(level.level));
  page.scenes.push_back(std::move(scene));
  return page.scenes.size() - 1;
}

void add_groups(Page& page, const History& whole, const LevelAnswer& level) {
  if (!level.all) return;
  PageTable table{.title = fmt::format("All violations of {}, by kind", printable(level.level)),
                  .columns = {"anomaly", "reads", "an example"},
                  .rows = {}};
  const History& h = level.history(whole);
  for (const AnomalyGroup& group : level.all->groups) {
    page.scenes.push_back(
        history_scene(h, &group.example,
                      {.title = violation_title(level.level, group.example), .with_text = false}));
    table.rows.push_back({{std::string(common_name(group.anomaly))},
                          {std::to_string(group.count)},
                          {explanation(h, group.example), page.scenes.size() - 1}});
  }
  if (!level.all->complete)
    table.rows.push_back({{"and perhaps more"}, {""}, {"a limit was reached"}});
  page.tables.push_back(std::move(table));
}

}  // namespace

Page check_page(const CheckReport& report) {
  const Outcome outcome = overall(report);
  Page page = page_of(header_of("check", {.outcome = outcome}, report.seconds), report.source);
  // What went wrong comes first.
  std::vector<std::size_t> scenes(report.levels.size(), kNoIndex);
  for (const bool is_violated : {true, false}) {
    for (std::size_t i = 0; i < report.levels.size(); ++i) {
      const LevelAnswer& level = report.levels[i];
      if (level.answer.verdict.violation.has_value() != is_violated) continue;
      scenes[i] = add_scene(page, report.h, level);
      add_groups(page, report.h, level);
    }
  }
  PageTable levels{.title = "Levels", .columns = {"level", "verdict", "why"}, .rows = {}};
  for (const LevelAnswer& level : report.levels) {
    const Verdict& verdict = level.answer.verdict;
    std::string why_not = verdict.limit;
    std::string sentence = fmt::format("{} holds: there is an order that explains the history",
                                       printable(level.level));
    if (verdict.violation) {
      const Violation& v = *verdict.violation;
      const std::string_view name = common_name(v.anomaly);
      why_not =
          explanation(level.history(report.h), v) + (name.empty() ? "" : fmt::format(": {}", name));
      sentence = fmt::format("{} is violated: {}", printable(level.level), why_not);
    } else if (verdict.outcome == Outcome::Unknown) {
      sentence = fmt::format("{} is not decided: {}", printable(level.level), printable(why_not));
    }
    const bool is_telling = verdict.outcome == outcome;
    if (page.sentence.empty() && is_telling) page.sentence = sentence;
    const std::size_t scene = scenes[levels.rows.size()];
    levels.rows.push_back(
        {{printable(level.level)}, {std::string(name_of(verdict.outcome)), scene}, {why_not}});
  }
  if (report.levels.size() > 1) page.tables.insert(page.tables.begin(), std::move(levels));
  page.notes.push_back(fmt::format("{}, {}.",
                                   plural(report.h.num_txns() - 1, "transaction", "transactions"),
                                   plural(report.h.num_events(), "event", "events")));
  return page;
}

}  // namespace isoscope
