// Separating histories and lattices as pages: synth, and compare.
#include <fmt/format.h>

#include "check/check.h"
#include "report/compare_report.h"
#include "report/history_scene.h"
#include "report/synth_report.h"
#include "support/printable.h"

namespace isoscope {

namespace {

constexpr double kSeparationSeconds = 2;

void add_further_so(Scene& scene, const SynthFound& found) {
  for (const auto& [a, b] : found.further_so)
    scene.notes.push_back(fmt::format("Besides the sessions, {} precedes {} in session order.",
                                      printable(found.history.name(a)),
                                      printable(found.history.name(b))));
}

Scene synth_scene(const SynthReport& report, const SeparatingHistory& one, std::size_t number) {
  const Violation* violation = nullptr;
  if (!one.refutations.empty() && one.refutations.front().verdict.violation)
    violation = &*one.refutations.front().verdict.violation;
  Scene scene =
      history_scene(one.found.history, violation, {.title = fmt::format("history {}", number)});
  for (std::size_t i = 0; i < report.allow.size(); ++i)
    scene.notes.push_back(
        fmt::format("allowed by {}: {}", printable(report.allow[i]),
                    printable(witness_text(one.found.history, one.found.witnesses[i]))));
  for (std::size_t i = 0; i < one.refutations.size(); ++i) {
    const auto& v = one.refutations[i].verdict.violation;
    scene.notes.push_back(fmt::format("forbidden by {}{}{}", printable(report.forbid[i]),
                                      v ? ": " : "", v ? common_name(v->anomaly) : ""));
  }
  add_further_so(scene, one.found);
  return scene;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + printable(name);
  return out;
}

// A history that `forbidding` refutes.
Scene separation_scene(const SynthFound& found, const Level& forbidding, std::string title) {
  Budget budget = Budget::seconds(kSeparationSeconds);
  const CheckAnswer answer = check(found.history, forbidding, budget);
  const auto& violation = answer.verdict.violation;
  Scene scene =
      history_scene(found.history, violation ? &*violation : nullptr, {.title = std::move(title)});
  add_further_so(scene, found);
  return scene;
}

void add_direction(Page& page, const std::string& a, const std::string& b, const Level& level_b,
                   const Implication& implication) {
  if (!implication.separation) return;
  const std::string_view name = common_name(implication.anomaly);
  page.scenes.push_back(separation_scene(
      *implication.separation, level_b,
      fmt::format("{} allows {}, {} forbids it", printable(a),
                  name.empty() ? std::string("this history") : fmt::format("this {}", name),
                  printable(b))));
}

}  // namespace

Page synth_page(const SynthReport& report) {
  Page page = page_of(header_of(report), {});
  const std::string what =
      fmt::format("allowed by {}{}", list_of(report.allow),
                  report.forbid.empty() ? "" : " and forbidden by " + list_of(report.forbid));
  switch (report.verdict()) {
    case SynthOutcome::Found:
      page.sentence = report.histories.size() == 1
                          ? fmt::format("A history that is {}", what)
                          : fmt::format("{} histories that are {}", report.histories.size(), what);
      break;
    case SynthOutcome::None:
      page.sentence = fmt::format("No history of the scope is {}", what);
      break;
    case SynthOutcome::Unknown:
      page.sentence = fmt::format("Unknown: {}", printable(report.limit));
      break;
  }
  page.notes.push_back("Scope: " + describe(report.scope) + ".");
  for (std::size_t i = 0; i < report.histories.size(); ++i)
    page.scenes.push_back(synth_scene(report, report.histories[i], i + 1));
  return page;
}

Page compare_page(const CompareNames& names, const Level& a, const Level& b,
                  const CompareAnswer& answer) {
  Page page = page_of(header_of(answer), {});
  page.sentence = relation_text(names, answer.relation);
  if (answer.bounded)
    page.sentence += ": in the scope searched, " + relation_text(names, *answer.bounded);
  for (const auto& [from, to, implication] : {std::tuple(names.a, names.b, &answer.forward),
                                              std::tuple(names.b, names.a, &answer.backward)})
    page.notes.push_back(implication_text(from, to, *implication));
  add_direction(page, names.a, names.b, b, answer.forward);
  add_direction(page, names.b, names.a, a, answer.backward);
  return page;
}

Page matrix_page(const CompareMatrix& matrix) {
  Page page = page_of(header_of(matrix), {});
  page.sentence = fmt::format("How {} levels relate", matrix.levels.size());
  PageTable table{.title = "All pairs", .columns = {"row to column"}, .rows = {}};
  for (const Level* level : matrix.levels) table.columns.push_back(printable(level->full_name()));
  for (std::size_t i = 0; i < matrix.levels.size(); ++i) {
    std::vector<PageCell> row = {{printable(matrix.levels[i]->full_name())}};
    for (std::size_t j = 0; j < matrix.levels.size(); ++j) {
      const auto bounded = i == j ? std::nullopt : matrix.bounded(i, j);
      row.push_back({i == j    ? std::string("same")
                     : bounded ? fmt::format("{} in the scope", name_of(*bounded))
                               : std::string(name_of(matrix.relation(i, j)))});
    }
    table.rows.push_back(std::move(row));
  }
  page.tables.push_back(std::move(table));
  Lattice lattice;
  for (std::size_t c = 0; c < matrix.classes.size(); ++c)
    lattice.nodes.push_back(printable(class_name(matrix, c)));
  for (const CompareMatrix::Edge& edge : matrix.edges) {
    const std::string stronger = class_name(matrix, edge.stronger);
    const std::string weaker = class_name(matrix, edge.weaker);
    Lattice::Arrow arrow{.weaker = edge.weaker,
                         .stronger = edge.stronger,
                         .label = std::string(common_name(edge.anomaly)),
                         .why = fmt::format("{} implies {}: {}", stronger, weaker,
                                            edge.is_vacuous  ? "proved, but vacuous"
                                            : edge.is_proved ? "proved for every history"
                                                             : "no proof, only searched"),
                         .is_proved = edge.is_proved,
                         .is_known = edge.separation != nullptr};
    if (edge.separation) {
      arrow.scene = page.scenes.size();
      const std::size_t first = matrix.classes[edge.stronger].front();
      page.scenes.push_back(separation_scene(
          *edge.separation, *matrix.levels[first],
          fmt::format("{} allows {}, {} forbids it", weaker,
                      arrow.label.empty() ? std::string("this history") : "this " + arrow.label,
                      stronger)));
      arrow.why += fmt::format("; {} allows {}, which {} forbids", weaker,
                               arrow.label.empty() ? "a history" : arrow.label, stronger);
    }
    lattice.arrows.push_back(std::move(arrow));
  }
  page.lattice = std::move(lattice);
  return page;
}

}  // namespace isoscope
