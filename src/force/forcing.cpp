#include "force/forcing.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/sqlstates.h"

namespace isoscope::force {
namespace {

// How the run was kept in order: what failed, what waited, what looked again.
void describe_run(Forced& forced) {
  const Run& run = forced.run;
  for (const Answers& answers : run.answers)
    for (const Answer& answer : answers)
      if (answer.has_failed() && answer.error != sql::kInFailedTransaction)
        forced.sqlstates.insert(answer.error);
  for (const Moment& moment : run.played.moments) {
    if (moment.kind != Moment::Kind::Parked) continue;
    ++forced.waits;
    if (!run.answers[moment.actor].contains(moment.statement)) continue;
    const Answer& answer = run.answers[moment.actor][moment.statement];
    if (!answer.has_failed() && answer.affected == 0) ++forced.rechecked;
  }
}

// Did the sessions leave the steps of the permutation? Says why.
std::string divergence(const Run& run, const Judgement& judgement) {
  const bool is_short = std::ranges::find(run.played.moments, Moment::Kind::Forfeited,
                                          &Moment::kind) != run.played.moments.end();
  if (is_short) return "a session ended before its steps were used up";
  return run.played.end == Played::End::Stuck ? judgement.why : std::string();
}

Result<ForceVerdict> verdict_of(Experiment& experiment, const Run& run, const Judgement& judgement,
                                Budget& budget, std::string& why) {
  why = divergence(run, judgement);
  if (!why.empty()) return ForceVerdict::Diverged;
  const ForceVerdict verdict = weigh(run, judgement, why);
  if (verdict != ForceVerdict::Prevented) return verdict;
  auto flaw = experiment.failure_by_itself(run, budget);
  if (!flaw) return flaw.error();
  why = std::move(*flaw);
  return why.empty() ? ForceVerdict::Prevented : ForceVerdict::Unknown;
}

Result<void> force_one(Experiment& experiment, std::size_t times, Budget& budget, Forced& forced) {
  for (; forced.runs < times && !budget.expired_now(); ++forced.runs) {
    auto run = experiment.run(forced.permutation, budget);
    if (!run) return run.error();
    auto judgement = experiment.judge(*run, budget);
    if (!judgement) return judgement.error();
    std::string why;
    const auto judged = verdict_of(experiment, *run, *judgement, budget, why);
    if (!judged) return judged.error();
    const ForceVerdict verdict = *judged;
    if (verdict == ForceVerdict::Prevented) ++forced.prevented;
    if (verdict == ForceVerdict::Reproduced) ++forced.reproduced;
    if (forced.runs > 0 && weight_of(verdict) <= weight_of(forced.verdict)) continue;
    forced.verdict = verdict;
    forced.why = why;
    forced.is_judged_by_history = run->recorded.kind != RecordedRun::Kind::Unknown;
    forced.run = std::move(*run);
    forced.judgement = std::move(*judgement);
  }
  describe_run(forced);
  return {};
}

}  // namespace

std::string_view name_of(ForceVerdict verdict) {
  switch (verdict) {
    case ForceVerdict::Reproduced: return "reproduced";
    case ForceVerdict::Prevented: return "prevented";
    case ForceVerdict::Diverged: return "diverged";
    case ForceVerdict::Unknown: return "unknown";
  }
  return "unknown";
}

int weight_of(ForceVerdict verdict) {
  switch (verdict) {
    case ForceVerdict::Reproduced: return 3;
    case ForceVerdict::Unknown: return 2;
    case ForceVerdict::Diverged: return 1;
    case ForceVerdict::Prevented: return 0;
  }
  return 0;
}

ForceVerdict weigh(const Run& run, const Judgement& judgement, std::string& why) {
  // The recorded history is the judge.
  switch (run.recorded.kind) {
    case RecordedRun::Kind::Unserializable: return ForceVerdict::Reproduced;
    case RecordedRun::Kind::Serializable:
      if (judgement.kind != Judgement::Kind::Unserializable) return ForceVerdict::Prevented;
      why =
          "the recorded history is serializable, but no serial order gives the same answers and "
          "rows";
      return ForceVerdict::Unknown;
    case RecordedRun::Kind::Unknown: break;
  }
  switch (judgement.kind) {
    case Judgement::Kind::Unserializable: return ForceVerdict::Reproduced;
    case Judgement::Kind::Serializable: return ForceVerdict::Prevented;
    case Judgement::Kind::Unknown: why = judgement.why; return ForceVerdict::Unknown;
  }
  return ForceVerdict::Unknown;
}

Result<ForceAnswer> force_spec(const Spec& spec, const ForceOptions& options) {
  auto experiment = Experiment::open(spec, options.dsn);
  if (!experiment) return experiment.error();
  ForceAnswer answer;
  bool is_complete = true;
  std::vector<Permutation> permutations = spec.permutations;
  if (permutations.empty()) permutations = all_permutations(spec, options.most, is_complete);
  if (!is_complete)
    answer.limit = fmt::format("only the first {} orders of steps were played", options.most);
  Budget budget = options.budget;
  for (std::size_t i = 0; i < permutations.size(); ++i) {
    if (budget.expired_now()) {
      answer.limit = fmt::format("{} was reached after {} of {} orders of steps", limit_reached(),
                                 i, permutations.size());
      break;
    }
    if (options.progress)
      options.progress(fmt::format("playing {} orders of steps, {} reproduced", permutations.size(),
                                   std::ranges::count(answer.forced, ForceVerdict::Reproduced,
                                                      &Forced::verdict)),
                       static_cast<double>(i) / static_cast<double>(permutations.size()));
    Forced forced{.permutation = permutations[i], .sqlstates = {}};
    if (auto done = force_one(*experiment, options.times, budget, forced); !done)
      return done.error();
    const bool is_found = forced.verdict == ForceVerdict::Reproduced;
    if (forced.runs < options.times)
      answer.limit = fmt::format("{} was reached after {} of {} runs of an order of steps",
                                 limit_reached(), forced.runs, options.times);
    if (forced.runs > 0) answer.forced.push_back(std::move(forced));
    if (is_found && options.stops_at_first) break;
  }
  const auto has = [&](ForceVerdict verdict) {
    return std::ranges::find(answer.forced, verdict, &Forced::verdict) != answer.forced.end();
  };
  if (has(ForceVerdict::Reproduced)) {
    answer.verdict = ForceVerdict::Reproduced;
  } else if (!answer.limit.empty() || has(ForceVerdict::Unknown) || answer.forced.empty()) {
    answer.verdict = ForceVerdict::Unknown;
  } else {
    answer.verdict = has(ForceVerdict::Diverged) ? ForceVerdict::Diverged : ForceVerdict::Prevented;
  }
  return answer;
}

}  // namespace isoscope::force
