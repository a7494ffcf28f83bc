#include "force/app_forcing.h"

#include <fmt/format.h>

#include <algorithm>

#include "force/app_schedules.h"
#include "force/app_stage.h"
#include "sql/server/level.h"

namespace isoscope::force {
namespace {

constexpr int kMostRepetitions = 5;  // of a schedule that does not begin as it should

class AppForcer {
 public:
  AppForcer(AppStage stage, const AppForceOptions& options)
      : options_(options), budget_(options.budget), stage_(std::move(stage)) {}

  Result<AppForceAnswer> force() {
    if (auto searched = search(); !searched) return searched.error();
    describe_calls();
    return std::move(result_);
  }

 private:
  const AppCalls& calls() const { return stage_.calls(); }
  // Where all calls are played, call n is actor n; so it is in schedules and in what is told.
  CallOrder all_calls() const {
    CallOrder all;
    for (const AppCallId call : calls().ids()) all.push_back(call);
    return all;
  }
  static ActorId actor_of(AppCallId call) { return {call.index}; }
  const AppCall& call_of(ActorId actor) const { return calls()[{actor.index}]; }

  bool keeps_sessions(const std::vector<AppCallId>& order) const {
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t j = i + 1; j < order.size(); ++j)
        if (order[i] > order[j] && calls()[order[i]].session == calls()[order[j]].session)
          return false;
    return true;
  }

  // The serial orders of the calls that committed.
  Result<std::shared_ptr<const std::vector<SerialRun>>> serial_runs(const CallOrder& committed) {
    auto& known = serial_[committed.entries()];
    if (known != nullptr) return known;
    auto runs = std::make_shared<std::vector<SerialRun>>();
    CallOrder order = committed;
    do {
      if (!keeps_sessions(order.entries())) continue;
      auto run = stage_.play(order, {}, false, budget_);
      if (!run) return run.error();
      SerialRun serial{.order = {}, .run = std::move(*run)};
      for (const AppCallId call : order) serial.order.push_back({.session = actor_of(call)});
      runs->push_back(std::move(serial));
    } while (std::ranges::next_permutation(order.entries()).found && !budget_.expired_now());
    if (stage_.unstable.empty() && !runs->empty()) {
      CallOrder first;
      for (const Unit& unit : runs->front().order) first.push_back({unit.session.index});
      auto again = stage_.play(first, {}, false, budget_);
      if (!again) return again.error();
      SerialRun second{.order = runs->front().order, .run = std::move(*again)};
      if (!is_same(second.run, first, runs->front()))
        stage_.unstable = "the same serial order answers differently from run to run";
    }
    return known = runs;
  }

  // `order` says which call each of the run's actors is.
  bool is_same(const Run& run, const CallOrder& order, const SerialRun& serial) const {
    for (const ActorId other : serial.run.answers.ids()) {
      const AppCallId call{serial.order[other.index].session.index};
      const auto place = std::ranges::find(order, call) - order.begin();
      const Answer* mine = call_answer(run.answers[{static_cast<std::uint32_t>(place)}]);
      const Answer* theirs = call_answer(serial.run.answers[other]);
      if (mine == nullptr || theirs == nullptr || !same_answer(*mine, *theirs)) return false;
    }
    return run.tables == serial.run.tables;
  }

  bool breaks_sessions(const Played& played) const {
    ById<ActorId, std::size_t> open(calls().size(),
                                    0);  // statements that are sent and not answered
    for (const Moment& moment : played.moments) {
      if (moment.kind == Moment::Kind::Answered) --open[moment.actor];
      if (moment.kind != Moment::Kind::Sent) continue;
      ++open[moment.actor];
      for (const ActorId other : IdRange<ActorId>(0, moment.actor.index))
        if (open[other] > 0 && call_of(other).session == call_of(moment.actor).session) return true;
    }
    return false;
  }

  Result<Forced> force_schedule(const Turns& schedule) {
    Forced forced{.permutation = {}, .sqlstates = {}};
    const CallOrder all = all_calls();
    auto run = stage_.play(all, schedule, true, budget_);
    if (!run) return run.error();
    forced.runs = 1;
    forced.run = std::move(*run);
    for (const ActorId actor : turns_taken(forced.run.played))
      forced.permutation.push_back({.session = actor});
    CallOrder committed;
    for (const ActorId actor : all.ids()) {
      if (has_committed(forced.run.answers[actor])) committed.push_back(all[actor]);
      for (const GateNotice& notice : notices_of(forced.run.answers[actor]))
        has_run_out_of_gates_ |= notice.turn.index >= static_cast<std::uint32_t>(kGatesOfACall);
    }
    for (const AppCallId call : committed) has_committed_[call] = true;
    describe(forced);
    if (forced.run.played.end != Played::End::Complete) {
      forced.why = forced.run.played.end == Played::End::Limit ? limit_reached() + " was reached"
                                                               : "the calls wait for each other";
      return forced;
    }
    // A call that waits lets the next one of its session begin, which no client does; the same
    // steps in the right order are another schedule.
    if (breaks_sessions(forced.run.played)) {
      forced.verdict = ForceVerdict::Prevented;
      return forced;
    }
    auto serial = serial_runs(committed);
    if (!serial) return serial.error();
    forced.judgement.serial = *serial;
    if (!stage_.unstable.empty()) {
      forced.judgement.why = stage_.unstable;
    } else if (budget_.expired_now()) {
      forced.judgement.why = limit_reached() + " was reached";
    } else {
      const bool is_serial = std::ranges::any_of(
          **serial, [&](const SerialRun& one) { return is_same(forced.run, all, one); });
      forced.judgement.kind =
          is_serial ? Judgement::Kind::Serializable : Judgement::Kind::Unserializable;
    }
    forced.verdict = weigh(forced.run, forced.judgement, forced.why);
    forced.is_judged_by_history = forced.run.recorded.kind != RecordedRun::Kind::Unknown;
    return forced;
  }

  // How the run was kept in order: what failed, what waited, what looked again.
  void describe(Forced& forced) const {
    for (const ActorId i : forced.run.answers.ids()) {
      for (const Answer& answer : forced.run.answers[i])
        if (answer.has_failed()) forced.sqlstates.insert(answer.error);
      const std::vector<GateNotice> notices = notices_of(forced.run.answers[i]);
      for (const Moment& moment : forced.run.played.moments) {
        if (moment.actor != i || moment.kind != Moment::Kind::Parked) continue;
        ++forced.waits;
        const auto waited = std::ranges::find(notices, moment.statement, &GateNotice::turn);
        if (waited != notices.end() && waited->rows == 0) ++forced.rechecked;
      }
    }
  }

  Result<void> search() {
    ById<ActorId, AppSessionId> sessions;
    for (const AppCall& call : calls()) sessions.push_back(call.session);
    AppSchedules schedules(std::move(sessions));
    has_committed_.assign(calls().size(), false);
    std::size_t played = 0;
    std::string left_out;  // why not all of them were
    for (std::size_t tried = 0;; ++tried) {
      const auto beginning = schedules.next();
      if (!beginning) break;
      if (budget_.expired_now()) return stop(played, limit_reached() + " was reached");
      if (tried >= options_.most_schedules) return stop(played, "not every schedule was tried");
      if (options_.progress)
        options_.progress(fmt::format("playing: {} schedules so far", played), -1);
      bool is_repeated = false;
      for (int attempt = 0; attempt < kMostRepetitions && !is_repeated; ++attempt) {
        auto forced = force_schedule(*beginning);
        if (!forced) return forced.error();
        if (forced->verdict != ForceVerdict::Prevented) return decide(std::move(*forced));
        is_repeated = schedules.note(*beginning, forced->run.played);
        if (forced->judgement.serial != nullptr) ++played;
        keep_harmless(std::move(*forced));
      }
      if (!is_repeated)
        left_out =
            "not every schedule was tried, since the server takes another victim of a deadlock "
            "each time";
    }
    if (left_out.empty()) left_out = not_played();
    if (left_out.empty()) {
      auto failed = failure_by_itself();
      if (!failed) return failed.error();
      left_out = std::move(*failed);
    }
    if (!left_out.empty()) return stop(played, left_out);
    result_.answer.verdict = ForceVerdict::Prevented;
    keep_first(played);
    return {};
  }

  // Why schedules that a server can have cannot be played with these gates; empty if there are
  // none.
  std::string not_played() const {
    if (has_run_out_of_gates_)
      return fmt::format("a call has more than {} statements, and the further ones have no gate",
                         kGatesOfACall);
    for (const AppCall& call : calls()) {
      const auto known = stage_.gated().ungated.find(call.function);
      if (known == stage_.gated().ungated.end())
        return "the functions run without gates: " + stage_.no_record();
      const Ungated& ungated = known->second;
      if (ungated.why.empty() ||
          (ungated.only_reads &&
           call.isolation != sql_words_of(sql::server::PgLevel::ReadCommitted)))
        continue;
      return fmt::format("not every schedule can be played, in function {}: {}", call.function,
                         ungated.why);
    }
    return {};
  }

  // A call that fails in every schedule, and also when its session is alone, prevents nothing.
  Result<std::string> failure_by_itself() {
    for (const AppCallId call : calls().ids()) {
      if (has_committed_[call]) continue;
      CallOrder alone;
      for (const AppCallId other : IdRange<AppCallId>(0, call.index + 1))
        if (calls()[other].session == calls()[call].session) alone.push_back(other);
      auto run = stage_.play(alone, {}, false, budget_);
      if (!run) return run.error();
      const Answers& answers = run->answers.back();
      if (has_committed(answers)) continue;
      const Answer* failed = call_answer(answers);
      return fmt::format("call {} fails also when its session is alone{}", calls()[call].name,
                         failed == nullptr || !failed->has_failed()
                             ? ""
                             : fmt::format(", with {}: {}", failed->error, failed->message));
    }
    return std::string();
  }

  // One schedule that went well stands for all; what kept them in order is told of all.
  void keep_harmless(Forced forced) {
    if (forced.judgement.serial == nullptr) return;
    if (!first_) {
      first_ = std::move(forced);
      return;
    }
    first_->sqlstates.insert(forced.sqlstates.begin(), forced.sqlstates.end());
    first_->waits += forced.waits;
    first_->rechecked += forced.rechecked;
    first_->is_judged_by_history &= forced.is_judged_by_history;
  }
  void keep_first(std::size_t played) {
    if (!first_) return;
    first_->runs = first_->prevented = played;
    result_.answer.forced.push_back(std::move(*first_));
  }

  Result<void> stop(std::size_t played, const std::string& why) {
    result_.answer.limit = fmt::format("{}; none of {} schedules went wrong", why, played);
    keep_first(played);
    return {};
  }

  // The same schedule again, as often as asked.
  Result<void> decide(Forced forced) {
    result_.answer.verdict = forced.verdict;
    forced.reproduced = forced.verdict == ForceVerdict::Reproduced ? 1 : 0;
    Turns schedule;
    for (const PermutationStep& p : forced.permutation) schedule.push_back(p.session);
    while (forced.reproduced > 0 && forced.runs < options_.times && !budget_.expired_now()) {
      auto again = force_schedule(schedule);
      if (!again) return again.error();
      ++forced.runs;
      if (again->verdict == ForceVerdict::Reproduced) ++forced.reproduced;
    }
    result_.answer.forced.push_back(std::move(forced));
    return {};
  }

  // What a call does in its turns, as it was executed.
  ById<StepId, SpecStep> steps_of_call(AppCallId call) const {
    std::map<StatementId, SpecStep> told;  // by turn
    std::size_t turns = 1;
    for (const Forced& forced : result_.answer.forced) {
      const Answers& answers = forced.run.answers[actor_of(call)];
      turns = std::max(turns, answers.size());
      for (const GateNotice& notice : notices_of(answers)) {
        const InnerStatement& inner =
            stage_.gated().statements.entries().at(notice.statement.index);
        SpecStep& step = told[notice.turn];
        if (step.sql.empty()) step.place = {inner.line, 1};
        step.sql += (step.sql.empty() ? "" : "; ") + executed(inner, notice);
      }
    }
    ById<StepId, SpecStep> steps;
    for (std::uint32_t i = 0; i < turns; ++i) {
      SpecStep step = i + 1 == turns ? SpecStep{.name = {}, .sql = "COMMIT"} : told[{i}];
      step.name = fmt::format("{}.{}", calls()[call].name, i + 1);
      if (i == 0 && turns > 1)
        step.sql = calls()[call].call + (step.sql.empty() ? "" : ": " + step.sql);
      steps.push_back(std::move(step));
    }
    return steps;
  }

  // The calls as sessions of a specification, with a step for each turn that was taken. Statement 0
  // of a session is its setup there, and there is none here: everything moves by one.
  void describe_calls() {
    for (const AppCallId call : calls().ids())
      result_.spec.sessions.push_back({.name = calls()[call].name,
                                       .setup = calls()[call].begin(),
                                       .steps = steps_of_call(call)});
    for (Forced& forced : result_.answer.forced) {
      ById<ActorId, std::uint32_t> next(calls().size(), 0);
      for (PermutationStep& p : forced.permutation) {
        const auto& steps = result_.spec.sessions[p.session].steps;
        p.step = std::min(StepId{next[p.session]++}, steps.ids().back());
      }
      shift(forced.run);
      if (forced.judgement.serial == nullptr) continue;
      auto shifted = std::make_shared<std::vector<SerialRun>>();
      for (const SerialRun& serial : *forced.judgement.serial) {
        SerialRun one{.order = serial.order, .run = {}};
        one.run.tables = serial.run.tables;
        one.run.answers.resize(calls().size());
        for (const ActorId i : serial.run.answers.ids()) {
          const Answer* answer = call_answer(serial.run.answers[i]);
          if (answer != nullptr)
            one.run.answers[serial.order[i.index].session] = {Answer{}, *answer};
        }
        // What is compared is the call's own answer.
        for (Unit& unit : one.order) {
          unit.begin = call_place(forced.run.answers[unit.session]);
          unit.end = {unit.begin.index + 1};
          auto& answers = one.run.answers[unit.session].entries();
          if (!answers.empty()) answers.erase(answers.begin());
        }
        shifted->push_back(std::move(one));
      }
      forced.judgement.serial = shifted;
    }
  }
  static StatementId call_place(const Answers& answers) {
    for (const StatementId i : answers.ids())
      if (i.index > 0 && answers[i].tag != "gate") return i;
    return answers.ids().back();
  }
  static void shift(Run& run) {
    for (Answers& answers : run.answers) answers.entries().insert(answers.begin(), Answer{});
    for (Moment& moment : run.played.moments) ++moment.statement;
  }

  const AppForceOptions& options_;
  Budget budget_;
  AppStage stage_;
  // By the calls that committed.
  std::map<std::vector<AppCallId>, std::shared_ptr<const std::vector<SerialRun>>> serial_;
  std::optional<Forced> first_;          // a schedule that went well
  ById<AppCallId, bool> has_committed_;  // in some schedule
  bool has_run_out_of_gates_ = false;
  AppForceAnswer result_;
};

}  // namespace

Result<AppForceAnswer> force_app(const sql::Application& app, const std::string& text,
                                 const AppForceOptions& options) {
  auto calls = calls_of_app(app, options.isolation, options.only);
  if (!calls) return calls.error();
  if (calls->size() < 2)
    return Error{.what = "there are fewer than two calls to interleave",
                 .hint = "say which: -- session alice: withdraw(1, 60)"};
  if (calls->size() > static_cast<std::size_t>(kMostGatedActors))
    return Error{.what = fmt::format("{} calls are too many to interleave; {} are the most",
                                     calls->size(), kMostGatedActors)};
  auto stage = AppStage::open(options.dsn, text, std::move(*calls));
  if (!stage) return stage.error();
  return AppForcer(std::move(*stage), options).force();
}

}  // namespace isoscope::force
