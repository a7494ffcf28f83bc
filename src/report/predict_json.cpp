#include "formats/formats.h"
#include "report/check_report.h"
#include "report/explain.h"
#include "report/header.h"
#include "report/predict_report.h"
#include "report/predict_words.h"

namespace isoscope {
namespace {

using predict::Prediction;
using predict::SessionEnd;
using predict::Validation;

Json edges_json(const History& h, const std::vector<Edge>& edges) {
  Json cycle = Json::array();
  for (const Edge& edge : edges) {
    cycle.push_back({{"from", h.name(edge.from)},
                     {"to", h.name(edge.to)},
                     {"edge", name_of(edge.kind)},
                     {"key", edge.key.is_none() ? Json() : Json(h.name(edge.key))},
                     {"why", why(h, edge)}});
    if (Json because = edges_json(h, inferred(edge.path)); !because.empty())
      cycle.back()["because"] = std::move(because);
  }
  return cycle;
}

Json end_json(const History& h, const SessionEnd& end) {
  Json json{{"session", h.name(end.session)}, {"kept", end.kept}};
  json["boundary"] = end.boundary.is_none() ? Json() : Json(h.name(end.boundary));
  if (!end.stop.is_none()) json["stops_at"] = h.name(h.key(end.stop));
  return json;
}

Json prediction_json(const PredictReport& report, const Prediction& prediction) {
  const History& h = report.observed;
  Json changed = Json::array();
  for (const predict::ChangedRead& read : prediction.changed) {
    changed.push_back({{"session", h.name(h.session(h.txn(read.read)))},
                       {"txn", h.name(h.txn(read.read))},
                       {"key", h.name(h.key(read.read))},
                       {"observed", h.name(read.observed)},
                       {"predicted", h.name(read.predicted)}});
  }
  Json ends = Json::array();
  for (const SessionEnd& end : prediction.ends) ends.push_back(end_json(h, end));
  const Violation& violation = *prediction.unserializable.verdict.violation;
  std::string text;
  const auto written = write_history(prediction.history, Format::Jsonl,
                                     [&](std::string_view piece) { text += piece; });
  Json json{{"changed", std::move(changed)},
            {"boundary", std::move(ends)},
            {"cycle", edges_json(prediction.history, violation.cycle)},
            {"anomaly", common_name(violation.anomaly)},
            {"explanation", explanation(prediction.history, violation)}};
  json["history"] = written.ok() ? Json(text) : Json();
  json["fewest"] = prediction.is_fewest;
  const Verdict& allowed = prediction.allowed.verdict;
  if (allowed.outcome == Outcome::Violated)
    json["violates_level"] = explanation(prediction.history, *allowed.violation);
  return json;
}

Json validation_json(const PredictReport& report, const Validation& validation) {
  Json divergences = Json::array();
  for (const store::Divergence& divergence : validation.divergences) {
    divergences.push_back({{"kind", store::name_of(divergence.kind)},
                           {"what", store::describe(*report.program, divergence)}});
  }
  return {{"validated", validation.is_validated},
          {"diverged", !validation.divergences.empty()},
          {"divergences", std::move(divergences)},
          {"failed_assertion", validation.has_failed_assertion},
          {"reason", validation.reason}};
}

}  // namespace

std::string predict_json(const PredictReport& report) {
  const predict::PredictAnswer& answer = report.answer;
  Json json = json_header(header_of("predict", answer, report.seconds));
  json["level"] = report.level;
  json["boundary"] = predict::name_of(report.options.boundary);
  json["encoding"] = report.options.encoding == predict::Encoding::Exact ? "exact" : "approx";
  json["reads"] = answer.reads;
  json["choices"] = answer.choices;
  json["literals"] = answer.literals;
  json["candidates"] = answer.candidates;
  json["generation_seconds"] = answer.generation_seconds;
  json["solving_seconds"] = answer.solving_seconds;
  json["complete"] = answer.is_complete;
  json["predictions"] = Json::array();
  for (std::size_t i = 0; i < answer.predictions.size(); ++i) {
    json["predictions"].push_back(prediction_json(report, answer.predictions[i]));
    if (i < report.validations.size())
      json["predictions"].back()["validation"] = validation_json(report, report.validations[i]);
  }
  if (!report.validations.empty()) {
    json["validated"] = report.validations.front().is_validated;
    json["diverged"] = !report.validations.front().divergences.empty();
  }
  return dump(json);
}

}  // namespace isoscope
