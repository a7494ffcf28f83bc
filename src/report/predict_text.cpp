#include <fmt/format.h>

#include <algorithm>

#include "report/explain.h"
#include "report/predict_report.h"
#include "report/shown.h"

namespace isoscope {
namespace {

using predict::ChangedRead;
using predict::Prediction;
using predict::PredictOutcome;
using predict::SessionEnd;
using predict::Validation;

std::string changed_text(const History& h, const ChangedRead& changed) {
  return fmt::format("  {} reads {} from {} instead of {}  ({})\n", shown(h, h.txn(changed.read)),
                     shown(h, h.key(changed.read)), shown(h, changed.predicted),
                     shown(h, changed.observed), where(h, changed.read));
}

// A boundary transaction whose reads are all as observed is nothing to talk about.
std::string end_text(const History& h, const Prediction& prediction, const SessionEnd& end) {
  const std::size_t all = h.session_txns(end.session).size();
  const bool is_changed = std::ranges::any_of(prediction.changed, [&](const ChangedRead& read) {
    return h.txn(read.read) == end.boundary;
  });
  const std::size_t same = end.kept + (end.boundary.is_none() || is_changed ? 0 : 1);
  std::string out = fmt::format("  {}: ", shown(h, end.session));
  if (!is_changed) {
    out += same == all ? "as observed" : fmt::format("ends after {} as observed", same);
  } else {
    out += fmt::format("{} as observed, then {}", end.kept, shown(h, end.boundary));
    if (!end.stop.is_none())
      out += fmt::format(", up to its read of {}", shown(h, h.key(end.stop)));
  }
  return out + "\n";
}

std::string cycle_text(const Prediction& prediction, const Paint& paint) {
  const History& h = prediction.history;
  const Violation& violation = *prediction.unserializable.verdict.violation;
  std::string out = fmt::format("no serial order: {}: {}\n", explanation(h, violation),
                                paint.strong(common_name(violation.anomaly)));
  for (const Edge& edge : violation.cycle) {
    out += fmt::format("  {} --{}{}--> {}  {}\n", shown(h, edge.from), name_of(edge.kind),
                       edge.key.is_none() ? "" : "[" + shown(h, edge.key) + "]", shown(h, edge.to),
                       paint.faint(why(h, edge)));
  }
  return out;
}

std::string validation_text(const PredictReport& report, const Validation& validation,
                            const Paint& paint) {
  std::string out;
  if (validation.is_validated) {
    out += fmt::format("{}: {} did {}\n", paint.bad("validated"), printable(report.program_source),
                       validation.divergences.empty() ? "just that" : "that, with differences");
  } else {
    out += fmt::format("{}: {}\n", paint.unsure("not validated"), printable(validation.reason));
  }
  for (const store::Divergence& divergence : validation.divergences)
    out += fmt::format("  {}: {}\n", paint.unsure("diverges"),
                       printable(store::describe(*report.program, divergence)));
  if (validation.has_failed_assertion) out += "  an assertion of the program fails\n";
  if (validation.is_validated && validation.serial.verdict.violation) {
    out += fmt::format("  {}\n",
                       explanation(validation.history, *validation.serial.verdict.violation));
  }
  return out;
}

}  // namespace

std::string predict_text(const PredictReport& report, const Paint& paint) {
  const predict::PredictAnswer& answer = report.answer;
  std::string out = fmt::format("{} at {}, {} boundary: ", paint.strong(printable(report.source)),
                                report.level, predict::name_of(report.options.boundary));
  switch (answer.outcome) {
    case PredictOutcome::Predicted:
      out += paint.bad(
          answer.predictions.size() == 1
              ? std::string("an unserializable run is possible")
              : fmt::format("{} unserializable runs are possible", answer.predictions.size()));
      break;
    case PredictOutcome::None:
      out += paint.good(report.options.encoding == predict::Encoding::Exact
                            ? "no unserializable run"
                            : "no run with a cyclic pco (an exact search may find one)");
      break;
    case PredictOutcome::Unknown:
      out += paint.unsure("unknown: " + answer.limit + " was hit");
      break;
  }
  out += fmt::format("\n{}\n", paint.faint(fmt::format("{} reads, {} with a choice", answer.reads,
                                                       answer.choices)));
  for (std::size_t i = 0; i < answer.predictions.size(); ++i) {
    const Prediction& prediction = answer.predictions[i];
    out += fmt::format("\nprediction {}: {}\n", i + 1,
                       prediction.changed.size() == 1
                           ? std::string("one read changes")
                           : fmt::format("{} reads change", prediction.changed.size()));
    for (const ChangedRead& changed : prediction.changed)
      out += changed_text(report.observed, changed);
    out += "how far each session goes\n";
    for (const SessionEnd& end : prediction.ends) out += end_text(report.observed, prediction, end);
    out += cycle_text(prediction, paint);
    if (i < report.validations.size()) out += validation_text(report, report.validations[i], paint);
  }
  return out;
}

}  // namespace isoscope
