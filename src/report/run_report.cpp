#include "report/run_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/check.h"
#include "formats/formats.h"
#include "report/explain.h"
#include "report/json.h"
#include "report/shown.h"
#include "spec/serializable.h"
#include "support/assert.h"

namespace isoscope {

namespace {

using store::Access;
using store::Divergence;
using store::RecordedTxn;

constexpr std::size_t kMostTxns = 24;         // of a run that is shown
constexpr std::size_t kMostAccesses = 12;     // of a transaction that is shown
constexpr std::size_t kMostDivergences = 20;  // that are shown
constexpr double kExplainSeconds = 5;

std::string counted(std::uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string txn_line(const RunReport& report, CallId call, std::size_t width, const Paint& paint) {
  const Executable& program = report.program;
  const RecordedTxn& txn = report.runs.shown.txns[call];
  const Call& c = program.outline().calls[call];
  std::string out =
      fmt::format("  {:<{}}  {}", shown_call(program, call), width,
                  paint.faint(printable(c.level.empty() ? c.name : c.name + " @" + c.level)));
  const std::size_t shown = std::min(txn.accesses.size(), kMostAccesses);
  for (std::size_t i = 0; i < shown; ++i) {
    const Access& access = txn.accesses[i];
    const std::string key = shown_key(program, access.key);
    const std::string value = shown_value(program, access.key, access.value);
    if (access.is_read) {
      out += fmt::format("  r({}) = {} from {}", key, value, shown_writer(program, access.writer));
    } else {
      out += fmt::format("  w({}, {})", key, value);
    }
  }
  if (shown < txn.accesses.size()) out += fmt::format("  … {} more", txn.accesses.size() - shown);
  return out + (txn.is_committed ? "\n" : paint.unsure("  aborts") + "\n");
}

// A failed assertion as a person wants to see it: its text, where it stands, whose it is, and the
// values that it looked at.
struct Failure {
  FailedAssertion assertion;
  std::optional<CallId> txn;      // whose it is; nothing if about the finished run
  std::vector<CallId> concerned;  // calls whose locals matter
};

std::vector<Failure> failures_of(const RunReport& report) {
  std::vector<Failure> failures;
  const store::Recording& recording = report.runs.shown;
  for (const CallId call : recording.order) {
    const auto number = recording.txns[call].failed_assertion;
    if (number) failures.push_back({report.program.assertion(*number), call, {call}});
  }
  if (recording.failed_at_end) {
    const FailedAssertion failed = report.program.assertion(*recording.failed_at_end);
    failures.push_back({failed, std::nullopt, failed.calls});
  }
  return failures;
}

std::string failures_text(const RunReport& report, const Paint& paint) {
  std::string out;
  for (const Failure& failure : failures_of(report)) {
    out += fmt::format(
        "{}: {}  {}", paint.bad("fails"), printable(failure.assertion.text),
        paint.faint(fmt::format("{}:{}", printable(report.source), failure.assertion.place.line)));
    if (failure.txn) out += fmt::format("  in {}", shown_call(report.program, *failure.txn));
    out += '\n';
    for (const CallId call : failure.concerned) {
      const RecordedTxn& txn = report.runs.shown.txns[call];
      const std::string locals = shown_locals(report.program, txn, call);
      out += fmt::format("  {} {}{}{}\n", shown_call(report.program, call),
                         txn.is_committed ? "committed" : "aborted", locals.empty() ? "" : ": ",
                         locals);
    }
  }
  if (report.runs.shown.failed_at_end) {
    for (const store::FinalValue& each : report.runs.shown.finals)
      out += fmt::format("  {} = {} from {} at the end\n", shown_key(report.program, each.key),
                         shown_value(report.program, each.key, each.value),
                         shown_writer(report.program, each.writer));
  }
  return out;
}

std::string serializability_text(const RunReport& report) {
  const History h = store::to_history(report.program, report.runs.shown);
  Budget budget = Budget::seconds(kExplainSeconds);
  const CheckAnswer answer = check(h, serializable_level(), budget);
  if (!answer.verdict.violation) return {};
  const Violation& violation = *answer.verdict.violation;
  return fmt::format("  not serializable: {} ({})\n", explanation(h, violation),
                     common_name(violation.anomaly));
}

std::string shown_run(const RunReport& report, const Paint& paint) {
  const store::Recording& recording = report.runs.shown;
  std::string out = failures_text(report, paint);
  if (report.store != RunStore::Replay && report.wanted_runs > 1)
    out += paint.strong(fmt::format("run of seed {}\n", report.runs.shown_seed));
  std::size_t width = 0;
  for (const CallId call : recording.order)
    width = std::max(width, shown_call(report.program, call).size());
  const std::size_t shown = std::min(recording.order.size(), kMostTxns);
  for (std::size_t i = 0; i < shown; ++i) out += txn_line(report, recording.order[i], width, paint);
  if (shown < recording.order.size())
    out += fmt::format("  … {} (--trace FILE has all)\n",
                       counted(recording.order.size() - shown, "more transaction"));
  if (report.runs.unserializable > 0) out += serializability_text(report);
  return out;
}

std::string divergences_text(const RunReport& report, const Paint& paint) {
  std::string out;
  const std::size_t shown = std::min(report.divergences->size(), kMostDivergences);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string text = printable(describe(report.program, (*report.divergences)[i]));
    out += fmt::format("  {}\n", i == 0 ? paint.bad(text) : text);
  }
  if (shown < report.divergences->size())
    out += fmt::format("  … {} more\n", report.divergences->size() - shown);
  return out;
}

// "weak at cc, seeds 1 to 100".
std::string what_ran(const RunReport& report) {
  std::string out(name_of(report.store));
  if (!report.level.empty()) out += " at " + report.level;
  if (report.store == RunStore::Replay) return out;
  if (report.wanted_runs == 1) return out + fmt::format(", seed {}", report.seed);
  return out + fmt::format(", seeds {} to {}", report.seed, report.seed + report.wanted_runs - 1);
}

std::string count_text(std::uint64_t count, std::uint64_t runs, std::string_view what,
                       std::optional<std::uint64_t> first) {
  std::string out = fmt::format("{} of {} runs {}", count, runs, what);
  if (first) out += fmt::format(" (first: seed {})", *first);
  return out;
}

Json divergence_json(const RunReport& report, const Divergence& divergence) {
  const Call& call = report.program.outline().calls[divergence.call];
  Json json = {{"kind", store::name_of(divergence.kind)},
               {"session", report.program.outline().sessions[call.session].name},
               {"txn", store::name_of(report.program, divergence.call)},
               {"read", nullptr},
               {"expected", divergence.expected},
               {"actual", divergence.actual}};
  if (divergence.read) json["read"] = *divergence.read;
  return json;
}

Json failure_json(const RunReport& report, const Failure& failure) {
  Json json = {{"text", failure.assertion.text},
               {"line", failure.assertion.place.line},
               {"column", failure.assertion.place.column},
               {"txn", nullptr},
               {"values", Json::object()}};
  if (failure.txn) json["txn"] = store::name_of(report.program, *failure.txn);
  for (const CallId call : failure.concerned) {
    const RecordedTxn& txn = report.runs.shown.txns[call];
    Json values = {{"committed", txn.is_committed}, {"locals", Json::object()}};
    const auto names = report.program.local_names(call);
    for (std::size_t i = 0; i < std::min(names.size(), txn.locals.size()); ++i) {
      if (!names[i].empty()) values["locals"][names[i]] = txn.locals[i];
    }
    json["values"][store::name_of(report.program, call)] = std::move(values);
  }
  if (failure.txn || report.runs.shown.finals.empty()) return json;
  json["final"] = Json::object();
  for (const store::FinalValue& each : report.runs.shown.finals)
    json["final"][report.program.keys().name(each.key)] = each.value;
  return json;
}

Json trace_json(const RunReport& report) {
  std::string text;
  const History h = store::to_history(report.program, report.runs.shown);
  const auto written =
      write_history(h, Format::Jsonl, [&](std::string_view piece) { text += piece; });
  ISO_ASSERT(written.ok());  // jsonl holds every history
  Json json = {{"seed", nullptr}, {"file", nullptr}, {"jsonl", std::move(text)}};
  if (report.store != RunStore::Replay) json["seed"] = report.runs.shown_seed;
  if (!report.trace_file.empty()) json["file"] = report.trace_file;
  return json;
}

}  // namespace

std::string_view name_of(RunStore store) {
  switch (store) {
    case RunStore::Serial: return "serial";
    case RunStore::Weak: return "weak";
    case RunStore::Replay: return "replay";
  }
  return {};
}

Header header_of(const RunReport& report) {
  const store::Runs& runs = report.runs;
  Answer answer;
  if (runs.is_expired) answer.limit = limit_reached();
  if (runs.failed_assertions > 0 || runs.unserializable > 0)
    answer.outcome = Outcome::Violated;
  else if (!runs.is_expired)
    answer.outcome = Outcome::Ok;
  if (!report.divergences || report.divergences->empty())
    return header_of("run", answer, report.seconds);
  // What was asked is whether the program follows the history.
  answer.outcome = Outcome::Violated;
  return header_of("run", answer, report.seconds, "diverged");
}

std::string run_text(const RunReport& report, const Paint& paint) {
  const Header header = header_of(report);
  const store::Runs& runs = report.runs;
  // A replay is one run; that the time was over was found out when it was judged.
  const bool is_open = runs.is_expired && report.divergences;
  std::string out = painted(header, paint);
  out += fmt::format("  {}: ", what_ran(report));
  if (report.divergences && !report.divergences->empty())
    out += counted(report.divergences->size(), "divergence") + ", ";
  if (runs.runs == 0) {
    out += "no run finished";
  } else if (runs.runs == 1) {
    out += fmt::format("{}, {}",
                       runs.failed_assertions > 0 ? "an assertion failed" : "no assertion failed",
                       runs.unserializable > 0 ? "unserializable"
                       : is_open               ? "not known to be serializable"
                                               : "serializable");
  } else {
    out += count_text(runs.failed_assertions, runs.runs, "failed an assertion", runs.first_failed) +
           ", " +
           count_text(runs.unserializable, runs.runs, "were unserializable",
                      runs.first_unserializable);
  }
  if (runs.is_expired)
    out += fmt::format("; {} was reached after {} of {}", limit_reached(), runs.runs,
                       counted(report.wanted_runs, "run"));
  out += '\n';
  if (report.divergences) out += divergences_text(report, paint);
  if (runs.runs > 0 && (header.outcome != Outcome::Ok || report.wanted_runs == 1))
    out += shown_run(report, paint);
  return out;
}

std::string run_json(const RunReport& report) {
  Json json = json_header(header_of(report));
  json["stats"]["transactions"] = report.runs.shown.order.size();
  json["store"] = name_of(report.store);
  if (!report.level.empty()) json["level"] = report.level;
  if (report.store != RunStore::Replay) json["seed"] = report.seed;
  json["runs"] = report.runs.runs;
  json["failed_assertions"] = report.runs.failed_assertions;
  json["unserializable"] = report.runs.unserializable;
  if (report.runs.first_failed) json["first_failed"] = *report.runs.first_failed;
  if (report.runs.first_unserializable)
    json["first_unserializable"] = *report.runs.first_unserializable;
  if (report.divergences) {
    json["divergences"] = Json::array();
    for (const Divergence& divergence : *report.divergences)
      json["divergences"].push_back(divergence_json(report, divergence));
  }
  json["assertions"] = Json::array();
  for (const Failure& failure : failures_of(report))
    json["assertions"].push_back(failure_json(report, failure));
  json["trace"] = report.runs.runs == 0 ? Json(nullptr) : trace_json(report);
  return dump(json);
}

}  // namespace isoscope
