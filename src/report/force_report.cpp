#include "report/force_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/force_parts.h"
#include "report/json.h"
#include "report/plural.h"
#include "support/printable.h"
#include "support/shorten.h"

namespace isoscope {

std::string steps_text(const force::Spec& spec, const force::Permutation& permutation) {
  std::vector<std::string> names;
  for (const auto& p : permutation)
    names.push_back(printable(spec.sessions[p.session].steps[p.step].name));
  return fmt::format("{}", fmt::join(names, " "));
}

std::string prevented_by(const force::Forced& forced) {
  return prevented_by(forced.sqlstates, forced.waits, forced.rechecked);
}

std::string shown_answer(const force::Answer& answer) {
  if (answer.has_failed())
    return fmt::format("{} {}: {}", answer.severity, answer.error, printable(answer.message));
  if (answer.tag == "gate") return "stops before its next statement";
  if (!answer.tables.empty()) return shown_rows(answer.tables.back());
  return printable(answer.tag);
}

std::string serial_name(const force::Spec& spec, const force::SerialRun& serial) {
  std::vector<std::string> names;
  for (const force::Unit& unit : serial.order) names.push_back(spec.sessions[unit.session].name);
  return fmt::format("{}", fmt::join(names, ", then "));
}

// What the run left and answered that this serial order does not.
std::string serial_difference(const force::Spec& spec, const force::Run& run,
                              const force::SerialRun& serial) {
  std::vector<std::string> parts;
  ById<force::ActorId, force::StatementId> next(run.answers.size());  // of the serial run
  for (const force::Unit& unit : serial.order) {
    const force::ActorId s = unit.session;
    for (const force::StatementId i : unit.statements()) {
      const force::Answers& others = serial.run.answers[s];
      if (!others.contains(next[s])) break;
      const std::string mine = shown_answer(run.answers[s][i]);
      const std::string theirs = shown_answer(others[next[s]]);
      ++next[s];
      const force::SpecStep* step = step_of(spec.sessions[s], i);
      if (mine != theirs && step != nullptr)
        parts.push_back(fmt::format("{} answers {}", step->name, theirs));
    }
  }
  for (const auto& [name, table] : serial.run.tables) {
    const auto mine = run.tables.find(name);
    if (mine == run.tables.end() || mine->second != table)
      parts.push_back(fmt::format("{} holds {}", name, shown_rows(table)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

namespace {

constexpr std::size_t kLongestCell = 100;

// The moments of the run, one statement a line, in the order in which they answered.
std::string played_text(const force::Spec& spec, const force::Run& run) {
  std::size_t width = 0;
  for (const auto& session : spec.sessions) width = std::max(width, session.name.size());
  std::string out;
  for (const force::Moment& m : run.played.moments) {
    const auto& session = spec.sessions[m.actor];
    const force::SpecStep* step = step_of(session, m.statement);
    if (step == nullptr) continue;
    const std::string sql = printable(shortened(step->sql, kLongestCell));
    if (m.kind == force::Moment::Kind::Parked) {
      std::vector<std::string> holders;
      for (const force::ActorId h : m.holders) holders.push_back(spec.sessions[h].name);
      out += fmt::format("  {:{}}  {}  waits for {}\n", session.name, width, sql,
                         fmt::join(holders, ", "));
    } else if (m.kind == force::Moment::Kind::Answered) {
      out += fmt::format("  {:{}}  {}  -> {}\n", session.name, width, sql,
                         shown_answer(run.answers[m.actor][m.statement]));
    }
  }
  return out;
}

std::string shown_reproduction(const force::Spec& spec, const force::Forced& forced) {
  std::string out = "\nwhat happened\n" + played_text(spec, forced.run);
  for (const auto& [name, table] : forced.run.tables)
    out += fmt::format("  in the end {} holds {}\n", name, shown_rows(table));
  out += recorded_text(forced.run.recorded);
  if (forced.judgement.serial == nullptr) return out;
  switch (forced.judgement.kind) {
    case force::Judgement::Kind::Serializable:
      out += "a serial order gives the same rows and answers\n";
      break;
    case force::Judgement::Kind::Unserializable: out += "no serial order gives that\n"; break;
    case force::Judgement::Kind::Unknown:
      out += fmt::format("whether a serial order gives that is not known: {}\n",
                         printable(forced.judgement.why));
      break;
  }
  for (const force::SerialRun& serial : *forced.judgement.serial)
    out += fmt::format("  {}: {}\n", serial_name(spec, serial),
                       serial_difference(spec, forced.run, serial));
  return out;
}

std::size_t count_of(const force::ForceAnswer& answer, force::ForceVerdict verdict) {
  return static_cast<std::size_t>(
      std::ranges::count(answer.forced, verdict, &force::Forced::verdict));
}

}  // namespace

std::string force_text(const ForceReport& report, const Paint& paint) {
  const force::ForceAnswer& answer = report.answer;
  std::string out = fmt::format("{}: {}", report.source, painted(answer.verdict, paint));
  if (answer.forced.size() != 1)
    out += fmt::format(" in {} of {}", count_of(answer, answer.verdict),
                       plural(answer.forced.size(), "order of steps", "orders of steps"));
  out += '\n';
  if (!answer.limit.empty()) out += fmt::format("  {}\n", answer.limit);
  const force::Forced* shown = nullptr;
  for (const force::Forced& forced : answer.forced) {
    out += fmt::format("  {}  {}", steps_text(report.spec, forced.permutation),
                       painted(forced.verdict, paint));
    if (forced.runs > 1 && forced.verdict == force::ForceVerdict::Prevented)
      out += fmt::format(" ({} of {} runs)", forced.prevented, forced.runs);
    if (forced.runs > 1 && forced.verdict != force::ForceVerdict::Prevented)
      out += fmt::format(" ({} of {} runs reproduce it)", forced.reproduced, forced.runs);
    if (forced.verdict == force::ForceVerdict::Prevented) out += ": " + prevented_by(forced);
    if (!forced.why.empty()) out += ": " + forced.why;
    out += '\n';
    if (shown == nullptr && forced.verdict == force::ForceVerdict::Reproduced) shown = &forced;
  }
  if (shown != nullptr) out += shown_reproduction(report.spec, *shown);
  return out;
}

std::string force_json(const ForceReport& report) {
  Json json = json_header(force_header(report.answer.verdict, report.answer.limit, report.seconds));
  std::size_t runs = 0;
  Json orders = Json::array();
  for (const force::Forced& forced : report.answer.forced) {
    runs += forced.runs;
    Json schedule = Json::array();
    for (const auto& p : forced.permutation)
      schedule.push_back({report.spec.sessions[p.session].name,
                          report.spec.sessions[p.session].steps[p.step].name});
    Json one = {{"schedule", schedule},          {"verdict", force::name_of(forced.verdict)},
                {"runs", forced.runs},           {"reproduced", forced.reproduced},
                {"prevented", forced.prevented}, {"sqlstates", forced.sqlstates},
                {"lock_waits", forced.waits},    {"rechecked", forced.rechecked}};
    if (!forced.why.empty()) one["why"] = forced.why;
    if (forced.judgement.serial != nullptr) one["serial_orders"] = forced.judgement.serial->size();
    one["judge"] = forced.is_judged_by_history ? "history" : "serial orders";
    add_recorded(one, forced.run.recorded);
    one["tables"] = tables_json(forced.run.tables);
    orders.push_back(std::move(one));
  }
  json["runs"] = runs;
  json["orders"] = std::move(orders);
  return dump(json);
}

}  // namespace isoscope
