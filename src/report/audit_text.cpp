#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "report/audit_claims.h"
#include "report/audit_report.h"
#include "report/audit_run.h"
#include "report/plural.h"
#include "support/printable.h"

namespace isoscope {
namespace {

using audit::AuditOutcome;
using audit::FoundAnomaly;
using audit::LengthReport;
using audit::Scenario;
using audit::ScenarioCallId;

std::string name_list(const sql::Application& app, const std::vector<sql::FunctionId>& functions,
                      std::string_view separator) {
  std::string out;
  for (const sql::FunctionId f : functions) {
    if (!out.empty()) out += separator;
    out += printable(app.function(f).name);
  }
  return out;
}

// "cc, enroll at psi"
std::string level_text(const audit::Problem& problem) {
  std::string out = problem.levels.base->name;
  for (const sql::FunctionId f : problem.app.function_ids()) {
    const Level& level = problem.levels.of(f);
    if (&level != problem.levels.base)
      out += fmt::format(", {} at {}", printable(problem.app.function(f).name), level.name);
  }
  return out;
}

std::string serial_text(const audit::Problem& problem) {
  std::string out;
  for (const auto& [f, g] : problem.serial)
    out += fmt::format("{}{} and {}", out.empty() ? "serial: " : ", ",
                       printable(problem.app.function(f).name),
                       printable(problem.app.function(g).name));
  return out.empty() ? "" : out + "\n";
}

std::string lengths_words(const audit::AuditOptions& options) {
  return options.max_length == 2 ? "2 calls" : fmt::format("2 to {} calls", options.max_length);
}

std::string small_verdict(const AuditReport& report, const Paint& paint) {
  const auto& anomalies = report.small_runs->anomalies;
  if (anomalies.size() > 1)
    return fmt::format("{}: {} sets of calls end as no serial order of them does",
                       paint.bad("anomaly"), anomalies.size());
  return fmt::format("{}: {} end as no serial order of them does", paint.bad("anomaly"),
                     small_headline(report, anomalies.front()));
}

std::string verdict_text(const AuditReport& report, const Paint& paint) {
  const audit::AuditReport& answer = report.answer;
  const std::vector<FoundAnomaly>& anomalies = answer.search.anomalies;
  switch (answer.outcome) {
    case AuditOutcome::Anomaly:
      if (report.small_runs && !report.small_runs->anomalies.empty())
        return small_verdict(report, paint);
      if (anomalies.empty()) return paint.bad("anomaly") + ": a claim about rows is broken";
      if (anomalies.size() == 1)
        return paint.bad("anomaly") + ": " + headline(report.problem.app, anomalies.front());
      return fmt::format("{}: {} different ones of {}", paint.bad("anomaly"), anomalies.size(),
                         lengths_words(report.options));
    case AuditOutcome::None:
      return paint.good("none") + ": no anomaly of " + lengths_words(report.options);
    case AuditOutcome::Serializable:
      return paint.good("serializable") + ": every execution, however long";
    case AuditOutcome::Unknown: break;
  }
  return paint.unsure("unknown") + (answer.limit.empty() ? "" : ": " + printable(answer.limit));
}

using Asked = std::set<std::pair<sql::TableId, sql::ColumnId>>;

// The columns of sources that the condition names.
void ask(const std::optional<sql::Expr>& where, const ById<sql::SourceId, sql::TableId>& sources,
         Asked& asked) {
  const std::function<void(const sql::Expr&)> visit = [&](const sql::Expr& expr) {
    if (expr.op == sql::ExprOp::Column && sources.contains(expr.source))
      asked.insert({sources[expr.source], expr.column});
    for (const sql::Expr& arg : expr.args) visit(arg);
  };
  if (where) visit(*where);
}
void ask(std::span<const sql::Statement> body, Asked& asked) {
  for (const sql::Statement& s : body) {
    if (s.is_query()) ask(s.query()->where, s.query()->sources, asked);
    const auto of_target = [&](const sql::SearchedWrite& write) {
      ask(write.where, {write.table}, asked);
    };
    if (const auto* update = s.find<sql::Update>()) of_target(*update);
    if (const auto* remove = s.find<sql::Delete>()) of_target(*remove);
    for (const auto inner : {s.body(), s.otherwise(), s.handler()}) ask(inner, asked);
  }
}

// Columns that no call reads or writes, or looks for, only distract, unless they name the row.
// Where nothing of the table is read or written, nothing of it ever changes, which is no access but
// may well matter.
std::string row_text(const sql::Application& app, const FoundAnomaly& anomaly,
                     const sql::InitialRow& row) {
  std::set<audit::Attribute> used;
  for (const audit::CallTrace& trace : anomaly.replay.traces) {
    for (const auto* values : {&trace.reads, &trace.writes}) {
      for (const auto& [location, value] : *values) {
        if (location.table == row.table) used.insert(location.attribute);
      }
    }
  }
  Asked asked;  // reads of what never changes are no accesses
  for (const audit::ScenarioCall& call : anomaly.scenario.calls)
    ask(app.function(call.function).body, asked);
  const sql::Table& table = app.table(row.table);
  std::string columns;
  bool left_out = false;
  for (const sql::ColumnId c : row.values.ids()) {
    if (!used.empty() && !table.is_key_column(c) && !used.contains(audit::Attribute(c)) &&
        !asked.contains({row.table, c})) {
      left_out = true;
      continue;
    }
    columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", printable(table.columns[c].name),
                           printable(sql::print(row.values[c])));
  }
  return fmt::format("  {} ({}{})\n", printable(table.name), columns, left_out ? ", …" : "");
}

std::string call_text(const sql::Application& app, const audit::ScenarioCall& call) {
  return printable(audit::print(app, call));
}

std::string sight_text(const Scenario& scenario, ScenarioCallId call) {
  std::string seen;
  std::string unseen;
  for (ScenarioCallId other; other < call; ++other) {
    std::string& list = scenario.sees[call][other] ? seen : unseen;
    list += (list.empty() ? "" : ", ") + call_name(other);
  }
  if (unseen.empty()) return seen.empty() ? "" : "sees " + seen;
  return seen.empty() ? "does not see " + unseen : fmt::format("sees {}, not {}", seen, unseen);
}

std::string result_text(const std::vector<sql::Value>& returned) {
  std::string out;
  for (const sql::Value& value : returned)
    out += (out.empty() ? "" : ", ") + printable(sql::print(value));
  return out.empty() ? "" : "returns " + out;
}

std::string calls_text(const sql::Application& app, const FoundAnomaly& anomaly,
                       const Paint& paint) {
  const Scenario& scenario = anomaly.scenario;
  std::size_t width = 0;
  for (const audit::ScenarioCall& call : scenario.calls)
    width = std::max(width, call_text(app, call).size());
  std::string out;
  for (const ScenarioCallId i : scenario.calls.ids()) {
    const bool has_one_view = !anomaly.replay.traces[i].is_per_statement;
    std::string remarks = scenario.prepares(i) ? "prepares"
                          : has_one_view       ? sight_text(scenario, i)
                                               : "";
    const std::string result = result_text(anomaly.replay.traces[i].result.returned);
    if (!remarks.empty() && !result.empty()) remarks += "; ";
    remarks += result;
    std::string line = fmt::format("  {}  {:<{}}", call_name(i), call_text(app, scenario.calls[i]),
                                   remarks.empty() ? 0 : width);
    if (!remarks.empty()) line += "  " + (scenario.prepares(i) ? paint.faint(remarks) : remarks);
    out += line + "\n";
  }
  return out;
}

// The lines of the two statements of an edge.
std::string lines_text(const audit::ReplayEdge& edge) {
  const std::uint32_t from = edge.from_place.line;
  const std::uint32_t to = edge.to_place.line;
  if (from == 0 || to == 0) return "";
  return from == to ? fmt::format(" (line {})", from) : fmt::format(" (lines {} and {})", from, to);
}

// Statement by statement, where it matters when each begins.
std::string schedule_text(const FoundAnomaly& anomaly, const Paint& paint) {
  const audit::Replay& replay = anomaly.replay;
  std::string out = "statements and commits, in this order\n";
  for (const audit::ScheduleStep& step : replay.schedule) {
    if (anomaly.scenario.prepares(step.call)) continue;
    out += fmt::format("  {}  ", call_name(step.call));
    if (!step.moment) {
      out += step.is_snapshot ? "takes its snapshot\n" : "commits\n";
      continue;
    }
    const audit::TracedMoment& moment = replay.traces[step.call].moments[*step.moment];
    out += fmt::format("line {}: {}", moment.place.line, printable(moment.text));
    if (step.waits_for)
      out += paint.faint(fmt::format("  waits for {}", call_name(*step.waits_for)));
    out += "\n";
  }
  return out;
}

// The calls stand above: where they are long, their names are enough here.
std::string cycle_text(const sql::Application& app, const FoundAnomaly& anomaly,
                       const Paint& paint) {
  constexpr std::size_t kLong = 24;
  const bool has_long_calls =
      std::ranges::any_of(anomaly.replay.cycle, [&](const audit::ReplayEdge& edge) {
        return call_text(app, anomaly.scenario.calls[edge.from]).size() > kLong;
      });
  const auto call = [&](ScenarioCallId i) {
    const audit::ScenarioCall& what = anomaly.scenario.calls[i];
    return fmt::format(
        "{} {}", call_name(i),
        has_long_calls ? printable(app.function(what.function).name) : call_text(app, what));
  };
  std::string out;
  for (const audit::ReplayEdge& edge : anomaly.replay.cycle) {
    out += fmt::format("  {} --{}--> {}  {}\n", call(edge.from),
                       paint.strong(name_of(edge_of(edge.kind))), call(edge.to),
                       paint.faint(printable(audit::print(app, edge.at)) + ": " +
                                   edge_story(anomaly, edge) + lines_text(edge)));
  }
  return out;
}

std::string anomaly_text(const sql::Application& app, const FoundAnomaly& found,
                         const Paint& paint) {
  const FoundAnomaly anomaly = in_arbitration_order(found);
  std::string out =
      fmt::format("{}: {}\n", audit::name_of(anomaly.replay.label), printable(anomaly.replay.why));
  if (!anomaly.scenario.rows.empty()) out += "rows at the start\n";
  for (const sql::InitialRow& row : anomaly.scenario.rows) out += row_text(app, anomaly, row);
  if (anomaly.replay.schedule.empty()) {
    out += "calls, in the order of arbitration\n" + calls_text(app, anomaly, paint);
  } else {
    out += "calls, in the order of their commits\n" + calls_text(app, anomaly, paint);
    out += schedule_text(anomaly, paint);
  }
  return out + "cycle\n" + cycle_text(app, anomaly, paint);
}

// What became of the cycles of one length, honestly: having found no run is no proof.
std::string length_text(const LengthReport& length) {
  std::string out = fmt::format("  {} calls: ", length.length);
  if (length.cycles == 0)
    return out + (length.is_cut ? "not looked at\n" : "no cycle of functions\n");
  if (length.is_cut) out += "the first ";
  out += plural(length.cycles, "cycle of functions", "cycles of functions");
  if (length.impossible == length.cycles && !length.is_cut)
    return out + ", in no execution at all\n";
  if (length.impossible > 0) out += fmt::format(", {} in no execution at all", length.impossible);
  if (length.found > 0) out += fmt::format(", {} with an anomaly", length.found);
  if (length.unrealized > 0)
    out += fmt::format(", {} not ruled out but without a run that shows it", length.unrealized);
  if (length.unknown > 0) out += fmt::format(", {} undecided", length.unknown);
  if (length.is_cut) out += ", the others not looked at";
  return out + "\n";
}

std::string search_text(const AuditReport& report) {
  const audit::SearchReport& search = report.answer.search;
  if (search.lengths.empty()) return "";
  // After the first anomaly the search ends: then the counts say nothing.
  if (report.answer.outcome == AuditOutcome::Anomaly && !report.options.all) return "";
  std::string out;
  for (const LengthReport& length : search.lengths) out += length_text(length);
  if (report.answer.outcome == AuditOutcome::None)
    out += search.is_proof()
               ? "no execution at all has such a cycle, however many other calls run\n"
               : "this is no proof: longer runs may have what these do not\n";
  if (report.answer.outcome == AuditOutcome::Anomaly && !report.answer.limit.empty())
    out += fmt::format("there may be further anomalies: {}\n", report.answer.limit);
  return out;
}

std::string proof_text(const AuditReport& report, const Paint& paint) {
  const sql::Application& app = report.problem.app;
  const audit::Proof& proof = *report.answer.proof;
  std::string out;
  if (!proof.steps.empty())
    out += fmt::format("{}: {}\n",
                       !proof.holds ? "proved so far"
                       : report.answer.outcome == AuditOutcome::Serializable
                           ? paint.good("proved")
                           : "proved of the model alone",
                       printable(audit::describe(app, proof)));
  if (!proof.holds) {
    out += fmt::format("{}: {}\n", paint.unsure("no proof"),
                       proof.obstacle.empty() ? "for " + name_list(app, proof.left, ", ")
                                              : printable(proof.obstacle));
    if (!proof.chordless.empty())
      out += fmt::format("  a path without a chord: {}\n", name_list(app, proof.chordless, " -> "));
  }
  return out;
}

// A level for each function, one a line.
std::string levels_text(const sql::Application& app,
                        const ById<sql::FunctionId, const Level*>& levels) {
  std::string out;
  std::size_t width = 0;
  for (const sql::Function& function : app.functions)
    width = std::max(width, printable(function.name).size());
  for (const sql::FunctionId f : levels.ids())
    out += fmt::format("  {:<{}}  {}\n", printable(app.function(f).name), width, levels[f]->name);
  return out;
}

// Why no level and no set of functions could be proved, where nothing can.
std::string why_no_proof(const AuditReport& report) {
  const std::string what = audit::left_out(report.problem);
  return what.empty() ? ""
                      : fmt::format(", as the model leaves something out ({})", printable(what));
}

std::string subsets_text(const AuditReport& report, const audit::Subsets& subsets,
                         std::string_view how, const Paint& paint) {
  const sql::Application& app = report.problem.app;
  std::string out = fmt::format("\n{} at {}{}\n", paint.good("serializable together"),
                                level_text(report.problem), how);
  for (const auto& set : subsets.together) out += "  " + name_list(app, set, ", ") + "\n";
  if (subsets.together.empty()) out += "  no set of functions\n";
  for (const bool is_known : {true, false}) {
    std::string sets;
    for (const audit::Subsets::Bad& bad : subsets.apart) {
      if ((bad.outcome == AuditOutcome::Anomaly) == is_known)
        sets += "  " + name_list(app, bad.functions, ", ") + "\n";
    }
    if (sets.empty()) continue;
    out += (is_known ? "not together, as there is an anomaly\n"
                     : "undecided: no proof that they are together, and no anomaly\n") +
           sets;
  }
  if (subsets.lowest.empty()) {
    out += subsets.is_complete
               ? "lowest levels: no proof even at the strongest" + why_no_proof(report) + "\n"
               : "lowest levels: not known\n";
  } else {
    out += fmt::format("lowest levels{}\n", how) + levels_text(app, subsets.lowest);
  }
  if (!subsets.is_complete)
    out += paint.unsure(fmt::format("{} before all sets were tried\n", subsets.limit));
  return out;
}

// Statements of a repair as they stand in a function, one a line.
std::vector<std::string> lines_of(const std::string& statements) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < statements.size();) {
    const std::size_t end = std::min(statements.find('\n', from), statements.size());
    const std::string line = printable(statements.substr(from, end - from));
    const bool is_whole = line.ends_with(" THEN") || line.starts_with("-- ");
    lines.push_back(is_whole ? line : line + ";");
    from = end + 1;
  }
  return lines;
}

std::string repair_text(const AuditReport& report, const audit::Repair& repair,
                        std::string_view where, const Paint& paint) {
  const std::string place = repair.place.line == 0
                                ? printable(report.source)
                                : fmt::format("{}:{}:{}", printable(report.source),
                                              repair.place.line, repair.place.column);
  const std::string then = paint.faint(
      fmt::format("({}{})",
                  repair.is_proved ? "then proved serializable"
                                   : "then no anomaly of " + lengths_words(report.options),
                  where));
  std::string out =
      fmt::format("  {}: {}{}\n", place,
                  repair.function.empty() ? "" : "in " + printable(repair.function) + "  ", then);
  for (const std::string& line : lines_of(repair.before)) out += paint.bad("    - " + line) + "\n";
  for (const std::string& line : lines_of(repair.what)) out += paint.good("    + " + line) + "\n";
  return out;
}

std::string advice_text(const AuditReport& report, const Paint& paint) {
  const sql::Application& app = report.problem.app;
  const audit::Advice& advice = *report.advice;
  std::string out = "\n";
  if (advice.levels.empty()) {
    out += fmt::format("{}: {}\n", paint.unsure("levels"),
                       advice.has_all_levels
                           ? "no proof even at the strongest of these levels" + why_no_proof(report)
                           : "not known: " + advice.limit);
  } else {
    out += fmt::format("{} that keep every execution serializable{}\n", paint.good("levels"),
                       advice.has_all_levels ? "" : "; weaker ones might, too");
    out += levels_text(app, advice.levels);
  }
  if (!advice.repairs.empty())
    out += fmt::format("{} that make {} enough, each alone\n", paint.good("repairs"),
                       level_text(report.problem));
  for (const audit::Repair& repair : advice.repairs) out += repair_text(report, repair, "", paint);
  if (!advice.unsure.empty())
    out += fmt::format("{} that make {} enough in the model, each alone; it leaves something out\n",
                       paint.unsure("repairs"), level_text(report.problem));
  for (const audit::Repair& repair : advice.unsure)
    out += repair_text(report, repair, " in the model", paint);
  const std::size_t decided = advice.repairs_tried - advice.repairs_undecided;
  if (advice.repairs.empty() && advice.unsure.empty() && decided > 0)
    out += fmt::format("repairs: none of {} helps alone\n", plural(decided, "change", "changes"));
  const std::size_t undecided = advice.repairs_undecided - advice.unsure.size();
  if (undecided > 0)
    out += fmt::format("repairs: {} undecided\n", plural(undecided, "change is", "changes are"));
  if (!advice.is_complete)
    out += paint.unsure(fmt::format("{} before all advice was tried\n", advice.limit));
  return out;
}

}  // namespace

std::string audit_text(const AuditReport& report, const Paint& paint) {
  const audit::AuditReport& answer = report.answer;
  const sql::Application& app = report.problem.app;
  std::string out = fmt::format("{} at {}: {}\n", paint.strong(printable(report.source)),
                                level_text(report.problem), verdict_text(report, paint));
  out += serial_text(report.problem);
  if (answer.proof) out += proof_text(report, paint);
  if (answer.outcome != AuditOutcome::Anomaly) {
    for (const std::string& fact : answer.counters)
      out += fmt::format("  inferred: {}\n", printable(fact));
  }
  out += report.small_runs ? small_runs_text(report, paint) : search_text(report);
  const bool has_many = answer.search.anomalies.size() > 1;
  for (std::size_t i = 0; i < answer.search.anomalies.size(); ++i) {
    const FoundAnomaly& anomaly = answer.search.anomalies[i];
    if (has_many)
      out += fmt::format("\n{} {}: {}\n", paint.strong("anomaly"), i + 1, headline(app, anomaly));
    out += anomaly_text(app, anomaly, paint);
  }
  if (!report.claim_texts.empty()) out += claims_text(report, paint);
  if (report.advice) out += advice_text(report, paint);
  if (report.subsets) out += subsets_text(report, *report.subsets, "", paint);
  if (report.promoted)
    out += subsets_text(report, *report.promoted, ", with reads FOR UPDATE", paint);
  return out;
}

}  // namespace isoscope
