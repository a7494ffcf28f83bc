#include "report/compare_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/formats.h"
#include "report/json.h"
#include "report/synth_report.h"

namespace isoscope {

namespace {

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

// A comment that tells of session edges which no session shows.
std::string further_so_text(const SynthFound& found) {
  std::string out = "# session order besides the sessions:";
  for (const auto& [a, b] : found.further_so)
    out += fmt::format(" {}-{}", found.history.name(a), found.history.name(b));
  return out + "\n";
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

std::string vacuity_text(const std::string& a) {
  return fmt::format("    vacuous: with {} no transaction can read what another one wrote\n", a);
}

std::string searched_text(int txns) {
  if (txns == 0) return "no number of transactions has been searched through";
  return fmt::format("no separating history has up to {} transaction{}", txns,
                     txns == 1 ? "" : "s");
}

// Which histories count as separating. Proofs hold for the others, too.
std::string searched_histories(const Scope& scope) {
  std::string sizes;
  if (scope.keys > 0) sizes += fmt::format(", {} keys", scope.keys);
  if (scope.values > 0) sizes += fmt::format(", {} values", scope.values);
  if (scope.ops > 0) sizes += fmt::format(", {} operations each", scope.ops);
  return fmt::format("(what may separate: at most {} transactions{}; {})\n", scope.txns, sizes,
                     describe_switches(scope));
}

Result<std::string> direction_text(const std::string& a, const std::string& b,
                                   const Implication& i) {
  switch (i.outcome) {
    case ImplicationOutcome::Proved:
      return fmt::format("  {} implies {}: proved for every history ({})\n{}", a, b,
                         i.proof && i.proof->construction ? describe(*i.proof->construction) : "",
                         i.is_vacuous() ? vacuity_text(a) : "");
    case ImplicationOutcome::Bounded:
      return fmt::format("  {} implies {} up to {} transactions; not proved beyond\n", a, b,
                         i.scope.txns);
    case ImplicationOutcome::Unknown:
      return fmt::format("  does {} imply {}? unknown: {}; {}\n", a, b, i.limit,
                         searched_text(i.scope.txns));
    case ImplicationOutcome::Refuted:
      break;
  }
  const auto name = common_name(i.anomaly);
  auto text = text_in(i.separation->history, Format::Hist);
  if (!text) return text.error();
  if (!i.separation->further_so.empty()) *text += further_so_text(*i.separation);
  return fmt::format("  {} does not imply {}: it allows {}\n{}", a, b,
                     name.empty() ? "this history" : fmt::format("this {}", name), indented(*text));
}

Json implication_json(const Implication& i) {
  Json json = {{"implies", i.holds()}, {"outcome", name_of(i.outcome)}, {"proved", proved_word(i)}};
  if (i.outcome == ImplicationOutcome::Proved) json["vacuous"] = i.is_vacuous();
  if (i.outcome == ImplicationOutcome::Bounded || i.outcome == ImplicationOutcome::Unknown)
    json["txns"] = i.scope.txns;
  if (i.separation) {
    json["anomaly"] = common_name(i.anomaly);
    auto text = text_in(i.separation->history, Format::Hist);
    if (text) json["history"] = *text;
    if (!i.separation->further_so.empty()) json["so"] = further_so_text(*i.separation);
  }
  if (!i.limit.empty()) json["limit"] = i.limit;
  return json;
}

std::string class_name(const CompareMatrix& m, std::size_t c, std::string_view equals = " = ") {
  std::string out;
  for (std::size_t i : m.classes[c]) {
    if (!out.empty()) out += equals;
    out += m.levels[i]->full_name();
  }
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
  return fmt::format("{}\n{}{}  {}", paint.strong(relation), *forward, *backward,
                     searched_histories(answer.scope));
}

Result<std::string> compare_json(const CompareNames& names, const CompareAnswer& answer) {
  Json json = json_header("compare", name_of(answer.relation), answer.seconds);
  json["levels"] = {names.a, names.b};
  json["forward"] = implication_json(answer.forward);
  json["backward"] = implication_json(answer.backward);
  json["scope"] = scope_json(answer.scope);
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
  out += "(row > column: the row is stronger; = equivalent, # incomparable, ? unknown)\n";
  out += searched_histories(m.scope) + '\n';
  for (const CompareMatrix::Edge& edge : m.edges) {
    const auto name = common_name(edge.anomaly);
    out += fmt::format("{} > {}  {}{}\n", class_name(m, edge.stronger), class_name(m, edge.weaker),
                       name.empty() ? "separated" : name,
                       edge.is_vacuous  ? ", proved, but vacuous"
                       : edge.is_proved ? ", proved"
                                        : "");
    if (!edge.separation) continue;
    auto text = text_in(edge.separation->history, Format::Hist);
    if (!text) return text.error();
    if (!edge.separation->further_so.empty()) *text += further_so_text(*edge.separation);
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
  for (const CompareMatrix::Edge& edge : m.edges) {
    Json entry = {{"stronger", class_name(m, edge.stronger)},
                  {"weaker", class_name(m, edge.weaker)},
                  {"anomaly", common_name(edge.anomaly)},
                  {"proved", edge.is_proved},
                  {"vacuous", edge.is_vacuous}};
    if (edge.separation) {
      auto text = text_in(edge.separation->history, Format::Hist);
      if (!text) return text.error();
      entry["history"] = *text;
    }
    json["lattice"].push_back(std::move(entry));
  }
  json["scope"] = scope_json(m.scope);
  return dump(json);
}

std::string matrix_dot(const CompareMatrix& m) {
  std::string out =
      "digraph levels {\n"
      "  label=\"An arrow leads to the next stronger level, which forbids what it names.\";\n"
      "  rankdir=BT;\n  nodesep=0.9;\n  ranksep=0.6;\n"
      "  fontname=\"Helvetica\";\n  fontsize=12;\n"
      "  node [shape=box, style=\"rounded,filled\", fillcolor=aliceblue, color=steelblue,\n"
      "        fontname=\"Helvetica\"];\n"
      "  edge [color=gray40, fontcolor=firebrick, fontname=\"Helvetica\", fontsize=11];\n";
  for (std::size_t c = 0; c < m.classes.size(); ++c)
    out += fmt::format("  c{} [label=\"{}\"];\n", c, class_name(m, c, "\\n= "));
  for (const CompareMatrix::Edge& edge : m.edges)
    // The blanks keep the name off the line.
    out += fmt::format("  c{} -> c{} [label=\"  {}  \"{}];\n", edge.weaker, edge.stronger,
                       common_name(edge.anomaly), edge.is_proved ? "" : ", style=dashed");
  return out + "}\n";
}

}  // namespace isoscope
