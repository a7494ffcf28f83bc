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

// A comment that states session edges which no session shows.
std::string further_so_text(const SynthFound& found) {
  std::string out = "# session order besides the sessions:";
  for (const auto& [a, b] : found.further_so)
    out += fmt::format(" {}-{}", found.history.name(a), found.history.name(b));
  return out + "\n";
}

// How far the implication is known to hold.
std::string_view proved_word(const Implication& i) {
  switch (i.outcome) {
    case ImplicationOutcome::Proved: return "all-histories";
    case ImplicationOutcome::Bounded: return "scope";
    case ImplicationOutcome::Refuted:
    case ImplicationOutcome::Unknown: break;
  }
  return "no";
}

std::string vacuity_text(const std::string& a) {
  return fmt::format("    vacuous: with {} no transaction can read what another one wrote\n", a);
}

std::string searched_text(int txns) {
  if (txns == 0) return "no number of transactions has been searched through";
  return fmt::format("no separating history has up to {} transaction{}", txns,
                     txns == 1 ? "" : "s");
}

// Which histories may separate levels: the whole scope where an answer rests on it, else how far a
// search would have gone.
std::string searched_histories(const Scope& scope, bool rests_on_it) {
  if (rests_on_it) return fmt::format("(searched: {})\n", describe_searched(scope, true));
  return fmt::format("(separating histories: at most {} transactions; {})\n", scope.txns,
                     describe_switches(scope));
}

std::string how_proved(const Implication& i) {
  if (i.via != nullptr) return fmt::format("through {}", i.via->full_name());
  return std::string(i.proof && i.proof->construction ? describe(*i.proof->construction) : "");
}

Result<std::string> direction_text(const std::string& a, const std::string& b,
                                   const Implication& i) {
  std::string out = "  " + implication_text(a, b, i) + "\n";
  if (i.outcome == ImplicationOutcome::Proved && i.is_vacuous()) out += vacuity_text(a);
  if (i.outcome != ImplicationOutcome::Refuted) return out;
  auto text = text_in(i.separation->history, Format::Hist);
  if (!text) return text.error();
  if (!i.separation->further_so.empty()) *text += further_so_text(*i.separation);
  return out + indented(*text);
}

Json implication_json(const Implication& i) {
  Json json = {{"implies", nullptr}, {"outcome", name_of(i.outcome)}, {"proved", proved_word(i)}};
  if (i.outcome != ImplicationOutcome::Unknown) json["implies"] = i.holds();
  if (i.outcome == ImplicationOutcome::Proved) {
    json["vacuous"] = i.is_vacuous();
    if (i.proof) json["histories"] = histories_of(*i.proof);
    if (i.via != nullptr) json["through"] = i.via->full_name();
  }
  if (i.outcome == ImplicationOutcome::Bounded || i.outcome == ImplicationOutcome::Unknown) {
    json["txns"] = i.scope.txns;
    json["scope"] = scope_json(i.scope);
  }
  if (i.separation) {
    json["anomaly"] = common_name(i.anomaly);
    auto text = text_in(i.separation->history, Format::Hist);
    if (text) json["history"] = *text;
    if (!i.separation->further_so.empty()) json["so"] = further_so_text(*i.separation);
  }
  if (!i.limit.empty()) json["limit"] = i.limit;
  return json;
}

char symbol(LevelRelation relation) {
  switch (relation) {
    case LevelRelation::Equivalent: return '=';
    case LevelRelation::Stronger: return '>';
    case LevelRelation::Weaker: return '<';
    case LevelRelation::Incomparable: return '#';
    case LevelRelation::Unknown: return '?';
  }
  return '?';
}

// Of the table: a relation that is decided, in parentheses one within the scope, or "?".
std::string cell(const CompareMatrix& m, std::size_t i, std::size_t j) {
  if (i == j) return ".";
  if (const auto bounded = m.bounded(i, j)) return fmt::format("({})", symbol(*bounded));
  return std::string(1, symbol(m.relation(i, j)));
}

std::string edge_text(const CompareMatrix& m, const CompareMatrix::Edge& edge) {
  const auto name = common_name(edge.anomaly);
  const std::string_view separated = edge.separation == nullptr ? "not known to differ"
                                     : name.empty()             ? "separated"
                                                                : name;
  return fmt::format("{} {} {}  {}, {}\n", class_name(m, edge.stronger),
                     edge.separation == nullptr ? ">=" : ">", class_name(m, edge.weaker), separated,
                     edge.is_vacuous  ? "proved, but vacuous"
                     : edge.is_proved ? "proved"
                                      : "searched only");
}

// What ended the first question that is open; empty if none is.
std::string limit_of(const CompareMatrix& m) {
  for (const auto& row : m.implies) {
    for (const Implication& implication : row) {
      if (implication.outcome == ImplicationOutcome::Unknown && !implication.limit.empty())
        return implication.limit;
    }
  }
  return "";
}

bool is_unknown(const CompareMatrix& m) {
  for (std::size_t i = 0; i < m.levels.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (m.relation(i, j) == LevelRelation::Unknown) return true;
    }
  }
  return false;
}

bool has_bounded(const CompareMatrix& m) {
  for (std::size_t i = 0; i < m.levels.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (m.bounded(i, j)) return true;
    }
  }
  return false;
}

}  // namespace

std::string relation_text(const CompareNames& names, LevelRelation relation) {
  switch (relation) {
    case LevelRelation::Equivalent:
      return fmt::format("{} and {} are equivalent", names.a, names.b);
    case LevelRelation::Stronger: return fmt::format("{} is stronger than {}", names.a, names.b);
    case LevelRelation::Weaker: return fmt::format("{} is weaker than {}", names.a, names.b);
    case LevelRelation::Incomparable:
      return fmt::format("{} and {} are incomparable", names.a, names.b);
    case LevelRelation::Unknown: break;
  }
  return "unknown";
}

std::string class_name(const CompareMatrix& m, std::size_t c) {
  std::string out;
  const std::size_t first = m.classes[c].front();
  for (std::size_t i : m.classes[c]) {
    if (i != first) out += m.relation(first, i) == LevelRelation::Equivalent ? " = " : " ~ ";
    out += m.levels[i]->full_name();
  }
  return out;
}

std::string implication_text(const std::string& a, const std::string& b, const Implication& i) {
  switch (i.outcome) {
    case ImplicationOutcome::Proved:
      return fmt::format("{} implies {}: proved for {} ({})", a, b,
                         i.proof ? histories_of(*i.proof) : "every history", how_proved(i));
    case ImplicationOutcome::Bounded:
      return fmt::format("{} implies {} in the scope searched, {} transaction{}; {}", a, b,
                         i.scope.txns == 1 ? "1" : fmt::format("1 to {}", i.scope.txns),
                         i.scope.txns == 1 ? "" : "s",
                         i.proof ? "no proof was found" : "no proof was tried");
    case ImplicationOutcome::Unknown:
      return fmt::format("does {} imply {}? unknown: {}; {}", a, b, i.limit,
                         searched_text(i.scope.txns));
    case ImplicationOutcome::Refuted: break;
  }
  const auto name = common_name(i.anomaly);
  return fmt::format("{} does not imply {}: it allows {}", a, b,
                     name.empty() ? "this history" : fmt::format("this {}", name));
}

Result<std::string> compare_text(const CompareNames& names, const CompareAnswer& answer,
                                 const Paint& paint) {
  std::string relation = relation_text(names, answer.relation);
  if (answer.bounded)
    relation += ": in the scope searched, " + relation_text(names, *answer.bounded);
  auto forward = direction_text(names.a, names.b, answer.forward);
  if (!forward) return forward.error();
  auto backward = direction_text(names.b, names.a, answer.backward);
  if (!backward) return backward.error();
  return fmt::format("{}\n{}{}  {}", paint.strong(relation), *forward, *backward,
                     searched_histories(answer.scope, answer.relation == LevelRelation::Unknown));
}

Header header_of(const CompareAnswer& answer) {
  const bool is_known = answer.relation != LevelRelation::Unknown;
  const std::string& limit =
      answer.forward.limit.empty() ? answer.backward.limit : answer.forward.limit;
  return header_of("compare",
                   {.outcome = is_known ? Outcome::Ok : Outcome::Unknown, .limit = limit},
                   answer.seconds, name_of(answer.relation));
}

Header header_of(const CompareMatrix& m) {
  return header_of(
      "compare", {.outcome = is_unknown(m) ? Outcome::Unknown : Outcome::Ok, .limit = limit_of(m)},
      m.seconds);
}

Result<std::string> compare_json(const CompareNames& names, const CompareAnswer& answer) {
  Json json = json_header(header_of(answer));
  json["levels"] = {names.a, names.b};
  if (answer.bounded) json["bounded"] = name_of(*answer.bounded);
  json["forward"] = implication_json(answer.forward);
  json["backward"] = implication_json(answer.backward);
  json["scope"] = scope_json(answer.scope);
  return dump(json);
}

Result<std::string> matrix_text(const CompareMatrix& m, const Paint& paint) {
  std::size_t width = 0;
  for (const Level* level : m.levels) width = std::max(width, level->full_name().size());
  std::string out = fmt::format("{:<{}}", "", width);
  // Three letters for a cell at least: "(=)".
  const auto column = [&](std::size_t j) {
    return std::max<std::size_t>(m.levels[j]->full_name().size(), 3);
  };
  for (std::size_t j = 0; j < m.levels.size(); ++j)
    out += fmt::format("  {:<{}}", m.levels[j]->full_name(), column(j));
  out += '\n';
  for (std::size_t i = 0; i < m.levels.size(); ++i) {
    out += paint.strong(fmt::format("{:<{}}", m.levels[i]->full_name(), width));
    for (std::size_t j = 0; j < m.levels.size(); ++j)
      out += fmt::format("  {:^{}}", cell(m, i, j), column(j));
    out += '\n';
  }
  out +=
      "(row > column: the row is stronger; = equivalent, # incomparable: proved for every history, "
      "or refuted by one;\n";
  if (has_bounded(m))
    out += " (>) (<) (=) (#): not proved, only searched, and so in the scope; a ~ b: likewise;\n";
  const std::string limit = limit_of(m);
  out += limit.empty() ? " ? unknown)\n" : fmt::format(" ? unknown: {})\n", limit);
  out += searched_histories(m.scope, is_unknown(m)) + '\n';
  for (const CompareMatrix::Edge& edge : m.edges) {
    out += edge_text(m, edge);
    if (!edge.separation) continue;
    auto text = text_in(edge.separation->history, Format::Hist);
    if (!text) return text.error();
    if (!edge.separation->further_so.empty()) *text += further_so_text(*edge.separation);
    out += indented(*text);
  }
  return out;
}

Result<std::string> matrix_json(const CompareMatrix& m) {
  Json table = Json::array();
  Json within_scope = Json::array();
  Json implications = Json::array();
  for (std::size_t i = 0; i < m.levels.size(); ++i) {
    Json row = Json::array();
    Json bounded_row = Json::array();
    for (std::size_t j = 0; j < m.levels.size(); ++j) {
      const LevelRelation relation = i == j ? LevelRelation::Equivalent : m.relation(i, j);
      row.push_back(name_of(relation));
      const auto bounded = i == j ? std::nullopt : m.bounded(i, j);
      bounded_row.push_back(bounded ? Json(name_of(*bounded)) : Json());
      if (i == j) continue;
      Json one = {{"from", m.levels[i]->full_name()}, {"to", m.levels[j]->full_name()}};
      one.update(implication_json(m.implies[i][j]));
      implications.push_back(std::move(one));
    }
    table.push_back(std::move(row));
    within_scope.push_back(std::move(bounded_row));
  }
  Json json = json_header(header_of(m));
  json["levels"] = Json::array();
  for (const Level* level : m.levels) json["levels"].push_back(level->full_name());
  json["matrix"] = std::move(table);
  json["bounded"] = std::move(within_scope);
  json["implications"] = std::move(implications);
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

}  // namespace isoscope
