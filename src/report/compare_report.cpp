#include "report/compare_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/formats.h"
#include "report/json.h"
#include "report/synth_report.h"

namespace isoscope {

namespace {

Result<std::string> hist_of(const History& h) {
  std::string text;
  auto written = write_history(h, Format::Hist, [&](std::string_view piece) { text += piece; });
  if (!written) return written.error();
  return text;
}

std::string indented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out += "    ";
    out += text.substr(0, end);
    text.remove_prefix(end);
  }
  return out;
}

// "for every history", "up to 5 transactions", and so on.
std::string_view proved_word(const Implication& i) {
  switch (i.outcome) {
    case ImplicationOutcome::Proved:
      return "all-histories";
    case ImplicationOutcome::Bounded:
      return "scope";
    default:
      return "no";
  }
}

Result<std::string> direction_text(const std::string& a, const std::string& b,
                                   const Implication& i) {
  switch (i.outcome) {
    case ImplicationOutcome::Proved:
      return fmt::format("  {} implies {}: proved for every history ({})\n", a, b,
                         i.proof && i.proof->construction ? describe(*i.proof->construction) : "");
    case ImplicationOutcome::Bounded:
      return fmt::format("  {} implies {} up to {} transactions; not proved beyond\n", a, b,
                         i.scope.txns);
    case ImplicationOutcome::Unknown:
      return fmt::format("  does {} imply {}? unknown: {}\n", a, b, i.limit);
    case ImplicationOutcome::Refuted:
      break;
  }
  const auto name = common_name(i.anomaly);
  auto text = hist_of(i.separation->history);
  if (!text) return text.error();
  return fmt::format("  {} does not imply {}: it allows {}\n{}", a, b,
                     name.empty() ? "this history" : fmt::format("this {}", name), indented(*text));
}

Json implication_json(const Implication& i) {
  Json json = {{"implies", i.holds()}, {"outcome", name_of(i.outcome)}, {"proved", proved_word(i)}};
  if (i.outcome == ImplicationOutcome::Bounded) json["txns"] = i.scope.txns;
  if (i.separation) {
    json["anomaly"] = common_name(i.anomaly);
    auto text = hist_of(i.separation->history);
    if (text) json["history"] = *text;
  }
  if (!i.limit.empty()) json["limit"] = i.limit;
  return json;
}

std::string class_name(const CompareMatrix& m, std::size_t c) {
  std::string out;
  for (std::size_t i : m.classes[c]) out += (out.empty() ? "" : " = ") + m.levels[i]->full_name();
  return out;
}

char symbol(LevelRelation relation) {
  switch (relation) {
    case LevelRelation::Equivalent:
      return '=';
    case LevelRelation::Stronger:
      return '>';
    case LevelRelation::Weaker:
      return '<';
    case LevelRelation::Incomparable:
      return '#';
    case LevelRelation::Unknown:
      return '?';
  }
  return '?';
}

}  // namespace

Result<std::string> compare_text(const CompareNames& names, const CompareAnswer& answer,
                                 const Paint& paint) {
  std::string relation;
  switch (answer.relation) {
    case LevelRelation::Equivalent:
      relation = fmt::format("{} and {} are equivalent", names.a, names.b);
      break;
    case LevelRelation::Stronger:
      relation = fmt::format("{} is stronger than {}", names.a, names.b);
      break;
    case LevelRelation::Weaker:
      relation = fmt::format("{} is weaker than {}", names.a, names.b);
      break;
    case LevelRelation::Incomparable:
      relation = fmt::format("{} and {} are incomparable", names.a, names.b);
      break;
    case LevelRelation::Unknown:
      relation = "unknown";
      break;
  }
  auto forward = direction_text(names.a, names.b, answer.forward);
  if (!forward) return forward.error();
  auto backward = direction_text(names.b, names.a, answer.backward);
  if (!backward) return backward.error();
  return fmt::format("{}\n{}{}", paint.strong(relation), *forward, *backward);
}

Result<std::string> compare_json(const CompareNames& names, const CompareAnswer& answer) {
  Json json = json_header("compare", name_of(answer.relation), answer.seconds);
  json["levels"] = {names.a, names.b};
  json["forward"] = implication_json(answer.forward);
  json["backward"] = implication_json(answer.backward);
  return dump(json);
}

Result<std::string> matrix_text(const CompareMatrix& m, const Paint& paint) {
  std::size_t width = 0;
  for (const Level* level : m.levels) width = std::max(width, level->full_name().size());
  std::string out = fmt::format("{:<{}}", "", width);
  for (const Level* level : m.levels) out += "  " + level->full_name();
  out += '\n';
  for (std::size_t i = 0; i < m.levels.size(); ++i) {
    out += paint.strong(fmt::format("{:<{}}", m.levels[i]->full_name(), width));
    for (std::size_t j = 0; j < m.levels.size(); ++j) {
      const std::size_t column = m.levels[j]->full_name().size();
      out += fmt::format("  {:^{}}", i == j ? '.' : symbol(m.relation(i, j)), column);
    }
    out += '\n';
  }
  out += "(row > column: the row is stronger; = equivalent, # incomparable, ? unknown)\n\n";
  for (const CompareMatrix::Edge& edge : m.edges) {
    const auto name = common_name(edge.anomaly);
    out += fmt::format("{} > {}  {}{}\n", class_name(m, edge.stronger), class_name(m, edge.weaker),
                       name.empty() ? "separated" : name, edge.is_proved ? ", proved" : "");
    if (!edge.separation) continue;
    auto text = hist_of(edge.separation->history);
    if (!text) return text.error();
    out += indented(*text);
  }
  return out;
}

Result<std::string> matrix_json(const CompareMatrix& m) {
  bool unknown = false;
  Json table = Json::array();
  for (std::size_t i = 0; i < m.levels.size(); ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < m.levels.size(); ++j) {
      const LevelRelation relation = i == j ? LevelRelation::Equivalent : m.relation(i, j);
      unknown |= relation == LevelRelation::Unknown;
      row.push_back(name_of(relation));
    }
    table.push_back(std::move(row));
  }
  Json json = json_header("compare", unknown ? "unknown" : "ok", m.seconds);
  json["levels"] = Json::array();
  for (const Level* level : m.levels) json["levels"].push_back(level->full_name());
  json["matrix"] = std::move(table);
  json["lattice"] = Json::array();
  for (const CompareMatrix::Edge& edge : m.edges)
    json["lattice"].push_back({{"stronger", class_name(m, edge.stronger)},
                               {"weaker", class_name(m, edge.weaker)},
                               {"anomaly", common_name(edge.anomaly)},
                               {"proved", edge.is_proved}});
  return dump(json);
}

std::string matrix_dot(const CompareMatrix& m) {
  std::string out =
      "digraph levels {\n  rankdir=BT;\n  node [shape=box, style=rounded, "
      "fontname=\"Helvetica\"];\n"
      "  edge [fontname=\"Helvetica\", fontsize=11];\n";
  for (std::size_t c = 0; c < m.classes.size(); ++c)
    out += fmt::format("  c{} [label=\"{}\"];\n", c, class_name(m, c));
  for (const CompareMatrix::Edge& edge : m.edges)
    out += fmt::format("  c{} -> c{} [label=\"{}\"{}];\n", edge.weaker, edge.stronger,
                       common_name(edge.anomaly), edge.is_proved ? "" : ", style=dashed");
  return out + "}\n";
}

}  // namespace isoscope
