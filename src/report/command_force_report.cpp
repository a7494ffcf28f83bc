#include "report/command_force_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "report/force_parts.h"
#include "report/plural.h"
#include "report/schedule_scene.h"
#include "support/printable.h"
#include "support/shorten.h"

namespace isoscope {
namespace {

constexpr std::size_t kLongestStatement = 100;

std::string shown_statement(const std::string& sql) {
  std::string line = sql;
  std::ranges::replace(line, '\n', ' ');
  return printable(shortened(line, kLongestStatement));
}

// Calls `use` with each moment in which a request waits or was answered, in their order.
template <typename Use>
void for_each_request(const CommandForceReport& report, const Use& use) {
  const force::CommandRun& run = report.answer.run;
  ById<force::ActorId, force::RequestId> shown(report.sessions.size());  // the next one
  for (const force::Moment& m : run.played.moments) {
    if (m.kind == force::Moment::Kind::Sent || m.kind == force::Moment::Kind::Forfeited) continue;
    if (!run.turns[m.actor].contains(m.statement)) continue;
    const force::RequestId number = run.turns[m.actor][m.statement];
    // The further steps of a request are turns without a message of their own.
    if (number < shown[m.actor]) continue;
    if (m.kind == force::Moment::Kind::Answered) shown[m.actor] = {number.index + 1};
    use(m, run.sent[m.actor][number]);
  }
}

// One request a line.
std::string played_commands(const CommandForceReport& report) {
  std::size_t width = 0;
  for (const std::string& name : report.sessions) width = std::max(width, name.size());
  std::string out;
  for_each_request(report, [&](const force::Moment& m, const force::SentRequest& request) {
    const std::string sql = shown_statement(request.text);
    std::string what = request.error.empty() ? "-> " + printable(request.tag)
                                             : fmt::format("-> ERROR {}", request.error);
    if (m.kind == force::Moment::Kind::Parked) {
      std::vector<std::string> holders;
      for (const force::ActorId h : m.holders) holders.push_back(printable(report.sessions[h]));
      what = fmt::format("waits for {}", fmt::join(holders, ", "));
    }
    out += fmt::format("  {:{}}  {}  {}\n", printable(report.sessions[m.actor]), width, sql, what);
  });
  return out;
}

std::string order_name(const CommandForceReport& report, const std::vector<force::ActorId>& order) {
  std::vector<std::string> names;
  for (const force::ActorId s : order) names.push_back(printable(report.sessions[s]));
  return fmt::format("{}", fmt::join(names, ", then "));
}

// What the serial order gives that the run did not.
std::string serial_text(const CommandForceReport& report, const force::CommandRun& serial) {
  const force::CommandRun& run = report.answer.run;
  std::vector<std::string> parts;
  for (const force::ActorId s : report.sessions.ids()) {
    if (serial.exit_codes[s] != run.exit_codes[s])
      parts.push_back(fmt::format("{} returns {} (here {})", printable(report.sessions[s]),
                                  serial.exit_codes[s], run.exit_codes[s]));
    if (serial.outputs[s] != run.outputs[s])
      parts.push_back(fmt::format("{} prints {}", printable(report.sessions[s]),
                                  shown_statement(serial.outputs[s])));
  }
  for (const auto& [name, table] : serial.tables) {
    const auto mine = run.tables.find(name);
    if (mine == run.tables.end() || mine->second != table)
      parts.push_back(fmt::format("{} holds {}", name, shown_rows(table)));
  }
  return parts.empty() ? "the same" : fmt::format("{}", fmt::join(parts, "; "));
}

// Tables that some serial order leaves otherwise.
std::string changed_tables(const force::CommandForceAnswer& answer) {
  std::string out;
  for (const auto& [name, table] : answer.run.tables) {
    const auto& rows = table;
    const bool differs =
        std::ranges::any_of(answer.serial, [&, key = name](const force::SerialCommands& serial) {
          const auto other = serial.run.tables.find(key);
          return other == serial.run.tables.end() || other->second != rows;
        });
    if (differs) out += fmt::format("  in the end {} holds {}\n", name, shown_rows(table));
  }
  return out;
}

std::string witness_words(const force::CommandForceAnswer& answer) {
  if (!answer.no_witness.empty())
    return fmt::format("serial orders of the commands do not judge it: {}",
                       printable(answer.no_witness));
  switch (answer.witness) {
    case force::Judgement::Kind::Unserializable: return "no serial order of the commands ends so";
    case force::Judgement::Kind::Serializable: return "a serial order of the commands ends so too";
    case force::Judgement::Kind::Unknown: break;
  }
  return "serial orders of the commands do not judge it, since a statement failed";
}

std::string witness_text(const CommandForceReport& report) {
  const force::CommandForceAnswer& answer = report.answer;
  if (answer.serial.empty()) return {};
  if (!answer.no_witness.empty()) return witness_words(answer) + '\n';
  std::string out = changed_tables(answer) + witness_words(answer) + '\n';
  for (const force::SerialCommands& serial : answer.serial)
    out += fmt::format("  {}: {}\n", order_name(report, serial.order),
                       serial_text(report, serial.run));
  return out;
}

Json departure_json(const CommandForceReport& report) {
  const auto& departure = report.answer.run.departure;
  if (!departure) return nullptr;
  return {{"session", report.sessions[departure->session]},
          {"step", departure->step},
          {"planned", departure->planned},
          {"happened", departure->happened}};
}

Json schedule_json(const CommandForceReport& report) {
  const force::CommandRun& run = report.answer.run;
  Json schedule = Json::array();
  ById<force::ActorId, force::RequestId> shown(report.sessions.size());  // the next one
  for (const force::Moment& m : run.played.moments) {
    if (m.kind != force::Moment::Kind::Sent || !run.turns[m.actor].contains(m.statement)) continue;
    const force::RequestId number = run.turns[m.actor][m.statement];
    if (number < shown[m.actor]) continue;
    shown[m.actor] = {number.index + 1};
    const force::SentRequest& request = run.sent[m.actor][number];
    Json step = {{"session", report.sessions[m.actor]},
                 {"sql", request.text},
                 {"answer", request.tag},
                 {"waited", request.has_waited}};
    if (!request.error.empty()) step["sqlstate"] = request.error;
    schedule.push_back(std::move(step));
  }
  return schedule;
}

}  // namespace

std::string command_force_text(const CommandForceReport& report, const Paint& paint) {
  const force::CommandForceAnswer& answer = report.answer;
  const std::string source = report.source.empty() ? "every order" : printable(report.source);
  std::string out = fmt::format("{}: {}", source, painted(answer.verdict, paint));
  if (answer.runs > 1 && answer.orders == 0)
    out += fmt::format(" in {} of {} runs", answer.of_verdict, answer.runs);
  if (answer.verdict == force::ForceVerdict::Prevented)
    out += ": " + prevented_by(answer.sqlstates, answer.waits, answer.rechecked);
  if (!answer.why.empty()) out += ": " + printable(answer.why);
  out += '\n';
  if (answer.orders > 0) {
    if (!report.source.empty()) out += "the statements are no longer those of the plan: ";
    out += fmt::format("{} of them {} played\n", plural(answer.orders, "order", "orders"),
                       answer.orders == 1 ? "was" : "were");
  }
  out += "\nwhat happened\n" + played_commands(report);
  for (const force::ActorId s : report.sessions.ids()) {
    const auto& codes = answer.run.exit_codes;
    if (codes.contains(s) && codes[s] != 0)
      out += fmt::format("  {} returned {}: {}\n", printable(report.sessions[s]), codes[s],
                         shown_statement(answer.run.outputs[s]));
  }
  if (answer.verdict == force::ForceVerdict::Reproduced) out += recorded_text(answer.run.recorded);
  out += witness_text(report);
  return out;
}

Json command_force_object(const CommandForceReport& report) {
  const force::CommandForceAnswer& answer = report.answer;
  Json json = json_header(force_header(answer.verdict, {}, report.seconds));
  json["runs"] = answer.runs;
  json["reproduced"] = answer.reproduced;
  json["judge"] = answer.is_judged_by_history ? "history" : "serial orders";
  if (!answer.why.empty()) json["why"] = answer.why;
  json["sessions"] = report.sessions.entries();
  json["schedule"] = schedule_json(report);
  json["orders_played"] = answer.orders;
  json["departure"] = departure_json(report);
  json["sqlstates"] = answer.sqlstates;
  json["lock_waits"] = answer.waits;
  json["rechecked"] = answer.rechecked;
  json["exit_codes"] = answer.run.exit_codes.entries();
  add_recorded(json, answer.run.recorded);
  json["tables"] = tables_json(answer.run.tables);
  json["serial_orders"] = Json::array();
  for (const force::SerialCommands& serial : answer.serial) {
    Json order = Json::array();
    for (const force::ActorId s : serial.order) order.push_back(report.sessions[s]);
    json["serial_orders"].push_back(
        {{"order", std::move(order)}, {"tables", tables_json(serial.run.tables)}});
  }
  if (!answer.no_witness.empty()) json["no_serial_witness"] = answer.no_witness;
  return json;
}

std::string command_force_json(const CommandForceReport& report) {
  return dump(command_force_object(report));
}

namespace {

// The sentence of the recorded history, if it decided; else that of the serial orders.
std::string end_of_commands(const force::CommandForceAnswer& answer) {
  switch (answer.verdict) {
    case force::ForceVerdict::Reproduced:
      if (answer.is_judged_by_history && answer.run.recorded.violation)
        return recorded_sentence(answer.run.recorded);
      return "No serial order of the commands ends as this run.";
    case force::ForceVerdict::Prevented:
      return fmt::format("Prevented: {}.",
                         prevented_by(answer.sqlstates, answer.waits, answer.rechecked));
    case force::ForceVerdict::Diverged:
    case force::ForceVerdict::Unknown: break;
  }
  return fmt::format("{}: {}.", force::name_of(answer.verdict), printable(answer.why));
}

Scene command_scene(const CommandForceReport& report) {
  const force::CommandRun& run = report.answer.run;
  PlayedRun played{.title = "The run", .sentence = end_of_commands(report.answer)};
  for (const std::string& name : report.sessions) played.lanes.push_back(printable(name));
  for_each_request(report, [&](const force::Moment& m, const force::SentRequest& request) {
    PlayedStep step{.lane = m.actor.index, .txn = printable(report.sessions[m.actor])};
    step.sql = shown_statement(request.text);
    if (m.kind == force::Moment::Kind::Parked) {
      step.kind = PlayedStep::Kind::Waits;
      std::vector<std::string> holders;
      for (const force::ActorId h : m.holders) holders.push_back(printable(report.sessions[h]));
      if (!holders.empty()) step.result = fmt::format("for {}", fmt::join(holders, ", "));
    } else {
      const bool is_over = !request.error.empty() || request.tag == "ROLLBACK";
      step.kind = is_over              ? PlayedStep::Kind::Abort
                  : request.has_waited ? PlayedStep::Kind::GoesOn
                                       : PlayedStep::Kind::Statement;
      step.result = request.error.empty() ? printable(request.tag) : "ERROR " + request.error;
      if (step.result == step.sql) step.result.clear();
    }
    played.steps.push_back(std::move(step));
  });
  Scene scene = schedule_scene(std::move(played));
  for (const auto& [name, table] : run.tables)
    scene.notes.push_back(
        fmt::format("In the end {} holds {}.", printable(name), shown_rows(table)));
  if (report.answer.serial.empty()) return scene;
  scene.serial = {.title = witness_words(report.answer) + ".",
                  .columns = {"order", "what differs from this run"},
                  .rows = {}};
  if (!scene.serial.title.empty())
    scene.serial.title[0] =
        static_cast<char>(std::toupper(static_cast<unsigned char>(scene.serial.title[0])));
  for (const force::SerialCommands& serial : report.answer.serial) {
    const std::string difference = serial_text(report, serial.run);
    scene.serial.rows.push_back(
        {{order_name(report, serial.order)}, {difference == "the same" ? "nothing" : difference}});
  }
  return scene;
}

}  // namespace

Page command_force_page(const CommandForceReport& report) {
  const force::CommandForceAnswer& answer = report.answer;
  const std::string source = report.source.empty() ? "every order" : printable(report.source);
  Page page{.command = "force",
            .verdict = std::string(force::name_of(answer.verdict)),
            .is_good = answer.verdict == force::ForceVerdict::Prevented,
            .source = source};
  page.sentence = fmt::format("{}: {}", source, force::name_of(answer.verdict));
  if (!answer.why.empty()) page.sentence += ": " + printable(answer.why);
  PageTable table{.title = "The runs", .columns = {"", "count"}, .rows = {}};
  table.rows.push_back({{"runs"}, {std::to_string(answer.runs)}});
  table.rows.push_back({{"that reproduce it"}, {std::to_string(answer.reproduced)}});
  if (answer.orders > 0)
    table.rows.push_back({{"orders of the statements"}, {std::to_string(answer.orders)}});
  page.tables.push_back(std::move(table));
  page.scenes.push_back(command_scene(report));
  return page;
}

}  // namespace isoscope
