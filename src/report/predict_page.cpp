#include <fmt/format.h>

#include "report/explain.h"
#include "report/header.h"
#include "report/history_scene.h"
#include "report/predict_report.h"
#include "report/shown.h"

namespace isoscope {

namespace {

using predict::ChangedRead;
using predict::Prediction;

// The writer that a read of the prediction had in the observed run, if it was another. Keys of two
// histories are the same if their names are.
std::string writer_before(const History& observed, const Prediction& prediction, EventId read) {
  const History& h = prediction.history;
  const auto observed_txn = [&](TxnId t) {
    return t.is_none() ? t : prediction.observed_txn[t.index];
  };
  for (const ChangedRead& changed : prediction.changed) {
    if (observed_txn(h.txn(read)) == observed.txn(changed.read) &&
        observed_txn(h.writer(read)) == changed.predicted &&
        h.name(h.key(read)) == observed.name(observed.key(changed.read)))
      return fmt::format("was {}", shown(observed, changed.observed));
  }
  return "";
}

Scene prediction_scene(const PredictReport& report, std::size_t number) {
  const Prediction& prediction = report.answer.predictions[number];
  const Violation& violation = *prediction.unserializable.verdict.violation;
  Scene scene = history_scene(
      prediction.history, &violation,
      {.title = fmt::format("prediction {}: {}", number + 1, common_name(violation.anomaly)),
       .remark = [&](EventId read) { return writer_before(report.observed, prediction, read); }});
  scene.sentence = "No serial order explains this run: " + scene.sentence;
  for (const ChangedRead& changed : prediction.changed)
    scene.notes.push_back(fmt::format("{} reads {} from {} instead of {} ({}).",
                                      shown(report.observed, report.observed.txn(changed.read)),
                                      shown(report.observed, report.observed.key(changed.read)),
                                      shown(report.observed, changed.predicted),
                                      shown(report.observed, changed.observed),
                                      where(report.observed, changed.read)));
  if (number < report.validations.size()) {
    const predict::Validation& validation = report.validations[number];
    scene.notes.push_back(
        validation.is_validated
            ? fmt::format("Validated: {} did this when it was run along the prediction.",
                          printable(report.program_source))
            : fmt::format("Not validated: {}.", printable(validation.reason)));
    if (validation.has_failed_assertion)
      scene.notes.emplace_back("An assertion of the program fails in it.");
  }
  return scene;
}

}  // namespace

Page predict_page(const PredictReport& report) {
  const predict::PredictAnswer& answer = report.answer;
  Page page = page_of(header_of("predict", answer, report.seconds), report.source);
  switch (answer.outcome) {
    case predict::PredictOutcome::Predicted:
      page.sentence =
          answer.predictions.front().changed.empty()
              ? "The observed run is unserializable already"
              : fmt::format("{} allows a run like this one that no serial order explains",
                            printable(report.level));
      break;
    case predict::PredictOutcome::None:
      page.sentence =
          fmt::format("No unserializable run is predicted at {}", printable(report.level));
      break;
    case predict::PredictOutcome::Unknown:
      page.sentence = fmt::format("Unknown: {} was hit", answer.limit);
      break;
  }
  for (std::size_t i = 0; i < answer.predictions.size(); ++i)
    page.scenes.push_back(prediction_scene(report, i));
  if (answer.outcome == predict::PredictOutcome::Predicted && !answer.limit.empty())
    page.notes.push_back(
        fmt::format("{} was reached: there may be more predictions.", answer.limit));
  return page;
}

}  // namespace isoscope
