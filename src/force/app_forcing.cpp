#include "force/app_forcing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "force/gates.h"
#include "spec/levels.h"
#include "sql/psql_lines.h"
#include "sql/server/level.h"
#include "sql/value.h"
#include "verdict/logic.h"

namespace isoscope::force {
namespace {

struct AppCall {
  std::string name;  // "alice[1]"
  std::size_t session = 0;
  std::string begin;
  std::string call;  // "SELECT withdraw(1, 60)"
};

// All words over the calls with these lengths and at most so many switches beyond one per call, in
// which a call begins when the one before it in its session has ended.
class Schedules {
 public:
  Schedules(const std::vector<AppCall>& calls, std::vector<std::size_t> lengths)
      : calls_(calls), left_(std::move(lengths)), lengths_(left_) {}

  // Those with exactly so many switches, up to `most`; false if there are more.
  bool with_switches(std::size_t switches, std::size_t most,
                     std::vector<std::vector<std::size_t>>& out) {
    out_ = &out;
    most_ = most;
    is_complete_ = true;
    current_.clear();
    extend(switches);
    return is_complete_;
  }

 private:
  bool may_go(std::size_t call) const {
    if (left_[call] == 0) return false;
    for (std::size_t other = 0; other < call; ++other)
      if (calls_[other].session == calls_[call].session && left_[other] > 0) return false;
    return true;
  }
  void extend(std::size_t switches) {
    if (!is_complete_) return;
    const bool is_over = std::ranges::all_of(left_, [](std::size_t n) { return n == 0; });
    if (is_over) {
      if (switches > 0) return;
      if (out_->size() == most_) {
        is_complete_ = false;
        return;
      }
      out_->push_back(current_);
      return;
    }
    for (std::size_t call = 0; call < left_.size(); ++call) {
      const bool is_switch = !current_.empty() && current_.back() != call;
      if (!may_go(call) || (is_switch && switches == 0)) continue;
      current_.push_back(call);
      --left_[call];
      extend(switches - (is_switch ? 1 : 0));
      ++left_[call];
      current_.pop_back();
    }
  }

  const std::vector<AppCall>& calls_;
  std::vector<std::size_t> left_;
  std::vector<std::size_t> lengths_;
  std::vector<std::vector<std::size_t>>* out_ = nullptr;
  std::size_t most_ = 0;
  bool is_complete_ = true;
  std::vector<std::size_t> current_;
};

class AppForcer {
 public:
  AppForcer(const sql::Application& app, const std::string& text, const AppForceOptions& options)
      : app_(app),
        text_(sql::without_psql_lines(text)),
        options_(options),
        budget_(options.budget),
        schema_(fmt::format("isoscope_force_{}", ::getpid())) {}
  ~AppForcer() {
    if (monitor_ != nullptr) monitor_->answer("DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
  }
  AppForcer(const AppForcer&) = delete;
  AppForcer& operator=(const AppForcer&) = delete;

  Result<AppForceAnswer> force() {
    if (auto found = find_calls(); !found) return found.error();
    auto monitor = PgMonitor::open(options_.dsn);
    if (!monitor) return monitor.error();
    monitor_ = std::move(*monitor);
    monitor_->answer("SET client_min_messages = warning");
    auto gated = with_gates(text_, schema_);
    if (!gated) return gated.error();
    gated_ = *gated;
    if (auto searched = search(); !searched) return searched.error();
    describe_calls();
    return std::move(result_);
  }

 private:
  Result<void> find_calls() {
    for (std::size_t s = 0; s < app_.sessions.size(); ++s) {
      const sql::SqlSession& session = app_.sessions[s];
      for (std::size_t i = 0; i < session.calls.size(); ++i) {
        const sql::SessionCall& call = session.calls[i];
        const std::string name = fmt::format("{}[{}]", session.name, i + 1);
        if (!options_.only.empty() && std::ranges::find(options_.only, name) == options_.only.end())
          continue;
        const sql::Function& function = app_.functions[call.function];
        const std::string level = !call.level.empty() ? call.level : function.level;
        const std::string isolation = level.empty() ? options_.isolation : sql_isolation(level);
        if (isolation.empty())
          return Error{.where = call.place,
                       .what = fmt::format("'{}' is no level of PostgreSQL", level),
                       .hint = "read-committed, repeatable-read and serializable are"};
        std::string arguments;
        for (const sql::Value& argument : call.arguments)
          arguments += (arguments.empty() ? "" : ", ") + sql::print(argument);
        calls_.push_back({.name = name,
                          .session = s,
                          .begin = "BEGIN ISOLATION LEVEL " + isolation,
                          .call = fmt::format("SELECT {}({})", function.name, arguments)});
      }
    }
    if (calls_.size() < 2)
      return Error{.what = "there are fewer than two calls to interleave",
                   .hint = "say which: -- session alice: withdraw(1, 60)"};
    if (calls_.size() > kMostCalls)
      return Error{.what = fmt::format("{} calls are too many to interleave; {} are the most",
                                       calls_.size(), kMostCalls)};
    return {};
  }

  // The schema, with the application in it as it was at the start.
  Result<void> load() {
    const std::string path = fmt::format("SET search_path = {}, public", schema_);
    for (const std::string& sql :
         {"DROP SCHEMA IF EXISTS " + schema_ + " CASCADE", "CREATE SCHEMA " + schema_,
          gate_function(schema_), path, gated_}) {
      const Answer answer = monitor_->answer(sql);
      if (!answer.has_failed()) continue;
      if (sql == gated_ && gated_ != text_) {
        // What the gates do to this text the server does not take: functions are then called whole.
        gated_ = text_;
        return load();
      }
      return Error{.what = fmt::format("the server refuses the application: {}", answer.message)};
    }
    return {};
  }

  // Plays calls in this order of connections; an index into `order` is an actor.
  Result<Run> play_calls(const std::vector<std::size_t>& order,
                         const std::vector<std::size_t>& turns) {
    if (auto loaded = load(); !loaded) return loaded.error();
    std::vector<ActorScript> actors;
    for (const std::size_t call : order)
      actors.push_back(
          {.name = calls_[call].name,
           .script = say_until_failure({calls_[call].begin + "; " + calls_[call].call, "COMMIT"}),
           .setup = {fmt::format("SET search_path = {}, public", schema_)}});
    Run run;
    {
      auto stage = PgSessions::open({.dsn = options_.dsn, .has_gates = true}, std::move(actors));
      if (!stage) return stage.error();
      auto played = play(**stage, {.turns = turns, .plays_rest = true}, budget_);
      if (!played) return played.error();
      run.played = std::move(*played);
      for (std::size_t a = 0; a < order.size(); ++a) run.answers.push_back((*stage)->answers(a));
    }
    auto tables = read_tables(*monitor_, unstable_);
    if (!tables) return tables.error();
    // The schema's name is ours, and so are tables elsewhere that nobody touched.
    for (auto& [name, table] : *tables)
      if (name.starts_with(schema_ + "."))
        run.tables[name.substr(schema_.size() + 1)] = std::move(table);
    return run;
  }

  static const Answer* call_answer(const std::vector<Answer>& answers) {
    // Gates, the call, COMMIT.
    for (const Answer& answer : answers)
      if (answer.tag != "gate") return &answer;
    return nullptr;
  }
  static bool has_committed(const std::vector<Answer>& answers) {
    return !answers.empty() && answers.back().tag == "COMMIT";
  }

  // The serial orders of the calls that committed.
  Result<std::shared_ptr<const std::vector<SerialRun>>> serial_runs(
      const std::vector<std::size_t>& committed) {
    auto& known = serial_[committed];
    if (known != nullptr) return known;
    auto runs = std::make_shared<std::vector<SerialRun>>();
    std::vector<std::size_t> order = committed;
    do {
      bool keeps_sessions = true;
      for (std::size_t i = 0; i < order.size(); ++i)
        for (std::size_t j = i + 1; j < order.size(); ++j)
          if (order[i] > order[j] && calls_[order[i]].session == calls_[order[j]].session)
            keeps_sessions = false;
      if (!keeps_sessions) continue;
      auto run = play_calls(order, {});
      if (!run) return run.error();
      SerialRun serial{.order = {}, .run = std::move(*run)};
      for (const std::size_t call : order) serial.order.push_back({.session = call});
      runs->push_back(std::move(serial));
    } while (std::ranges::next_permutation(order).found && !budget_.expired_now());
    if (unstable_.empty() && !runs->empty()) {
      std::vector<std::size_t> first;
      for (const Unit& unit : runs->front().order) first.push_back(unit.session);
      auto again = play_calls(first, {});
      if (!again) return again.error();
      SerialRun second{.order = runs->front().order, .run = std::move(*again)};
      if (!is_same(second.run, first, runs->front()))
        unstable_ = "the same serial order answers differently from run to run";
    }
    return known = runs;
  }

  // `order` says which call each of the run's actors is.
  bool is_same(const Run& run, const std::vector<std::size_t>& order,
               const SerialRun& serial) const {
    for (std::size_t i = 0; i < serial.order.size(); ++i) {
      const auto place = std::ranges::find(order, serial.order[i].session);
      const Answer* mine =
          call_answer(run.answers[static_cast<std::size_t>(place - order.begin())]);
      const Answer* theirs = call_answer(serial.run.answers[i]);
      if (mine == nullptr || theirs == nullptr || !same_answer(*mine, *theirs)) return false;
    }
    return run.tables == serial.run.tables;
  }

  bool breaks_sessions(const Played& played) const {
    std::vector<std::size_t> open(calls_.size(), 0);  // statements that are sent and not answered
    for (const Moment& moment : played.moments) {
      if (moment.kind == Moment::Kind::Answered) --open[moment.actor];
      if (moment.kind != Moment::Kind::Sent) continue;
      ++open[moment.actor];
      for (std::size_t other = 0; other < moment.actor; ++other)
        if (open[other] > 0 && calls_[other].session == calls_[moment.actor].session) return true;
    }
    return false;
  }

  Result<Forced> force_schedule(const std::vector<std::size_t>& schedule) {
    Forced forced{.permutation = {}, .sqlstates = {}};
    for (std::size_t call : schedule) forced.permutation.push_back({.session = call});
    std::vector<std::size_t> all(calls_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    auto run = play_calls(all, schedule);
    if (!run) return run.error();
    forced.runs = 1;
    forced.run = std::move(*run);
    std::vector<std::size_t> committed;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (has_committed(forced.run.answers[i])) committed.push_back(i);
      for (const Answer& answer : forced.run.answers[i])
        if (answer.has_failed()) forced.sqlstates.insert(answer.error);
    }
    forced.waits = static_cast<std::size_t>(
        std::ranges::count(forced.run.played.moments, Moment::Kind::Parked, &Moment::kind));
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
    if (!unstable_.empty()) {
      forced.why = unstable_;
      return forced;
    }
    const bool is_serial = std::ranges::any_of(
        **serial, [&](const SerialRun& one) { return is_same(forced.run, all, one); });
    forced.verdict = is_serial ? ForceVerdict::Prevented : ForceVerdict::Reproduced;
    forced.judgement.kind =
        is_serial ? Judgement::Kind::Serializable : Judgement::Kind::Unserializable;
    return forced;
  }

  Result<void> search() {
    // How many turns each call takes when it runs alone.
    std::vector<std::size_t> all(calls_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    auto alone = play_calls(all, {});
    if (!alone) return alone.error();
    std::vector<std::size_t> lengths;
    std::size_t turns = 0;
    for (const auto& answers : alone->answers) {
      lengths.push_back(std::max<std::size_t>(answers.size(), 1));
      turns += lengths.back();
    }
    Schedules schedules(calls_, lengths);
    std::size_t played = 0;
    for (std::size_t switches = calls_.size(); switches < turns; ++switches) {
      std::vector<std::vector<std::size_t>> next;
      const bool is_complete =
          schedules.with_switches(switches, options_.most_schedules - played, next);
      for (const auto& schedule : next) {
        if (budget_.expired_now()) return stop(played, limit_reached() + " was reached");
        if (options_.progress)
          options_.progress(fmt::format("playing: {} schedules so far", played), -1);
        auto forced = force_schedule(schedule);
        if (!forced) return forced.error();
        ++played;
        if (forced->verdict == ForceVerdict::Prevented) {
          keep_harmless(std::move(*forced));
          continue;
        }
        return decide(std::move(*forced));
      }
      if (!is_complete || played >= options_.most_schedules)
        return stop(played, "not every schedule was tried");
    }
    result_.answer.verdict = ForceVerdict::Prevented;
    if (first_) {
      first_->runs = played;
      result_.answer.forced.push_back(std::move(*first_));
    }
    return {};
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
  }

  Result<void> stop(std::size_t played, const std::string& why) {
    result_.answer.limit = fmt::format("{}: none of {} schedules went wrong", why, played);
    if (first_) {
      first_->runs = played;
      result_.answer.forced.push_back(std::move(*first_));
    }
    return {};
  }

  // The same schedule again, as often as asked.
  Result<void> decide(Forced forced) {
    result_.answer.verdict = forced.verdict;
    forced.reproduced = forced.verdict == ForceVerdict::Reproduced ? 1 : 0;
    std::vector<std::size_t> schedule;
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

  // The calls as sessions of a specification, with a step for each turn that was taken. Statement 0
  // of a session is its setup there, and there is none here: everything moves by one.
  void describe_calls() {
    for (const AppCall& call : calls_) {
      SpecSession session{.name = call.name, .setup = call.begin};
      std::size_t turns = 1;
      for (const Forced& forced : result_.answer.forced)
        turns = std::max(turns, forced.run.answers[result_.spec.sessions.size()].size());
      for (std::size_t i = 0; i < turns; ++i)
        session.steps.push_back({.name = fmt::format("{}.{}", call.name, i + 1),
                                 .sql = i == 0 ? call.call
                                        : i + 1 == turns
                                            ? std::string("COMMIT")
                                            : fmt::format("(its statement {})", i + 1)});
      result_.spec.sessions.push_back(std::move(session));
    }
    for (Forced& forced : result_.answer.forced) {
      std::vector<std::size_t> next(calls_.size(), 0);
      for (PermutationStep& p : forced.permutation)
        p.step = std::min(next[p.session]++, result_.spec.sessions[p.session].steps.size() - 1);
      shift(forced.run);
      if (forced.judgement.serial == nullptr) continue;
      auto shifted = std::make_shared<std::vector<SerialRun>>();
      for (const SerialRun& serial : *forced.judgement.serial) {
        SerialRun one{.order = serial.order, .run = {}};
        one.run.tables = serial.run.tables;
        one.run.answers.resize(calls_.size());
        for (std::size_t i = 0; i < serial.order.size(); ++i) {
          const Answer* answer = call_answer(serial.run.answers[i]);
          if (answer != nullptr) one.run.answers[serial.order[i].session] = {{}, *answer};
        }
        // What is compared is the call's own answer.
        for (Unit& unit : one.order) {
          unit.begin = call_place(forced.run.answers[unit.session]);
          unit.end = unit.begin + 1;
          auto& answers = one.run.answers[unit.session];
          if (!answers.empty()) answers.erase(answers.begin());
        }
        shifted->push_back(std::move(one));
      }
      forced.judgement.serial = shifted;
    }
  }
  static std::size_t call_place(const std::vector<Answer>& answers) {
    for (std::size_t i = 1; i < answers.size(); ++i)
      if (answers[i].tag != "gate") return i;
    return answers.size() - 1;
  }
  static void shift(Run& run) {
    for (auto& answers : run.answers) answers.insert(answers.begin(), Answer{});
    for (Moment& moment : run.played.moments) ++moment.statement;
  }

  static constexpr std::size_t kMostCalls = 6;

  const sql::Application& app_;
  std::string text_;
  std::string gated_;
  const AppForceOptions& options_;
  Budget budget_;
  std::string schema_;
  std::unique_ptr<PgMonitor> monitor_;
  std::vector<AppCall> calls_;
  std::map<std::vector<std::size_t>, std::shared_ptr<const std::vector<SerialRun>>> serial_;
  std::string unstable_;
  std::optional<Forced> first_;  // a schedule that went well
  AppForceAnswer result_;
};

// The level of the server that is made for a definition.
std::optional<sql::server::PgLevel> level_for(const Level& definition) {
  using sql::server::PgLevel;
  const auto logic = logic_of(definition);
  if (!logic) return std::nullopt;
  switch (*logic) {
    case Logic::Rc:
      return PgLevel::ReadCommitted;
    case Logic::Si:
      return PgLevel::RepeatableRead;
    case Logic::Ser:
      return PgLevel::Serializable;
    case Logic::True:
    case Logic::Ra:
    case Logic::Cc:
    case Logic::Pc:
    case Logic::Ua:
    case Logic::Psi:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::string sql_isolation(std::string_view level) {
  using sql::server::PgLevel;
  auto own = sql::server::find_pg_level(level);
  if (!own) {
    std::string name(level);
    std::ranges::replace_if(
        name, [](char c) { return c == ' ' || c == '_'; }, '-');
    if (const auto defined = LevelSet::built_in().find(name)) own = level_for(**defined);
  }
  if (!own) return {};
  switch (*own) {
    case PgLevel::ReadCommitted:
      return "READ COMMITTED";
    case PgLevel::RepeatableRead:
      return "REPEATABLE READ";
    case PgLevel::Serializable:
      return "SERIALIZABLE";
  }
  return {};
}

Result<AppForceAnswer> force_app(const sql::Application& app, const std::string& text,
                                 const AppForceOptions& options) {
  return AppForcer(app, text, options).force();
}

}  // namespace isoscope::force
