#include <fmt/format.h>

#include <algorithm>

#include "report/explain.h"
#include "report/history_scene.h"
#include "report/predict_report.h"
#include "report/shown.h"

namespace isoscope {

namespace {

using predict::ChangedRead;
using predict::Prediction;

// Marks the reads that see another writer than in the observed run.
void mark_changed(const History& observed, const Prediction& prediction, Scene& scene) {
  for (const ChangedRead& changed : prediction.changed) {
    const std::string reader = shown(observed, observed.txn(changed.read));
    const std::string key = shown(observed, observed.key(changed.read));
    const std::string predicted = shown(observed, changed.predicted);
    for (SceneBox& box : scene.boxes) {
      if (box.name != reader) continue;
      for (SceneOp& op : box.ops) {
        if (op.is_read && op.key == key && op.writer_name == predicted)
          op.remark = fmt::format("was {}", shown(observed, changed.observed));
      }
    }
    scene.notes.push_back(fmt::format("{} reads {} from {} instead of {} ({}).", reader, key,
                                      predicted, shown(observed, changed.observed),
                                      where(observed, changed.read)));
  }
}

Scene prediction_scene(const PredictReport& report, std::size_t number) {
  const Prediction& prediction = report.answer.predictions[number];
  const Violation& violation = *prediction.unserializable.verdict.violation;
  Scene scene = history_scene(
      prediction.history, &violation,
      {.title = fmt::format("prediction {}: {}", number + 1, common_name(violation.anomaly))});
  scene.sentence = "No serial order explains this run: " + scene.sentence;
  mark_changed(report.observed, prediction, scene);
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
