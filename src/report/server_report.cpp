#include "report/server_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "formats/jsonl.h"
#include "report/plural.h"
#include "report/server_story.h"
#include "sql/server/recorded.h"
#include "store/recording.h"
#include "support/budget.h"
#include "support/printable.h"

namespace isoscope {
namespace {

using sql::server::CallEnd;
using sql::server::RunEnd;
using sql::server::RunOutcome;
using sql::server::TxnNo;

constexpr std::string_view kMethod = "schedules by statement and commit";

std::string rows_text(const ServerProgram& on, const RunEnd& end, std::string_view indent) {
  std::string out;
  for (const sql::TableId table : changing_tables(on)) {
    const auto& rows = end.rows[table];
    if (rows.empty() && !on.machine.is_by_key())
      out += fmt::format("{}{} is empty\n", indent, on.machine.app().table(table).name);
    for (const auto& row : rows) out += fmt::format("{}{}\n", indent, row_text(on, {table, row}));
  }
  return out;
}

std::string outcomes_text(const ServerExploreReport& report, const Paint& paint) {
  std::string out = fmt::format(
      "\n{}\n", paint.strong(plural(report.all.outcomes.size(), "outcome", "outcomes")));
  for (const RunOutcome& outcome : report.all.outcomes) {
    out += fmt::format("  {} of {}, ", outcome.histories,
                       plural(report.all.histories, "history", "histories"));
    out += !outcome.is_serial   ? paint.unsure("not known whether a serial order ends like this")
           : *outcome.is_serial ? paint.good("as a serial order")
                                : paint.bad("no serial order ends like this");
    if (!outcome.broken.empty()) out += paint.bad("  an assertion fails");
    out += '\n';
    for (const CallId call : outcome.end.calls.ids()) {
      if (!outcome.end.calls[call].is_left_out)
        out += fmt::format("    {}\n", call_end_text(report.on, call, outcome.end.calls[call]));
    }
    out += rows_text(report.on, outcome.end, "    ");
  }
  return out;
}

Json end_json(const ServerProgram& on, const RunEnd& end) {
  Json txns = Json::object();
  for (const CallId call : end.calls.ids()) {
    const CallEnd& one = end.calls[call];
    if (one.is_left_out) continue;
    Json locals = Json::object();
    const auto names = on.machine.executable().local_names(call);
    for (std::size_t i = 0; i < std::min(names.size(), one.locals.size()); ++i) {
      if (!names[i].empty()) locals[names[i]] = value_json(one.locals[i]);
    }
    Json txn{{"committed", one.is_committed}, {"locals", std::move(locals)}};
    if (!one.is_committed) {
      txn["sqlstate"] = one.failure.sqlstate;
      txn["message"] = one.failure.message;
    }
    txns[store::name_of(on.machine.executable(), call)] = std::move(txn);
  }
  Json rows = Json::array();
  for (const sql::TableId table : changing_tables(on)) {
    for (const auto& row : end.rows[table]) rows.push_back(row_json(on, table, row));
  }
  return {{"transactions", std::move(txns)}, {"rows", std::move(rows)}};
}

Json failed_json(const ServerProgram& on, const std::vector<std::size_t>& broken) {
  Json failed = Json::array();
  for (const std::size_t claim : broken)
    failed.push_back({{"assertion", on.claims[claim].text}, {"line", on.claims[claim].place.line}});
  return failed;
}

}  // namespace

std::string call_end_text(const ServerProgram& on, CallId call, const CallEnd& end) {
  std::string out =
      fmt::format("{} {}", call_text(on, call), end.is_committed ? "commits" : "aborts");
  if (end.is_passed && !end.is_committed) return fmt::format("{} rolls back", call_text(on, call));
  if (!end.is_committed) {
    out += fmt::format(" ({}{}{})", end.failure.sqlstate, end.failure.sqlstate.empty() ? "" : " ",
                       printable(end.failure.message));
    return out;
  }
  const auto names = on.machine.executable().local_names(call);
  std::string locals;
  for (std::size_t i = 0; i < std::min(names.size(), end.locals.size()); ++i) {
    if (!names[i].empty())
      locals +=
          fmt::format("{}{} = {}", locals.empty() ? ": " : ", ", names[i], print(end.locals[i]));
  }
  return out + printable(locals);
}

namespace {

// A rule that is not modelled might forbid what was found.
bool has_doubt(const ServerProgram& on) {
  return std::ranges::any_of(on.gaps, [](const sql::Note& gap) { return gap.table.has_value(); });
}

}  // namespace

Header header_of(const ServerExploreReport& report) {
  const auto& all = report.all;
  Answer answer;
  if (all.is_out_of_time) answer.limit = limit_reached();
  if (all.violating > 0 || !all.violations.empty())
    answer.outcome = has_doubt(report.on) ? Outcome::Unknown : Outcome::Violated;
  else if (!all.is_out_of_time && report.on.gaps.empty())
    answer.outcome = Outcome::Complete;
  return header_of("explore", answer, report.seconds);
}

std::string server_explore_text(const ServerExploreReport& report, const Paint& paint) {
  const auto& all = report.all;
  const Outcome outcome = header_of(report).outcome;
  std::string out = fmt::format("{} at {}: ", printable(report.on.source), report.on.level);
  const std::string histories = plural(all.histories, "history", "histories");
  if (outcome == Outcome::Violated) {
    out += report.stopped_early
               ? paint.bad("an assertion fails")
               : fmt::format("{}, {}", histories,
                             paint.bad(fmt::format("{} violate{} an assertion", all.violating,
                                                   all.violating == 1 ? "s" : "")));
  } else if (all.violating > 0) {
    out += fmt::format("{}, {} violate{} an assertion if nothing forbids them", histories,
                       all.violating, all.violating == 1 ? "s" : "");
  } else {
    out += histories;
    if (!report.on.claims.empty())
      out += outcome == Outcome::Consistent ? paint.good(", all assertions hold")
                                            : ", no assertion fails in them";
  }
  if (all.is_out_of_time)
    out += paint.unsure(fmt::format(", unknown: {} was reached", limit_reached()));
  else if (outcome == Outcome::Unknown)
    out += paint.unsure(", unknown: the program does what is not modelled");
  out += fmt::format("\n{}; {}, {}, {}, {:.2f} s\n", kMethod,
                     plural(all.end_states, "end state", "end states"),
                     plural(all.deadlocks, "deadlock", "deadlocks"),
                     plural(all.steps, "step", "steps"), report.seconds);
  out += gaps_text(report.on.source, report.on.gaps, paint);
  for (std::size_t i = 0; i < all.violations.size(); ++i) {
    const auto& violation = all.violations[i];
    out += fmt::format("\n{}\n", paint.strong(fmt::format("violation {}", i + 1)));
    std::size_t num_steps = 0;
    for (const auto& broken : violation.broken) {
      out += broken_text(report.on, broken, paint);
      num_steps = std::max(num_steps, broken.step);
    }
    out += story_text(report.on, story_of(report.on, violation.schedule, num_steps), paint);
  }
  if (report.wants_outcomes) out += outcomes_text(report, paint);
  return out;
}

std::string server_explore_json(const ServerExploreReport& report) {
  const auto& all = report.all;
  Json json = json_header(header_of(report));
  json["level"] = report.on.level;
  json["server"] = name_of(report.on.machine.server());
  json["method"] = kMethod;
  json["histories"] = all.histories;
  json["violating"] = all.violating;
  json["end_states"] = all.end_states;
  json["blocked"] = all.deadlocks;
  json["calls"] = all.steps;
  if (!report.on.gaps.empty()) json["not_modelled"] = gaps_json(report.on.gaps);
  json["violations"] = Json::array();
  for (const auto& violation : all.violations) {
    Json failed = Json::array();
    std::size_t num_steps = 0;
    for (const auto& broken : violation.broken) {
      failed.push_back(broken_json(report.on, broken));
      num_steps = std::max(num_steps, broken.step);
    }
    json["violations"].push_back(
        {{"failed", std::move(failed)},
         {"schedule", story_json(report.on, story_of(report.on, violation.schedule, num_steps))}});
  }
  if (report.wants_outcomes) {
    json["outcomes"] = Json::array();
    for (const RunOutcome& outcome : all.outcomes) {
      Json one{{"histories", outcome.histories},
               {"serial", outcome.is_serial ? Json(*outcome.is_serial) : Json(nullptr)},
               {"failed", failed_json(report.on, outcome.broken)}};
      one.update(end_json(report.on, outcome.end));
      json["outcomes"].push_back(std::move(one));
    }
  }
  return dump(json);
}

Result<std::string> server_history_line(const ServerProgram& on, const sql::server::State& state,
                                        const std::vector<sql::server::Choice>& schedule,
                                        std::uint64_t number, bool violates) {
  const auto history = sql::server::to_history(on.machine, state);
  if (!history) return history.error();
  std::string text;
  const auto written = write_jsonl(*history, [&](std::string_view part) { text += part; });
  if (!written) return written.error();
  std::istringstream lines(text);
  std::string part;
  std::getline(lines, part);
  const Json header = Json::parse(part);
  Json transactions = Json::array();
  for (const TxnNo txn : state.of_calls()) {
    if (state.txns[txn].is_left_out) continue;
    std::getline(lines, part);
    Json one = Json::parse(part);
    one["level"] = sql::server::name_of(on.machine.server(), on.machine.level(txn));
    if (const auto& failure = state.txns[txn].failure; !failure.sqlstate.empty())
      one["error"] = failure.sqlstate;
    transactions.push_back(std::move(one));
  }
  Json line{{"history", number},
            {"violates", violates},
            {"init", header.contains("init") ? header["init"] : Json::object()},
            {"transactions", std::move(transactions)},
            {"schedule", story_json(on, story_of(on, schedule, schedule.size()))}};
  return dump(line);
}

Header header_of(const ServerRunReport& report) {
  const ServerRuns& runs = report.runs;
  Answer answer;
  if (runs.is_expired) answer.limit = limit_reached();
  if (runs.failed > 0 || runs.unserializable > 0)
    answer.outcome = has_doubt(report.on) ? Outcome::Unknown : Outcome::Violated;
  else if (!runs.is_expired && runs.undecided == 0 && report.on.gaps.empty())
    answer.outcome = Outcome::Ok;
  return header_of("run", answer, report.seconds);
}

std::string server_run_text(const ServerRunReport& report, const Paint& paint) {
  const ServerRuns& runs = report.runs;
  std::string out = fmt::format("{}  {} at {}, ", painted(header_of(report), paint),
                                name_of(report.on.machine.server()), report.on.level);
  out += report.wanted_runs > 1
             ? fmt::format("seeds {} to {}: ", report.seed, report.seed + report.wanted_runs - 1)
             : fmt::format("seed {}: ", report.seed);
  const auto part = [&](std::uint64_t count, std::string_view none, std::string_view some) {
    if (report.wanted_runs == 1) return std::string(count == 0 ? none : some);
    return count == 0 ? std::string(none)
                      : fmt::format("{} of {}: {}", count, plural(runs.runs, "run", "runs"), some);
  };
  out += part(runs.failed, "no assertion failed", "an assertion failed") + ", ";
  out += part(runs.unserializable,
              runs.undecided > 0 ? "not known whether serial" : "as serial orders end",
              "no serial order ends like this");
  if (runs.with_aborts > 0)
    out += fmt::format(", {} with {}", plural(runs.with_aborts, "run", "runs"),
                       report.on.machine.server() == sql::server::ServerKind::Postgres
                           ? "40001, 40P01 or 55P03"
                           : "1213");
  if (runs.is_expired) out += paint.unsure(fmt::format(", {} was reached", limit_reached()));
  out += '\n' + gaps_text(report.on.source, report.on.gaps, paint);
  if (!runs.shown) return out;
  if (report.wanted_runs > 1) out += paint.strong(fmt::format("run of seed {}\n", runs.shown_seed));
  for (const auto& broken : runs.shown->broken) out += broken_text(report.on, broken, paint);
  out += story_text(report.on,
                    story_of(report.on, runs.shown->schedule, runs.shown->schedule.size()), paint);
  return out + rows_text(report.on, end_of(report.on.machine, runs.shown->state), "  ");
}

std::string server_run_json(const ServerRunReport& report) {
  const ServerRuns& runs = report.runs;
  Json json = json_header(header_of(report));
  json["store"] = "weak";
  json["level"] = report.on.level;
  json["server"] = name_of(report.on.machine.server());
  json["seed"] = report.seed;
  json["runs"] = runs.runs;
  json["failed_assertions"] = runs.failed;
  json["unserializable"] = runs.unserializable;
  json["undecided"] = runs.undecided;
  json["with_server_aborts"] = runs.with_aborts;
  if (runs.first_failed) json["first_failed"] = *runs.first_failed;
  if (runs.first_unserializable) json["first_unserializable"] = *runs.first_unserializable;
  if (!report.on.gaps.empty()) json["not_modelled"] = gaps_json(report.on.gaps);
  json["assertions"] = Json::array();
  json["trace"] = nullptr;
  if (!runs.shown) return dump(json);
  for (const auto& broken : runs.shown->broken)
    json["assertions"].push_back(broken_json(report.on, broken));
  json["schedule"] =
      story_json(report.on, story_of(report.on, runs.shown->schedule, runs.shown->schedule.size()));
  json.update(end_json(report.on, end_of(report.on.machine, runs.shown->state)));
  return dump(json);
}

}  // namespace isoscope
