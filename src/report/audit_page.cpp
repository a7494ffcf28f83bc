#include <fmt/format.h>

#include <algorithm>

#include "report/audit_report.h"
#include "report/audit_run.h"
#include "report/history_scene.h"
#include "support/printable.h"

namespace isoscope {

namespace {

using audit::FoundAnomaly;

EdgeKind drawn_kind(audit::EdgeKind kind) {
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

std::size_t op_on(const SceneBox& box, const std::string& key, bool is_read) {
  for (std::size_t i = 0; i < box.ops.size(); ++i) {
    if (box.ops[i].is_read == is_read && box.ops[i].key == key) return i;
  }
  return kNoIndex;
}

// Which earlier calls the call does not see, and what it returned.
std::string remark_of(const FoundAnomaly& anomaly, std::size_t call) {
  if (call < anomaly.scenario.prefix) return "prepares";
  std::string out;
  for (std::size_t other = 0; other < call; ++other) {
    if (!anomaly.scenario.sees[call][other])
      out += (out.empty() ? "does not see " : ", ") + call_name(other);
  }
  std::string returned;
  for (const sql::Value& value : anomaly.replay.traces[call].result.returned)
    returned += (returned.empty() ? "returns " : ", ") + printable(sql::print(value));
  if (!out.empty() && !returned.empty()) out += "; ";
  return out + returned;
}

Scene anomaly_scene(const AuditReport& report, const FoundAnomaly& found) {
  const sql::Application& app = report.problem.app;
  const FoundAnomaly anomaly = in_arbitration_order(found);
  const auto run =
      audit::to_history(report.problem, anomaly.scenario, anomaly.replay.traces, false);
  Scene scene;
  if (run) {
    // Transaction i + 1 of the run is call i; the order of arbitration is that of the calls.
    scene =
        history_scene(*run->history, nullptr,
                      {.order = run->witness.order,
                       .order_words = "the order of arbitration",
                       .call = [&](TxnId t) {
                         return printable(audit::print(app, anomaly.scenario.calls[t.index - 1]));
                       }});
  }
  scene.title = headline(app, anomaly);
  scene.sentence =
      fmt::format("{}: {}.", audit::name_of(anomaly.replay.label), printable(anomaly.replay.why));
  for (const sql::InitialRow& row : anomaly.scenario.rows)
    scene.notes.push_back("Row at the start: " + printable(audit::print(app, row)));
  if (scene.boxes.size() != anomaly.scenario.calls.size() + 1) return scene;
  for (std::size_t i = 0; i < anomaly.scenario.calls.size(); ++i) {
    SceneBox& box = scene.boxes[i + 1];
    box.remark = remark_of(anomaly, i);
    box.is_faint = i < anomaly.scenario.prefix;
  }
  for (const audit::ReplayEdge& edge : anomaly.replay.cycle) {
    const std::string key = printable(audit::print(app, edge.at));
    const EdgeKind kind = drawn_kind(edge.kind);
    const std::size_t from = edge.from + 1;
    const std::size_t to = edge.to + 1;
    std::erase_if(scene.edges, [&](const SceneEdge& other) {
      return other.from == from && other.to == to && other.kind == kind && other.key == key;
    });
    scene.edges.push_back({.from = from,
                           .to = to,
                           .kind = kind,
                           .key = key,
                           .why = edge_story(anomaly, edge),
                           .in_cycle = true,
                           .from_op = op_on(scene.boxes[from], key, kind == EdgeKind::Rw),
                           .to_op = op_on(scene.boxes[to], key, kind == EdgeKind::Wr)});
  }
  return scene;
}

std::string sentence_of(const AuditReport& report) {
  const auto& anomalies = report.answer.search.anomalies;
  const std::string level = report.problem.levels.base->name;
  switch (report.answer.outcome) {
    case audit::AuditOutcome::Anomaly:
      return anomalies.size() == 1
                 ? fmt::format("At {}: {}", level, headline(report.problem.app, anomalies.front()))
                 : fmt::format("At {}: {} different anomalies", level, anomalies.size());
    case audit::AuditOutcome::None:
      return fmt::format("At {}: no anomaly of up to {} calls", level, report.options.max_length);
    case audit::AuditOutcome::Serializable:
      return fmt::format("At {}: every execution is serializable, however long", level);
    case audit::AuditOutcome::Unknown:
      break;
  }
  return fmt::format("At {}: unknown: {}", level, printable(report.answer.limit));
}

void add_advice(Page& page, const AuditReport& report) {
  const audit::Advice& advice = *report.advice;
  if (!advice.levels.empty()) {
    PageTable table{.title = "Levels that keep every execution serializable",
                    .columns = {"function", "level"},
                    .rows = {}};
    for (std::size_t f = 0; f < advice.levels.size(); ++f)
      table.rows.push_back(
          {{printable(report.problem.app.functions[f].name)}, {advice.levels[f]->name}});
    page.tables.push_back(std::move(table));
  }
  for (const audit::Repair& repair : advice.repairs) {
    PageRepair shown{.where = printable(report.source),
                     .change = printable(repair.what),
                     .remark = repair.is_proved ? std::string("then proved serializable")
                                                : fmt::format("then no anomaly of up to {} calls",
                                                              report.options.max_length)};
    if (repair.place.line != 0)
      shown.where += fmt::format(":{}:{}", repair.place.line, repair.place.column);
    if (!repair.function.empty()) {
      shown.where += fmt::format(", in {}", printable(repair.function));
      shown.context = printable(repair.before);
    }
    page.repairs.push_back(std::move(shown));
  }
}

}  // namespace

Page audit_page(const AuditReport& report) {
  const auto outcome = report.answer.outcome;
  Page page{.command = "audit",
            .verdict = std::string(audit::name_of(outcome)),
            .is_good = outcome == audit::AuditOutcome::None ||
                       outcome == audit::AuditOutcome::Serializable,
            .sentence = sentence_of(report),
            .source = printable(report.source)};
  const auto& anomalies = report.answer.search.anomalies;
  PageTable table{.title = "Anomalies", .columns = {"anomaly", "kind"}, .rows = {}};
  for (const FoundAnomaly& anomaly : anomalies) {
    table.rows.push_back({{headline(report.problem.app, anomaly), page.scenes.size()},
                          {std::string(audit::name_of(anomaly.replay.label))}});
    page.scenes.push_back(anomaly_scene(report, anomaly));
  }
  if (anomalies.size() > 1) page.tables.push_back(std::move(table));
  if (report.advice) add_advice(page, report);
  return page;
}

}  // namespace isoscope
