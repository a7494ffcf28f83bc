#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/audit_claims.h"
#include "report/audit_report.h"
#include "report/audit_run.h"
#include "report/history_scene.h"
#include "report/page_steps.h"
#include "report/schedule_scene.h"
#include "report/shown.h"
#include "support/printable.h"

namespace isoscope {

namespace {

using audit::FoundAnomaly;

std::size_t op_on(const SceneBox& box, const std::string& key, bool is_read) {
  for (std::size_t i = 0; i < box.ops.size(); ++i) {
    if (box.ops[i].is_read == is_read && box.ops[i].key == key) return i;
  }
  return kNoIndex;
}

// Which earlier calls the call does not see, and what it returned.
std::string remark_of(const FoundAnomaly& anomaly, audit::ScenarioCallId call) {
  if (anomaly.scenario.prepares(call)) return "prepares";
  std::string out;
  for (audit::ScenarioCallId other; other < call; ++other) {
    if (!anomaly.scenario.sees[call][other])
      out += (out.empty() ? "does not see " : ", ") + call_name(other);
  }
  std::string returned;
  for (const sql::Value& value : anomaly.replay.traces[call].result.returned)
    returned += (returned.empty() ? "returns " : ", ") + printable(sql::print(value));
  if (!out.empty() && !returned.empty()) out += "; ";
  return out + returned;
}

// Keys that stand for whole rows let levels see conflicts of rows; people see the columns.
void drop_whole_rows(Scene& scene, const audit::ReplayHistory& run) {
  std::set<std::string> rows;
  for (const KeyId row : run.whole_rows) rows.insert(shown(*run.history, row));
  const auto is_whole_row = [&](const auto& part) { return rows.contains(part.key); };
  std::erase_if(scene.edges, is_whole_row);
  for (std::size_t b = 0; b < scene.boxes.size(); ++b) {
    std::vector<SceneOp>& ops = scene.boxes[b].ops;
    std::vector<std::size_t> places;  // of the operations that stay
    for (std::size_t i = 0, next = 0; i < ops.size(); ++i)
      places.push_back(is_whole_row(ops[i]) ? kNoIndex : next++);
    for (SceneEdge& edge : scene.edges) {
      if (edge.from == b && edge.from_op < places.size()) edge.from_op = places[edge.from_op];
      if (edge.to == b && edge.to_op < places.size()) edge.to_op = places[edge.to_op];
    }
    std::erase_if(ops, is_whole_row);
  }
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
                         return printable(audit::print(app, anomaly.scenario.calls[{t.index - 1}]));
                       }});
    drop_whole_rows(scene, *run);
  }
  scene.title = headline(app, anomaly);
  scene.sentence =
      fmt::format("{}: {}.", audit::name_of(anomaly.replay.label), printable(anomaly.replay.why));
  for (const sql::InitialRow& row : anomaly.scenario.rows)
    scene.notes.push_back("Row at the start: " + printable(audit::print(app, row)));
  if (scene.boxes.size() != anomaly.scenario.calls.size() + 1) return scene;
  for (const audit::ScenarioCallId i : anomaly.scenario.calls.ids()) {
    SceneBox& box = scene.boxes[i.index + 1];
    box.remark = remark_of(anomaly, i);
    box.is_faint = anomaly.scenario.prepares(i);
  }
  for (const audit::ReplayEdge& edge : anomaly.replay.cycle) {
    const std::string key = printable(audit::print(app, edge.at));
    const EdgeKind kind = edge_of(edge.kind);
    const std::size_t from = edge.from.index + 1;
    const std::size_t to = edge.to.index + 1;
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

// "line 12", of a statement of the application.
std::string line_of(Place place) {
  return place.line == 0 ? "" : fmt::format("line {}", place.line);
}

// What the statements of a call wrote there, by location; presence as a word.
std::string written_text(const audit::LocationKey& at, const sql::Value& value) {
  if (!at.attribute.is_column()) return value == sql::Value(true) ? "is there" : "no row";
  return printable(sql::print(value));
}

// Where each statement takes a snapshot: the same run, statement by statement, as a server would
// execute it.
class AuditSchedule {
 public:
  AuditSchedule(const AuditReport& report, const FoundAnomaly& anomaly)
      : app_(report.problem.app), anomaly_(anomaly) {}

  Scene make(const Scene& history) {
    PlayedRun run{.title = headline(app_, anomaly_) + ", statement by statement"};
    const auto& calls = anomaly_.scenario.calls;
    for (std::size_t i = 0; i < calls.size(); ++i)
      run.lanes.push_back(fmt::format("client {}", i + 1));
    run.start = start_rows();
    for (std::size_t i = 0; i < anomaly_.replay.schedule.size(); ++i)
      run.steps.push_back(step_of(anomaly_.replay.schedule[i]));
    Scene scene = schedule_scene(std::move(run));
    add_cycle(scene);
    scene.sentence = history.sentence;
    scene.notes = history.notes;
    scene.serial = serial_of(history);
    return scene;
  }

 private:
  // What the calls read from the start.
  std::vector<KeyState> start_rows() const {
    std::map<audit::LocationKey, sql::Value> values;
    for (const audit::CallTrace& trace : anomaly_.replay.traces) {
      for (const audit::StatementRead& read : trace.statement_reads) {
        if (!read.writer) values.emplace(read.at, read.value);
      }
      for (const auto& [at, value] : trace.reads) {
        const auto from = trace.read_from.find(at);
        if (from != trace.read_from.end() && !from->second) values.emplace(at, value);
      }
    }
    std::vector<KeyState> rows;
    for (const auto& [at, value] : values) {
      if (at.attribute.is_column())
        rows.push_back({printable(audit::print(app_, at)), written_text(at, value), "T0"});
    }
    return rows;
  }

  PlayedStep step_of(const audit::ScheduleStep& step) const {
    const audit::CallTrace& trace = anomaly_.replay.traces[step.call];
    PlayedStep played{.lane = step.call.index,
                      .txn = call_name(step.call),
                      .call = printable(audit::print(app_, anomaly_.scenario.calls[step.call]))};
    if (step.is_snapshot) {
      played.sql = "takes its snapshot";
      return played;
    }
    if (!step.moment) {
      played.kind = PlayedStep::Kind::Commit;
      for (const sql::Value& value : trace.result.returned)
        played.result += (played.result.empty() ? "returns " : ", ") + printable(sql::print(value));
      for (const auto& [at, value] : trace.writes)
        played.changed.push_back(state_of(step, at, value));
      return played;
    }
    const audit::TracedMoment& moment = trace.moments[*step.moment];
    // A step without a text would be taken for the end of its transaction.
    played.sql = moment.text.empty() ? line_of(moment.place) : printable(moment.text);
    played.where = line_of(moment.place);
    for (const audit::StatementRead& read : trace.statement_reads) {
      if (read.moment != *step.moment || !read.at.attribute.is_column()) continue;
      played.result +=
          fmt::format("{}{} = {}", played.result.empty() ? "reads " : ", ",
                      printable(audit::print(app_, read.at)), printable(sql::print(read.value)));
    }
    if (step.waits_for) {
      played.kind = PlayedStep::Kind::Waits;
      played.result = fmt::format("for {}", call_name(*step.waits_for));
    }
    return played;
  }

  KeyState state_of(const audit::ScheduleStep& step, const audit::LocationKey& at,
                    const sql::Value& value) const {
    return {printable(audit::print(app_, at)), written_text(at, value), call_name(step.call)};
  }

  void add_cycle(Scene& scene) const {
    if (!scene.too_large.empty()) return;
    for (const audit::ReplayEdge& edge : anomaly_.replay.cycle) {
      const std::size_t from = box_at(scene, call_name(edge.from), line_of(edge.from_place));
      const std::size_t to = box_at(scene, call_name(edge.to), line_of(edge.to_place));
      if (from == kNoIndex || to == kNoIndex) continue;
      scene.edges.push_back({.from = from,
                             .to = to,
                             .kind = edge_of(edge.kind),
                             .key = printable(audit::print(app_, edge.at)),
                             .why = edge_story(anomaly_, edge),
                             .in_cycle = true});
    }
  }

  static PageTable serial_of(const Scene& history) {
    const SerialComparison serial = compare_with_serial(history);
    if (serial.order.size() < 2 || serial.differences.empty()) return {};
    std::string order;
    for (const std::string& name : serial.order) order += (order.empty() ? "" : ", ") + name;
    PageTable table{.title = fmt::format("One after the other, as {}:", order),
                    .columns = {"transaction", "reads", "in this run", "in the serial run"},
                    .rows = {}};
    for (const SerialDifference& row : serial.differences)
      table.rows.push_back({{row.txn}, {row.key}, {row.seen}, {row.serial}});
    return table;
  }

  const sql::Application& app_;
  const FoundAnomaly& anomaly_;
};

std::string sentence_of(const AuditReport& report) {
  const auto& anomalies = report.answer.search.anomalies;
  const std::string level = report.problem.levels.base->name;
  switch (report.answer.outcome) {
    case audit::AuditOutcome::Anomaly:
      if (report.small_runs && !report.small_runs->anomalies.empty())
        return fmt::format("At {}: {} end as no serial order of them does", level,
                           small_headline(report, report.small_runs->anomalies.front()));
      if (anomalies.empty()) return fmt::format("At {}: a claim about rows is broken", level);
      return anomalies.size() == 1
                 ? fmt::format("At {}: {}", level, headline(report.problem.app, anomalies.front()))
                 : fmt::format("At {}: {} different anomalies", level, anomalies.size());
    case audit::AuditOutcome::None:
      return fmt::format("At {}: no anomaly of up to {} calls", level, report.options.max_length);
    case audit::AuditOutcome::Serializable:
      return fmt::format("At {}: every execution is serializable, however long", level);
    case audit::AuditOutcome::Unknown: break;
  }
  return fmt::format("At {}: unknown: {}", level, printable(report.answer.limit));
}

void add_advice(Page& page, const AuditReport& report) {
  const audit::Advice& advice = *report.advice;
  if (!advice.levels.empty()) {
    PageTable table{.title = "Levels that keep every execution serializable",
                    .columns = {"function", "level"},
                    .rows = {}};
    for (const sql::FunctionId f : advice.levels.ids())
      table.rows.push_back(
          {{printable(report.problem.app.function(f).name)}, {advice.levels[f]->name}});
    page.tables.push_back(std::move(table));
  }
  const auto add = [&](const audit::Repair& repair, std::string_view remark) {
    PageRepair shown{.where = printable(report.source),
                     .change = printable(repair.what),
                     .remark = repair.is_proved ? std::string("then proved serializable")
                                                : fmt::format("then no anomaly of up to {} calls",
                                                              report.options.max_length)};
    shown.remark += remark;
    if (repair.place.line != 0)
      shown.where += fmt::format(":{}:{}", repair.place.line, repair.place.column);
    if (!repair.function.empty()) {
      shown.where += fmt::format(", in {}", printable(repair.function));
      shown.context = printable(repair.before);
    }
    page.repairs.push_back(std::move(shown));
  };
  for (const audit::Repair& repair : advice.repairs) add(repair, "");
  for (const audit::Repair& repair : advice.unsure)
    add(repair, " in the model, which leaves something out");
}

}  // namespace

Page audit_page(const AuditReport& report) {
  Page page = page_of(header_of(report), report.source);
  page.sentence = sentence_of(report);
  const auto& anomalies = report.answer.search.anomalies;
  PageTable table{.title = "Anomalies", .columns = {"anomaly", "kind"}, .rows = {}};
  for (const FoundAnomaly& anomaly : anomalies) {
    table.rows.push_back({{headline(report.problem.app, anomaly), page.scenes.size()},
                          {std::string(audit::name_of(anomaly.replay.label))}});
    Scene history = anomaly_scene(report, anomaly);
    if (!anomaly.replay.schedule.empty() && history.boxes.size() > 1)
      page.scenes.push_back(AuditSchedule(report, in_arbitration_order(anomaly)).make(history));
    page.scenes.push_back(std::move(history));
  }
  if (anomalies.size() > 1) page.tables.push_back(std::move(table));
  if (report.advice) add_advice(page, report);
  return page;
}

}  // namespace isoscope
