#include "check/check.h"
#include "report/check_report.h"
#include "report/explore_report.h"
#include "report/json.h"
#include "report/server_story.h"
#include "support/budget.h"

namespace isoscope {
namespace {

using store::Access;
using store::RecordedTxn;
using store::Recording;

// The transactions as lines of a jsonl history say them; reads name their writers.
Json transactions(const Executable& program, const Recording& run) {
  Json all = Json::array();
  for (const CallId call : run.order) {
    const Call& c = program.outline().calls[call];
    Json ops = Json::array();
    for (const Access& access : run.txns[call].accesses) {
      const std::string key = program.keys().name(access.key);
      if (access.is_read) {
        ops.push_back({"r", key, {{"from", store::name_of_writer(program, access.writer)}}});
      } else {
        ops.push_back({"w", key, access.value});
      }
    }
    Json txn{{"session", program.outline().sessions[c.session].name},
             {"id", store::name_of(program, call)},
             {"status", run.txns[call].is_committed ? "committed" : "aborted"},
             {"ops", std::move(ops)}};
    if (!c.level.empty()) txn["level"] = c.level;
    all.push_back(std::move(txn));
  }
  return all;
}

Json initial_values(const Executable& program, const Recording& run) {
  Json init = Json::object();
  for (const RecordedTxn& txn : run.txns) {
    for (const Access& access : txn.accesses)
      init[program.keys().name(access.key)] = program.keys().initial(access.key);
  }
  return init;
}

Json locals(const Executable& program, const RecordedTxn& txn, CallId call) {
  Json values = Json::object();
  const auto names = program.local_names(call);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) values[names[i]] = txn.locals[i];
  }
  return values;
}

Json assertions(const ExploreReport& report, const std::vector<AssertionId>& numbers) {
  Json failed = Json::array();
  for (const AssertionId number : numbers) {
    const FailedAssertion assertion = report.program.assertion(number);
    failed.push_back({{"assertion", assertion.text}, {"line", assertion.place.line}});
  }
  return failed;
}

Json violation(const ExploreReport& report, const Recording& run) {
  Json reads = Json::array();
  for (const CallId call : run.order) {
    for (const Access& access : run.txns[call].accesses) {
      if (!access.is_read) continue;
      reads.push_back({{"txn", store::name_of(report.program, call)},
                       {"key", report.program.keys().name(access.key)},
                       {"value", access.value},
                       {"from", store::name_of_writer(report.program, access.writer)}});
    }
  }
  Json json = {{"failed", assertions(report, run.failed_assertions())},
               {"reads", std::move(reads)},
               {"init", initial_values(report.program, run)},
               {"transactions", transactions(report.program, run)}};
  if (run.finals.empty()) return json;
  json["final"] = Json::array();
  for (const store::FinalValue& each : run.finals) {
    json["final"].push_back({{"key", report.program.keys().name(each.key)},
                             {"value", each.value},
                             {"from", store::name_of_writer(report.program, each.writer)}});
  }
  return json;
}

Json outcome(const ExploreReport& report, const explore::ProgramOutcome& one) {
  Json txns = Json::object();
  for (const CallId call : one.txns.ids()) {
    if (one.txns[call].is_left_out) continue;
    txns[store::name_of(report.program, call)] = {
        {"committed", one.txns[call].is_committed},
        {"locals", locals(report.program, one.txns[call], call)}};
  }
  Json json = {{"histories", one.histories},
               {"levels", one.levels},
               {"failed", assertions(report, one.failed_assertions)},
               {"transactions", std::move(txns)}};
  if (!one.is_decided) json["undecided"] = true;
  return json;
}

Json weakest_json(const ExploreReport& report, Json json) {
  Json trials = Json::array();
  for (const explore::LevelTrial& trial : report.weakest->trials) {
    trials.push_back({{"level", trial.level},
                      {"verdict", word_of("explore", trial.outcome)},
                      {"histories", trial.histories}});
    if (trial.states) trials.back()["states"] = *trial.states;
  }
  json["weakest"] = report.weakest->minimal;
  json["trials"] = std::move(trials);
  Json mixed = Json::object();
  for (const CallId call : report.weakest->mixed.ids())
    mixed[store::name_of(report.program, call)] = report.weakest->mixed[call];
  json["mixed"] = std::move(mixed);
  Json undecided = Json::array();
  for (const CallId call : report.weakest->is_decided.ids()) {
    if (!report.weakest->is_decided[call])
      undecided.push_back(store::name_of(report.program, call));
  }
  json["undecided"] = std::move(undecided);
  return json;
}

}  // namespace

Header header_of(const ExploreReport& report) {
  Answer answer{
      .outcome = report.all.outcome, .limit = report.all.limit, .stats = report.all.stats};
  if (report.weakest)
    answer = {.outcome = report.weakest->outcome(),
              .limit = report.weakest->is_out_of_time ? limit_reached() : ""};
  if (answer.outcome == Outcome::Complete && !report.gaps.empty())
    answer.outcome = Outcome::Unknown;
  return header_of("explore", answer, report.seconds);
}

std::string explore_json(const ExploreReport& report) {
  if (report.weakest) {
    Json json = weakest_json(report, json_header(header_of(report)));
    if (!report.gaps.empty()) json["not_modelled"] = gaps_json(report.gaps);
    return dump(json);
  }
  const explore::Exploration& all = report.all;
  Json json = json_header(header_of(report));
  json["level"] = report.level;
  json["method"] = report.method;
  json["histories"] = all.histories;
  json["violating"] = all.violating;
  json["end_states"] = all.end_states;
  json["blocked"] = all.blocked;
  json["calls"] = all.calls;
  if (all.merging)
    json["merging"] = {{"states", all.merging->states},
                       {"met_again", all.merging->met_again},
                       {"complete", all.merging->is_complete}};
  if (!report.gaps.empty()) json["not_modelled"] = gaps_json(report.gaps);
  json["violations"] = Json::array();
  for (const Recording& run : all.violations) json["violations"].push_back(violation(report, run));
  if (report.outcomes) {
    json["outcomes"] = Json::array();
    for (const explore::ProgramOutcome& one : *report.outcomes)
      json["outcomes"].push_back(outcome(report, one));
  }
  return dump(json);
}

std::string history_line(const Executable& program, const Recording& run, std::uint64_t number) {
  Json line{{"history", number},
            {"violates", run.has_failed_assertion()},
            {"init", initial_values(program, run)},
            {"transactions", transactions(program, run)}};
  return dump(line);
}

}  // namespace isoscope
