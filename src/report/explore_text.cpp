#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "check/check.h"
#include "report/explain.h"
#include "report/explore_report.h"
#include "report/plural.h"
#include "report/server_story.h"
#include "report/shown.h"
#include "spec/serializable.h"

namespace isoscope {
namespace {

using store::Access;
using store::kInitialWriter;
using store::RecordedTxn;
using store::Recording;

// What the reads of a run would show if its transactions ran one after the other, as listed.
class SerialRun {
 public:
  struct Version {
    CallId writer = kInitialWriter;
    std::int64_t value = 0;
  };

  SerialRun(const Executable& program, const Recording& run) : program_(program), run_(run) {}

  Version latest(ProgramKey x) const {
    const auto found = store_.find(x);
    return found != store_.end() ? found->second
                                 : Version{kInitialWriter, program_.keys().initial(x)};
  }
  void commit(CallId call) {
    if (!run_.txns[call].is_committed) return;
    for (const Access& access : run_.txns[call].accesses) {
      if (!access.is_read) store_[access.key] = {call, access.value};
    }
  }

 private:
  const Executable& program_;
  const Recording& run_;
  std::map<ProgramKey, Version> store_;
};

std::string txn_line(const Executable& program, const Recording& run, CallId call,
                     std::size_t name_width, const SerialRun& serial, const Paint& paint) {
  const RecordedTxn& txn = run.txns[call];
  const Call& c = program.outline().calls[call];
  std::string out = fmt::format("  {:<{}}  {}", shown_call(program, call), name_width,
                                paint.faint(printable(c.name)));
  if (!c.level.empty()) out += paint.faint("@" + c.level);
  std::string notes;
  for (const Access& access : txn.accesses) {
    const std::string key = shown_key(program, access.key);
    const std::string value = shown_value(program, access.key, access.value);
    if (!access.is_read) {
      out += fmt::format("  w({}, {})", key, value);
      continue;
    }
    const std::string read =
        fmt::format("r({}) = {} from {}", key, value, shown_writer(program, access.writer));
    const auto latest = serial.latest(access.key);
    if (latest.writer == access.writer) {
      out += "  " + read;
    } else {
      out += "  " + paint.bad(read);
      notes +=
          fmt::format("  {:<{}}    {}\n", "", name_width,
                      paint.faint(fmt::format("in a serial run in this order, {} is {} from {}",
                                              key, shown_value(program, access.key, latest.value),
                                              shown_writer(program, latest.writer))));
    }
  }
  if (!txn.is_committed) out += paint.unsure("  aborts");
  return out + "\n" + notes;
}

// "  at the end  acct = 40 from bob[1]".
std::string finals_text(const Executable& program, const Recording& run) {
  std::string out;
  for (const store::FinalValue& each : run.finals)
    out += fmt::format("{}{} = {} from {}", out.empty() ? "  at the end  " : ", ",
                       shown_key(program, each.key), shown_value(program, each.key, each.value),
                       shown_writer(program, each.writer));
  return out + "\n";
}

std::string outcomes_text(const ExploreReport& report, const Paint& paint) {
  std::string out =
      fmt::format("\n{}\n", paint.strong(plural(report.outcomes->size(), "outcome", "outcomes")));
  for (const explore::ProgramOutcome& outcome : *report.outcomes) {
    const std::string_view strongest = outcome.levels.empty()
                                           ? std::string_view("none of the usual levels")
                                           : outcome.levels.back();
    out += fmt::format("  {} of {}, ", outcome.histories,
                       plural(report.all.histories, "history", "histories"));
    out += outcome.is_decided
               ? fmt::format("allowed up to {}", strongest == serializable_level().name
                                                     ? paint.good(strongest)
                                                     : paint.bad(strongest))
               : paint.unsure("not known up to which level");
    if (!outcome.failed_assertions.empty()) out += paint.bad("  an assertion fails");
    out += '\n';
    for (const CallId call : outcome.txns.ids()) {
      const RecordedTxn& txn = outcome.txns[call];
      if (txn.is_left_out) continue;
      const std::string locals = shown_locals(report.program, txn, call);
      out += fmt::format("    {}{}{}{}\n", shown_call(report.program, call),
                         txn.is_committed ? "" : " aborts", locals.empty() ? "" : ": ", locals);
    }
  }
  return out;
}

// Have all calls of this call's function the same answer?
bool agrees_with_its_function(const ExploreReport& report, CallId call) {
  const auto& calls = report.program.outline().calls;
  const explore::Weakest& weakest = *report.weakest;
  if (calls[call].function.empty()) return false;
  for (const CallId other : calls.ids()) {
    if (calls[other].function != calls[call].function) continue;
    if (weakest.mixed[other] != weakest.mixed[call] ||
        weakest.is_decided[other] != weakest.is_decided[call])
      return false;
  }
  return true;
}

// What is enough for each function, or for each call where the calls of a function differ.
std::string mixed_text(const ExploreReport& report, const Paint& paint) {
  const explore::Weakest& weakest = *report.weakest;
  if (weakest.mixed.empty()) return {};
  const auto& calls = report.program.outline().calls;
  std::string out = "enough for each transaction, beside the others:\n";
  std::set<std::string_view> told;
  for (const CallId call : calls.ids()) {
    if (agrees_with_its_function(report, call)) {
      if (!told.insert(calls[call].function).second) continue;
      out += fmt::format("  {}", printable(calls[call].function));
    } else {
      out += fmt::format("  {}  {}", shown_call(report.program, call), printable(calls[call].name));
    }
    out += fmt::format(" @{}", weakest.mixed[call]);
    if (!weakest.is_decided[call]) out += paint.unsure("  (perhaps weaker: not decided)");
    out += '\n';
  }
  return out;
}

// Does the answer rest on something that is not modelled, and no violation makes up for it?
bool is_unknown_by_gaps(const ExploreReport& report) {
  return !report.gaps.empty() && header_of(report).outcome == Outcome::Unknown;
}

std::string weakest_text(const ExploreReport& report, const Paint& paint) {
  const explore::Weakest& weakest = *report.weakest;
  std::string out;
  for (const explore::LevelTrial& trial : weakest.trials) {
    const bool holds = trial.outcome == explore::ExploreOutcome::Complete;
    const bool fails = trial.outcome == explore::ExploreOutcome::Violated;
    const std::string seen = trial.states ? plural(*trial.states, "state", "states")
                                          : plural(trial.histories, "history", "histories");
    const std::string found = holds
                                  ? fmt::format("{} in {}", paint.good("all assertions hold"), seen)
                              : fails ? paint.bad("an assertion fails")
                                      : paint.unsure("unknown");
    out += fmt::format("  {:<4} {}\n", trial.level, found);
  }
  if (weakest.is_out_of_time)
    out += fmt::format("{}: {} was reached before all {} were {}\n", paint.unsure("unknown"),
                       limit_reached(), weakest.is_minimal_known() ? "transactions" : "levels",
                       weakest.is_minimal_known() ? "decided" : "tried");
  if (weakest.minimal.empty()) {
    if (!weakest.is_out_of_time) out += "an assertion fails even at ser\n";
    return out;
  }
  std::string names;
  for (const std::string& level : weakest.minimal) names += (names.empty() ? "" : ", ") + level;
  out += fmt::format("{}: {}\n", weakest.is_minimal_known() ? "weakest" : "all assertions hold at",
                     paint.strong(names));
  return out + mixed_text(report, paint);
}

}  // namespace

std::string violation_text(const Executable& program, std::string_view source, const Recording& run,
                           const Paint& paint) {
  std::string out;
  for (const AssertionId number : run.failed_assertions()) {
    const FailedAssertion failed = program.assertion(number);
    out += fmt::format("{}: {}", paint.bad("fails"), printable(failed.text));
    if (failed.place.line != 0)
      out += "  " + paint.faint(fmt::format("{}:{}", printable(source), failed.place.line));
    out += '\n';
  }
  std::size_t width = 0;
  for (const CallId call : run.order) width = std::max(width, shown_call(program, call).size());
  SerialRun serial(program, run);
  for (const CallId call : run.order) {
    out += txn_line(program, run, call, width, serial, paint);
    serial.commit(call);
  }
  if (!run.finals.empty()) out += finals_text(program, run);
  const History h = store::to_history(program, run);
  Budget budget = Budget::seconds(5);
  const CheckAnswer answer = check(h, serializable_level(), budget);
  if (answer.verdict.violation) {
    out += fmt::format("  not serializable: {} ({})\n", explanation(h, *answer.verdict.violation),
                       common_name(answer.verdict.violation->anomaly));
  } else if (answer.verdict.outcome == Outcome::Consistent) {
    out += "  serializable: the assertion fails without any concurrency\n";
  }
  return out;
}

std::string explore_text(const ExploreReport& report, const Paint& paint) {
  if (report.weakest)
    return fmt::format("{}\n{}{}{}", paint.strong(printable(report.source)),
                       weakest_text(report, paint),
                       is_unknown_by_gaps(report)
                           ? paint.unsure("unknown: the program does what is not modelled") + "\n"
                           : "",
                       gaps_text(report.source, report.gaps, paint));
  const explore::Exploration& all = report.all;
  std::string out = fmt::format("{} at {}: ", paint.strong(printable(report.source)), report.level);
  if (all.outcome == explore::ExploreOutcome::Unknown) out += paint.unsure("unknown") + ", ";
  out += all.merging && all.merging->is_complete && !report.stopped_early
             ? plural(all.merging->states, "state", "states")
             : plural(all.histories, "history", "histories");
  if (report.stopped_early) {
    out += ", stopped at the first violated assertion";
  } else if (report.program.has_assertions()) {
    const bool is_complete = !all.is_out_of_time && report.gaps.empty();
    out += all.violating > 0 ? ", " + paint.bad(plural(all.violating, "violates an assertion",
                                                       "violate an assertion"))
           : is_complete     ? paint.good(", all assertions hold")
                             : ", no assertion fails in them";
  }
  if (all.is_out_of_time)
    out += paint.unsure(fmt::format(", and perhaps more: {} was reached", limit_reached()));
  if (is_unknown_by_gaps(report))
    out += paint.unsure(", unknown: the program does what is not modelled");
  out += fmt::format("\n{}\n", paint.faint(fmt::format(
                                   "{}; {}, {} blocked, {}, {:.2f} s", report.method,
                                   plural(all.end_states, "end state", "end states"), all.blocked,
                                   plural(all.calls, "call", "calls"), report.seconds)));
  out += gaps_text(report.source, report.gaps, paint);
  if (all.merging && !all.merging->is_complete)
    out += paint.faint("there were too many states to be merged: all histories were explored\n");
  for (const Recording& run : all.violations)
    out += "\n" + violation_text(report.program, report.source, run, paint);
  if (!report.stopped_early && all.violating > all.violations.size())
    out += fmt::format("\nand {} more\n", all.violating - all.violations.size());
  if (report.outcomes) out += outcomes_text(report, paint);
  return out;
}

}  // namespace isoscope
