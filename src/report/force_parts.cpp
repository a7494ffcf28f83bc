#include "report/force_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/explain.h"
#include "report/plural.h"
#include "support/printable.h"

namespace isoscope {
namespace {

constexpr std::size_t kMostRowsShown = 8;

}  // namespace

Outcome outcome_of(force::ForceVerdict verdict) {
  switch (verdict) {
    case force::ForceVerdict::Reproduced: return Outcome::Reproduced;
    case force::ForceVerdict::Prevented: return Outcome::Prevented;
    case force::ForceVerdict::Diverged:
    case force::ForceVerdict::Unknown: break;
  }
  return Outcome::Unknown;
}

Header force_header(force::ForceVerdict verdict, const std::string& limit, double seconds) {
  return header_of("force", {.outcome = outcome_of(verdict), .limit = limit}, seconds,
                   force::name_of(verdict));
}

std::string painted(force::ForceVerdict verdict, const Paint& paint) {
  return painted(force::name_of(verdict), outcome_of(verdict), paint);
}

std::string shown_rows(const force::Table& table) {
  std::vector<std::string> rows;
  for (const force::Row& row : table.rows) {
    std::vector<std::string> cells;
    for (const force::Cell& cell : row) cells.push_back(printable(cell.value_or("NULL")));
    rows.push_back(fmt::format("({})", fmt::join(cells, ", ")));
    if (rows.size() == kMostRowsShown && table.rows.size() > kMostRowsShown + 1) {
      rows.push_back(fmt::format("… {} in all", table.rows.size()));
      break;
    }
  }
  return rows.empty() ? "no row" : fmt::format("{}", fmt::join(rows, " "));
}

std::string prevented_by(const std::set<std::string>& sqlstates, std::size_t waits,
                         std::size_t rechecked) {
  std::vector<std::string> means;
  if (!sqlstates.empty())
    means.push_back("by SQLSTATE " + fmt::format("{}", fmt::join(sqlstates, ", ")));
  if (rechecked > 0)
    means.emplace_back("a WHERE that was checked again after a wait matched no row");
  if (waits > 0 && rechecked < waits) means.push_back(plural(waits, "lock wait", "lock waits"));
  if (means.empty()) return "some serial order gives the same";
  return fmt::format("{}", fmt::join(means, "; "));
}

std::string recorded_text(const force::RecordedRun& recorded) {
  if (recorded.history == nullptr || !recorded.violation) return {};
  const History& h = *recorded.history;
  const Violation& violation = *recorded.violation;
  const std::string_view anomaly = common_name(violation.anomaly);
  std::string out =
      fmt::format("the recorded history is not serializable: {}{}{}\n",
                  printable(explanation(h, violation)), anomaly.empty() ? "" : ": ", anomaly);
  for (const Edge& edge : violation.cycle)
    out += fmt::format("  {} of {}, {} of {}: {}\n", h.name(edge.from),
                       printable(h.name(h.session(edge.from))), h.name(edge.to),
                       printable(h.name(h.session(edge.to))), printable(why(h, edge)));
  return out;
}

std::string recorded_sentence(const force::RecordedRun& recorded) {
  if (recorded.history == nullptr || !recorded.violation) return {};
  const History& h = *recorded.history;
  std::string sentence = fmt::format("The recorded history is not serializable: {}.",
                                     printable(explanation(h, *recorded.violation)));
  // The names of transactions mean nothing to who knows the sessions.
  std::set<TxnId> named;
  std::vector<std::string> names;
  for (const Edge& edge : recorded.violation->cycle)
    for (const TxnId t : {edge.from, edge.to})
      if (t.index != 0 && named.insert(t).second)
        names.push_back(
            fmt::format("{} is of {}", printable(h.name(t)), printable(h.name(h.session(t)))));
  if (!names.empty()) sentence += fmt::format(" ({})", fmt::join(names, ", "));
  return sentence;
}

void add_recorded(Json& json, const force::RecordedRun& recorded) {
  json["history"] = recorded.text.empty() ? Json() : Json(recorded.text);
  json["levels"] = Json::array();
  for (const auto& [level, outcome] : recorded.levels)
    json["levels"].push_back({{"level", level}, {"verdict", name_of(outcome)}});
  if (!recorded.why.empty()) json["no_history_witness"] = recorded.why;
  if (recorded.history == nullptr || !recorded.violation) return;
  json["anomaly"] = common_name(recorded.violation->anomaly);
  json["explanation"] = explanation(*recorded.history, *recorded.violation);
}

Json tables_json(const std::map<std::string, force::Table>& tables) {
  Json all = Json::object();
  for (const auto& [name, table] : tables) {
    Json rows = Json::array();
    for (const force::Row& row : table.rows) {
      Json cells = Json::array();
      for (const force::Cell& cell : row) cells.push_back(cell ? Json(*cell) : Json());
      rows.push_back(std::move(cells));
    }
    all[name] = std::move(rows);
  }
  return all;
}

}  // namespace isoscope
