#include "report/races_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/formats.h"
#include "report/explain.h"
#include "report/header.h"
#include "report/json.h"
#include "report/plural.h"
#include "report/races_words.h"
#include "support/printable.h"
#include "support/shorten.h"

namespace isoscope {
namespace {

using races::ChangedVersion;
using races::Dependency;
using races::Race;
using races::RaceAnswer;
using races::Run;
using races::RunTxn;
using races::SafePair;
using races::Statement;
using races::Step;
using races::Txn;

constexpr std::size_t kLongestSql = 160;

std::string what_of(const std::string& key) {
  const std::string column = column_of_key(key);
  if (!column.empty()) return table_of_key(key) + "." + column;
  const std::size_t brace = key.find('{');
  if (brace == std::string::npos) return "rows of " + table_of_key(key);
  return fmt::format("rows of {} {}", table_of_key(key),
                     key.substr(brace + 1, key.size() - brace - 2));
}

std::string step_text(const Run& run, const Step& step) {
  const Txn& txn = run.txns[step.txn];
  return step.statement == txn.statements.size()
             ? fmt::format("{} commits", txn.name)
             : fmt::format("{}.{}", txn.name, step.statement + 1);
}

std::string anomaly_of_race(const Race& race) {
  return std::string(common_name(race.unserializable.verdict.violation->anomaly));
}

// The statements of a transaction; those of the race have a mark.
std::string txn_text(const Run& run, RunTxn t, const Race& race, const Paint& paint) {
  const Txn& txn = run.txns[t];
  std::string out =
      fmt::format("  {} of {}, {}\n", txn.name, printable(txn.session), txn.isolation);
  for (std::size_t i = 0; i < txn.statements.size(); ++i) {
    const Statement& statement = txn.statements[i];
    bool is_involved = false;
    for (const Dependency* edge : {&race.interleaving.forth, &race.interleaving.back}) {
      is_involved |= edge->from == t && edge->from_statement == i;
      is_involved |= edge->to == t && edge->to_statement == i;
    }
    const std::string sql = printable(shortened(statement.shape, kLongestSql));
    out += fmt::format("  {} {}. {}\n", is_involved ? "*" : " ", i + 1,
                       is_involved ? paint.strong(sql) : sql);
    if (!statement.place.empty())
      out += fmt::format("       {}\n", paint.faint(printable(statement.place)));
  }
  return out;
}

std::string race_text(const Run& run, const Race& race, std::size_t number, const Paint& paint) {
  const auto& forth = race.interleaving.forth;
  const auto& back = race.interleaving.back;
  std::string out = fmt::format("\nrace {}: {} on {}\n", number, paint.bad(anomaly_of_race(race)),
                                printable(race_objects(run, race)));
  if (race.pairs > 1)
    out += fmt::format("  {} pairs of transactions show it; this one is\n", race.pairs);
  out += txn_text(run, race.first, race, paint) + txn_text(run, race.second, race, paint);
  out += "  schedule:";
  for (const Step& step : race.interleaving.steps) out += "  " + step_text(run, step);
  out += "\n";
  for (const ChangedVersion& changed : race.interleaving.changed)
    out += fmt::format("  {}.{} reads {} from {} instead of {}\n", run.txns[changed.txn].name,
                       changed.statement + 1, printable(run.keys[changed.key].name),
                       run.txns[changed.predicted].name, run.txns[changed.observed].name);
  for (const Dependency* edge : {&forth, &back})
    out += fmt::format("  {} --{}--> {}  {}\n", run.txns[edge->from].name,
                       name_of(edge_of(edge->kind)), run.txns[edge->to].name,
                       paint.faint(printable(why_of_race_edge(run, *edge))));
  for (const std::string& assumed : race.assumes)
    out += fmt::format("  assumes: {}\n", printable(assumed));
  return out;
}

std::string safe_text(const Run& run, const SafePair& safe, const Paint& paint) {
  const std::string label = safe.is_decided ? paint.good("safe") : paint.unsure("undecided");
  std::string out = fmt::format("\n{}: {} and {}\n", label, run.txns[safe.first].name,
                                run.txns[safe.second].name);
  out += fmt::format("  {}\n", race_shapes(run, safe.first));
  if (run.txns[safe.first].shape != run.txns[safe.second].shape)
    out += fmt::format("  {}\n", race_shapes(run, safe.second));
  for (const std::string& why : safe.why)
    out += fmt::format("  {}\n", paint.faint(printable(shortened(why, kLongestSql))));
  return out;
}

Json statements_json(const Run& run, RunTxn t) {
  Json list = Json::array();
  for (const Statement& statement : run.txns[t].statements) {
    list.push_back({{"sql", statement.sql}, {"shape", statement.shape}});
    if (!statement.place.empty()) list.back()["place"] = statement.place;
  }
  return list;
}

Json txn_json(const RacesReport& report, RunTxn t) {
  const Txn& txn = report.run.txns[t];
  return {{"txn", txn.name},
          {"session", race_session(report, t)},
          {"isolation", txn.isolation},
          {"statements", statements_json(report.run, t)}};
}

// The schedule, as `force` takes it.
Json plan_json(const RacesReport& report, const Race& race) {
  Json steps = Json::array();
  for (const Step& step : race.interleaving.steps) {
    const bool commits = step.statement == report.run.txns[step.txn].statements.size();
    steps.push_back(
        {race_session(report, step.txn), commits ? Json("commit") : Json(step.statement + 1)});
  }
  Json statements = Json::object();
  for (const RunTxn t : {race.first, race.second}) {
    Json shapes = Json::array();
    for (const Statement& statement : report.run.txns[t].statements)
      shapes.push_back(statement.shape);
    statements[race_session(report, t)] = std::move(shapes);
  }
  return {{"format", "isoscope-plan/1"},
          {"level", report.level},
          {"anomaly", anomaly_of_race(race)},
          {"sessions", {race_session(report, race.first), race_session(report, race.second)}},
          {"steps", std::move(steps)},
          {"statements", std::move(statements)}};
}

Json race_json(const RacesReport& report, const Race& race) {
  const Run& run = report.run;
  Json changed = Json::array();
  for (const ChangedVersion& c : race.interleaving.changed)
    changed.push_back({{"session", race_session(report, c.txn)},
                       {"txn", run.txns[c.txn].name},
                       {"statement", c.statement + 1},
                       {"key", run.keys[c.key].name},
                       {"observed", run.txns[c.observed].name},
                       {"predicted", run.txns[c.predicted].name}});
  Json cycle = Json::array();
  for (const Dependency* edge : {&race.interleaving.forth, &race.interleaving.back}) {
    const std::string& key = run.keys[edge->key].name;
    cycle.push_back({{"from", run.txns[edge->from].name},
                     {"to", run.txns[edge->to].name},
                     {"edge", name_of(edge_of(edge->kind))},
                     {"key", key},
                     {"table", table_of_key(key)},
                     {"column", column_of_key(key).empty() ? Json() : Json(column_of_key(key))},
                     {"from_statement", edge->from_statement + 1},
                     {"to_statement", edge->to_statement + 1},
                     {"why", why_of_race_edge(run, *edge)}});
  }
  std::string text;
  const auto written =
      write_history(race.history, Format::Jsonl, [&](std::string_view piece) { text += piece; });
  return {{"changed", std::move(changed)},
          {"cycle", std::move(cycle)},
          {"anomaly", anomaly_of_race(race)},
          {"explanation", explanation(race.history, *race.unserializable.verdict.violation)},
          {"transactions", {txn_json(report, race.first), txn_json(report, race.second)}},
          {"pairs", race.pairs},
          {"plan", plan_json(report, race)},
          {"assumes", race.assumes},
          {"history", written.ok() ? Json(text) : Json()}};
}

}  // namespace

std::string table_of_key(const std::string& key) { return key.substr(0, key.find('[')); }
std::string column_of_key(const std::string& key) {
  const std::size_t bracket = key.rfind("].", key.find('{'));
  return bracket == std::string::npos ? std::string() : key.substr(bracket + 2);
}

EdgeKind edge_of(Dependency::Kind kind) {
  switch (kind) {
    case Dependency::Kind::Wr: return EdgeKind::Wr;
    case Dependency::Kind::Ww: return EdgeKind::Ww;
    case Dependency::Kind::Rw: return EdgeKind::Rw;
  }
  return EdgeKind::Rw;
}

std::string race_objects(const Run& run, const Race& race) {
  std::string what = what_of(run.keys[race.interleaving.forth.key].name);
  if (const std::string other = what_of(run.keys[race.interleaving.back.key].name); other != what)
    what += " and " + other;
  return what;
}

std::string why_of_race_edge(const Run& run, const Dependency& edge) {
  const std::string& from = run.txns[edge.from].name;
  const std::string& to = run.txns[edge.to].name;
  const std::string& key = run.keys[edge.key].name;
  switch (edge.kind) {
    case Dependency::Kind::Wr: return fmt::format("{} reads {} as {} wrote it", to, key, from);
    case Dependency::Kind::Ww: return fmt::format("{} overwrites {} of {}", to, key, from);
    case Dependency::Kind::Rw:
      return fmt::format("{} reads {} before {} overwrites it", from, key, to);
  }
  return {};
}

std::string race_shapes(const Run& run, RunTxn t) {
  std::string out;
  for (const Statement& statement : run.txns[t].statements) {
    if (statement.reads.empty() && statement.writes.empty() && statement.locks.empty()) continue;
    out += (out.empty() ? "" : "; ") + statement.shape;
  }
  return printable(shortened(out, kLongestSql));
}

std::string race_session(const RacesReport& report, RunTxn t) {
  const Txn& txn = report.run.txns[t];
  if (report.options.sessions_are_connections) return txn.session;
  std::size_t number = 1;
  for (RunTxn u{1}; u < t; ++u) number += report.run.txns[u].session == txn.session ? 1 : 0;
  return number == 1 ? txn.session : fmt::format("{}.{}", txn.session, number);
}

std::string races_text(const RacesReport& report, const Paint& paint) {
  const RaceAnswer& answer = report.answer;
  std::string out =
      fmt::format("{} at {}, {}: ", paint.strong(printable(report.source)), report.level,
                  report.options.sessions_are_connections ? "a client per connection"
                                                          : "a client per transaction");
  if (!answer.races.empty()) {
    out += paint.bad(plural(answer.races.size(), "race", "races"));
  } else if (answer.limit.empty()) {
    out += paint.good("no race of two recorded transactions, begun where the run had them");
  } else {
    out += paint.unsure("unknown: no race was found, but " + answer.limit);
  }
  out += "\n" +
         paint.faint(fmt::format(
             "{} of {}, {} tried in {}", plural(answer.transactions, "transaction", "transactions"),
             plural(answer.shapes, "shape", "shapes"), plural(answer.pairs, "pair", "pairs"),
             plural(answer.interleavings, "interleaving", "interleavings"))) +
         "\n";
  for (std::size_t i = 0; i < answer.races.size(); ++i)
    out += race_text(report.run, answer.races[i], i + 1, paint);
  for (const SafePair& safe : answer.safe) out += safe_text(report.run, safe, paint);
  if (!answer.races.empty() && !answer.limit.empty())
    out += fmt::format("\nthere may be more: {}\n", answer.limit);
  return out;
}

Json race_plan(const RacesReport& report, const races::Race& race) {
  return plan_json(report, race);
}

std::string races_json(const RacesReport& report) { return dump(races_object(report)); }

Json races_object(const RacesReport& report) {
  const RaceAnswer& answer = report.answer;
  Json json = json_header(header_of("predict", answer, report.seconds));
  json["level"] = report.level;
  json["sessions"] = report.options.sessions_are_connections ? "connection" : "transaction";
  json["stats"] = {{"transactions", answer.transactions},
                   {"shapes", answer.shapes},
                   {"pairs", answer.pairs},
                   {"pairs_with_gaps", answer.pairs_with_gaps},
                   {"interleavings", answer.interleavings},
                   {"gaps", report.run.gaps}};
  json["complete"] = answer.limit.empty();
  json["predictions"] = Json::array();
  for (const Race& race : answer.races) json["predictions"].push_back(race_json(report, race));
  json["safe"] = Json::array();
  for (const SafePair& safe : answer.safe)
    json["safe"].push_back(
        {{"transactions", {txn_json(report, safe.first), txn_json(report, safe.second)}},
         {"pairs", safe.pairs},
         {"decided", safe.is_decided},
         {"why", safe.why}});
  return json;
}

}  // namespace isoscope
