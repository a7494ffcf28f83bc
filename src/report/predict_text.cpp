#include <fmt/format.h>

#include <algorithm>

#include "report/explain.h"
#include "report/predict_report.h"
#include "report/predict_words.h"
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

// The edges, one a line, and under each the inferred ones that it rests on.
void add_edges(const History& h, const std::vector<Edge>& edges, std::size_t indent,
               const Paint& paint, std::string& out) {
  for (const Edge& edge : edges) {
    out += fmt::format("{:{}}{}{} --{}{}--> {}  {}\n", "", indent, indent > 2 ? "for " : "",
                       shown(h, edge.from), name_of(edge.kind),
                       edge.key.is_none() ? "" : "[" + shown(h, edge.key) + "]", shown(h, edge.to),
                       paint.faint(why(h, edge)));
    add_edges(h, inferred(edge.path), indent + 2, paint, out);
  }
}

std::string cycle_text(const Prediction& prediction, const Paint& paint) {
  const History& h = prediction.history;
  const Violation& violation = *prediction.unserializable.verdict.violation;
  std::string out = fmt::format("no serial order: {}: {}\n", explanation(h, violation),
                                paint.strong(common_name(violation.anomaly)));
  add_edges(h, violation.cycle, 2, paint, out);
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

// What is not known of the predictions: are there more, or some with fewer changed reads?
std::string limit_text(const PredictReport& report) {
  const predict::PredictAnswer& answer = report.answer;
  if (answer.outcome != PredictOutcome::Predicted) return {};
  std::string out;
  const bool is_fewest = std::ranges::all_of(
      answer.predictions, [](const Prediction& prediction) { return prediction.is_fewest; });
  if (!answer.limit.empty())
    out += fmt::format("\n{} was reached: there may be more predictions\n", answer.limit);
  else if (report.options.most > 1 && answer.predictions.size() == report.options.most)
    out +=
        fmt::format("\n--all {} was reached: there may be more predictions\n", report.options.most);
  if (report.options.minimal && !is_fewest)
    out += fmt::format("{}fewer changed reads may be enough: that was not decided\n",
                       out.empty() ? "\n" : "");
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
          answer.predictions.front().changed.empty() ? "the observed run is unserializable already"
          : answer.predictions.size() == 1
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
  const bool is_already =
      answer.outcome == PredictOutcome::Predicted && answer.predictions.front().changed.empty();
  out += fmt::format("\n{}\n", paint.faint(is_already ? fmt::format("{} reads", answer.reads)
                                                      : fmt::format("{} reads, {} with a choice",
                                                                    answer.reads, answer.choices)));
  for (std::size_t i = 0; i < answer.predictions.size(); ++i) {
    const Prediction& prediction = answer.predictions[i];
    out += fmt::format("\nprediction {}: {}\n", i + 1,
                       is_already ? std::string("no read changes")
                       : prediction.changed.size() == 1
                           ? std::string("one read changes")
                           : fmt::format("{} reads change", prediction.changed.size()));
    for (const ChangedRead& changed : prediction.changed)
      out += changed_text(report.observed, changed);
    out += "how far each session goes\n";
    for (const SessionEnd& end : prediction.ends) out += end_text(report.observed, prediction, end);
    out += cycle_text(prediction, paint);
    const Verdict& allowed = prediction.allowed.verdict;
    if (allowed.outcome == Outcome::Violated)
      out += fmt::format("and it violates {}: {}\n", report.level,
                         explanation(prediction.history, *allowed.violation));
    if (i < report.validations.size()) out += validation_text(report, report.validations[i], paint);
  }
  return out + limit_text(report);
}

}  // namespace isoscope
