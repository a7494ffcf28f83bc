#include <fmt/format.h>

#include "report/audit_report.h"
#include "report/audit_run.h"
#include "report/dot.h"
#include "support/printable.h"

namespace isoscope {
namespace {

EdgeKind kind_of(audit::EdgeKind kind) {
  switch (kind) {
    case audit::EdgeKind::Wr:
      return EdgeKind::Wr;
    case audit::EdgeKind::Ww:
      return EdgeKind::Ww;
    case audit::EdgeKind::Rw:
      return EdgeKind::Rw;
  }
  return EdgeKind::Wr;
}

}  // namespace

std::optional<std::string> audit_dot(const AuditReport& report) {
  if (report.answer.search.anomalies.empty()) return std::nullopt;
  const sql::Application& app = report.problem.app;
  const audit::FoundAnomaly anomaly = in_arbitration_order(report.answer.search.anomalies.front());
  const audit::Scenario& scenario = anomaly.scenario;
  std::string out = fmt::format(
      "digraph isoscope {{\n"
      "  label={};\n  labelloc=t;\n  rankdir=LR;\n  fontname=\"Helvetica\";\n"
      "  node [shape=box, style=rounded, fontname=\"Helvetica\"];\n"
      "  edge [fontname=\"Helvetica\", fontsize=11];\n",
      dot_string(fmt::format("{} at {}: {}\n{}", printable(report.source),
                             report.problem.levels.base->name, headline(app, anomaly),
                             audit::name_of(anomaly.replay.label))));
  for (std::size_t i = 0; i < scenario.calls.size(); ++i) {
    const bool prepares = i < scenario.prefix;
    const std::string label =
        fmt::format("{} {}{}", call_name(i), printable(audit::print(app, scenario.calls[i])),
                    prepares ? "\nprepares" : "");
    out += fmt::format("  t{} [label={}{}];\n", i + 1, dot_string(label),
                       prepares ? ", color=gray60, fontcolor=gray40" : "");
  }
  for (const audit::ReplayEdge& edge : anomaly.replay.cycle) {
    const std::string_view colour = dot_colour(kind_of(edge.kind));
    out += fmt::format("  t{} -> t{} [label={}, color={}, fontcolor={}, penwidth=2];\n",
                       edge.from + 1, edge.to + 1,
                       dot_string(fmt::format("{} {}", edge_word(edge.kind),
                                              printable(audit::print(app, edge.at)))),
                       colour, colour);
  }
  for (std::size_t i = 0; i < scenario.calls.size(); ++i) {
    for (std::size_t j = 0; j < scenario.calls.size(); ++j) {
      if (scenario.sees[j][i])
        out += fmt::format(
            "  t{} -> t{} [label=vis, color=gray60, fontcolor=gray60, style=dashed, "
            "constraint=false];\n",
            i + 1, j + 1);
    }
  }
  return out + "}\n";
}

}  // namespace isoscope
