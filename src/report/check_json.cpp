#include "report/check_report.h"
#include "report/explain.h"
#include "report/json.h"
#include "report/witness_json.h"

namespace isoscope {

namespace {

// Lines of texts; records and their bytes of what has no lines.
void add_place(Json& json, const History& h, EventId e) {
  const Place place = h.place(e);
  if (!h.counts_records()) {
    json["line"] = place.line;
    return;
  }
  json["record"] = place.line;
  json["offset"] = place.column - 1;
}

Json edge_json(const History& h, const Edge& e) {
  Json json = {{"from", h.name(e.from)}, {"to", h.name(e.to)}, {"edge", name_of(e.kind)}};
  json["key"] = e.key.is_none() ? Json(nullptr) : Json(h.name(e.key));
  if (e.from_statement != Edge::kCommit) json["from_statement"] = e.from_statement + 1;
  if (e.to_statement != Edge::kCommit) json["to_statement"] = e.to_statement + 1;
  json["why"] = why(h, e);
  if (!e.read.is_none()) add_place(json, h, e.read);
  return json;
}

Json violation_json(const History& h, const Violation& v) {
  Json json;
  json["axiom"] = v.axiom.empty() ? Json(nullptr) : Json(v.axiom);
  json["anomaly"] = common_name(v.anomaly);
  json["adya"] = adya_name(v.anomaly).empty() ? Json(nullptr) : Json(adya_name(v.anomaly));
  json["cycle"] = Json::array();
  for (const Edge& e : v.cycle) json["cycle"].push_back(edge_json(h, e));
  if (!v.core.empty()) {
    json["core"] = Json::array();
    for (TxnId t : v.core) json["core"].push_back(h.name(t));
  }
  if (v.fault) {
    json["read"] = {{"txn", h.name(h.txn(v.fault->read))},
                    {"key", h.name(h.key(v.fault->read))},
                    {"value", h.show(h.value(v.fault->read))}};
    add_place(json["read"], h, v.fault->read);
  }
  json["explanation"] = explanation(h, v);
  return json;
}

// Reads with several possible writers, and the writers that the answer is about.
Json choices_json(const ChoiceAnswer& choice) {
  const History& h = *choice.chosen;
  Json json = {{"tried", choice.proposals}, {"matter", !choice.for_all_choices}};
  json["reads"] = Json::array();
  for (const ReadChoice& read : h.choices()) {
    const TxnId writer = h.writer(read.read);
    Json entry = {{"txn", h.name(h.txn(read.read))},
                  {"key", h.name(h.key(read.read))},
                  {"value", h.show(h.value(read.read))}};
    entry["writer"] = writer.is_none() ? Json(nullptr) : Json(h.name(writer));
    entry["writers"] = order_json(h, read.writers);
    json["reads"].push_back(std::move(entry));
  }
  return json;
}

// Ways to order those who write or lock a common row, and the cycle that each of them closes.
Json orders_json(const TriedOrders& orders) {
  Json json = Json::array();
  for (const TriedOrder& tried : orders.tried) {
    Json chosen = Json::array();
    for (const ChosenOrder& one : tried.chosen)
      chosen.push_back({{"first", orders.part.name(one.first)},
                        {"second", orders.part.name(one.second)},
                        {"rows", one.rows}});
    Json cycle = Json::array();
    for (const Edge& e : tried.cycle) cycle.push_back(edge_json(orders.part, e));
    json.push_back({{"chosen", std::move(chosen)}, {"cycle", std::move(cycle)}});
  }
  return json;
}

// What one level contributes: verdict, then witness, violation or limit.
void add_answer(Json& json, const History& h, const LevelAnswer& level) {
  const Verdict& verdict = level.answer.verdict;
  if (verdict.witness) json["witness"] = witness_json(h, *verdict.witness);
  if (verdict.violation) json["violation"] = violation_json(h, *verdict.violation);
  if (verdict.violation && level.orders) json["violation"]["orders"] = orders_json(*level.orders);
  if (level.all) {
    json["violations_complete"] = level.all->complete;
    json["violations"] = Json::array();
    for (const AnomalyGroup& group : level.all->groups)
      json["violations"].push_back({{"anomaly", common_name(group.anomaly)},
                                    {"count", group.count},
                                    {"example", violation_json(h, group.example)}});
  }
  if (!verdict.limit.empty()) json["limit"] = verdict.limit;
  if (level.choice) json["choices"] = choices_json(*level.choice);
  json["confirmed"] = name_of(level.answer.confirmation.how);
  if (level.certificate) json["certificate"] = certificate_json(*level.certificate);
}

}  // namespace

Outcome overall(const CheckReport& report) {
  Outcome worst = Outcome::Consistent;
  for (const LevelAnswer& level : report.levels) {
    const Outcome outcome = level.answer.verdict.outcome;
    if (report.strongest && outcome == Outcome::Violated) continue;
    worst = worse(worst, outcome);
  }
  return worst;
}

CheckJson::CheckJson() : files_(Json::array()), levels_(Json::array()) {}

void CheckJson::add(const CheckReport& report) {
  const History& h = report.h;
  overall_ = worse(overall_, overall(report));
  transactions_ += h.num_txns() - 1;
  events_ += h.num_events();
  Json file = {{"file", report.source},     {"verdict", name_of(overall(report))},
               {"seconds", report.seconds}, {"transactions", h.num_txns() - 1},
               {"events", h.num_events()},  {"sessions", h.num_sessions()},
               {"keys", h.num_keys()},      {"session_order", report.session_order}};
  if (report.strongest) file["strongest"] = *report.strongest;
  if (report.is_minimal) file["minimal"] = *report.is_minimal;
  files_.push_back(std::move(file));
  for (const LevelAnswer& level : report.levels) {
    Json entry = {{"file", report.source},
                  {"level", level.level},
                  {"verdict", name_of(level.answer.verdict.outcome)},
                  {"seconds", level.seconds},
                  {"stats", stats_json(level.answer.verdict.stats)}};
    add_answer(entry, level.history(h), level);
    levels_.push_back(std::move(entry));
  }
}

std::string CheckJson::text(double seconds) const {
  return dump(object(header_of("check", {.outcome = overall_}, seconds)));
}

Json CheckJson::object(const Header& header) const {
  Json json = json_header(header);
  json["transactions"] = transactions_;
  json["events"] = events_;
  json["files"] = files_;
  json["levels"] = levels_;
  return json;
}

}  // namespace isoscope
