#include "force/command_forcing.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <numeric>

namespace isoscope::force {
namespace {

// Errors that come of others at work: serialization failures and deadlocks, constraints, locks.
bool is_by_concurrency(const std::string& sqlstate) {
  return sqlstate.starts_with("40") || sqlstate.starts_with("23") || sqlstate == "55P03" ||
         sqlstate == "25P02";
}

constexpr auto kCleaningTime = std::chrono::seconds(10);

std::string shown_step(const RequestStep& step) {
  if (step.ends) return "the end of its transaction";
  return step.shape.empty() ? "a statement" : step.shape;
}

bool fits(const RequestStep& planned, const RequestStep& happened) {
  if (planned.ends != happened.ends) return false;
  return planned.ends || planned.shape.empty() || planned.shape == happened.shape;
}

// The first step of a session that is not the planned one.
std::optional<Departure> departure_of(const CommandPlan& plan, const CommandRun& run) {
  for (std::size_t s = 0; s < plan.sessions.size(); ++s) {
    const std::vector<RequestStep> planned = plan.steps_of_session(s);
    std::size_t i = 0;
    bool is_explained = false;
    const auto left = [&](std::string happened) {
      return Departure{.session = s,
                       .step = i + 1,
                       .planned = shown_step(planned[i]),
                       .happened = std::move(happened),
                       .is_explained = is_explained};
    };
    for (const SentRequest& request : run.sent[s]) {
      for (const RequestStep& step : request.steps) {
        if (i == planned.size()) break;
        if (!fits(planned[i], step)) return left(shown_step(step));
        ++i;
      }
      is_explained |= request.has_waited || is_by_concurrency(request.error);
    }
    if (i < planned.size()) return left("the command ended");
  }
  return std::nullopt;
}

// A command that is neither held nor recorded: it speaks to the server itself.
// `is_over_time`: it must end now.
Result<void> run_beside(const std::string& text, const record::ConnectionString& dsn,
                        const std::function<bool()>& is_over_time) {
  auto environment = record::client_environment(dsn, dsn.server.host, dsn.server.port);
  if (dsn.server.is_socket_folder()) {
    // A folder is no host of a URL; libpq takes the rest from the variables.
    for (auto& [name, value] : environment)
      if (name == "DATABASE_URL") value = "postgresql://";
  }
  const int output = static_cast<int>(::memfd_create("isoscope-output", MFD_CLOEXEC));
  auto process = record::CommandProcess::start({"/bin/sh", "-c", text}, environment,
                                               {.has_own_group = true, .output = output});
  while (process && !process->exit_code() && !is_over_time()) ::poll(nullptr, 0, 2);
  std::string printed(4096, '\0');
  const ssize_t size = ::pread(output, printed.data(), printed.size(), 0);
  printed.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  ::close(output);
  if (!process) return process.error();
  const bool is_over = process->exit_code().has_value();
  process->send(SIGKILL);
  while (!process->exit_code()) ::poll(nullptr, 0, 1);
  if (is_over && *process->exit_code() == 0) return {};
  while (printed.ends_with('\n')) printed.pop_back();
  return Error{.what = is_over
                           ? fmt::format("'{}' ended with {}", text, *process->exit_code())
                           : fmt::format("'{}' was ended: {} was reached", text, limit_reached()),
               .hint = printed,
               .is_limit = !is_over};
}

class CommandForcing {
 public:
  CommandForcing(const CommandPlan* plan, const CommandForceOptions& options)
      : plan_(plan), options_(options), budget_(options.budget) {}

  Result<CommandForceAnswer> force() {
    if (is_repeatable())
      if (auto played = play_serial_orders(); !played) return played.error();
    if (plan_ == nullptr) {
      if (auto all = play_all_orders(); !all) return all.error();
    } else {
      if (auto planned = play_plan(); !planned) return planned.error();
      const bool has_left = answer_.verdict == ForceVerdict::Diverged && answer_.run.departure;
      if (has_left && is_repeatable())
        if (auto all = play_all_orders(); !all) return all.error();
    }
    describe();
    answer_.witness = witness_of(answer_.run);
    answer_.is_judged_by_history = answer_.run.recorded.kind != RecordedRun::Kind::Unknown;
    return std::move(answer_);
  }

 private:
  bool is_repeatable() const { return !options_.setup.empty(); }

  std::vector<HeldCommand> commands(bool follows_plan) const {
    std::vector<HeldCommand> commands;
    for (std::size_t s = 0; s < options_.commands.size(); ++s) {
      HeldCommand command{.name = options_.commands[s].session, .text = options_.commands[s].text};
      if (follows_plan) {
        const auto steps = plan_->steps_of_session(s);
        if (!steps.empty()) command.begins_with = steps.front().shape;
      }
      commands.push_back(std::move(command));
    }
    return commands;
  }

  Result<void> prepare() {
    if (options_.setup.empty()) return {};
    return run_beside(options_.setup, options_.dsn, [this] { return budget_.expired_now(); });
  }
  Result<void> clean_up() {
    if (options_.teardown.empty()) return {};
    // What was set up is cleaned up, also when the time is over or somebody interrupts.
    const auto end = Budget::Clock::now() + kCleaningTime;
    return run_beside(options_.teardown, options_.dsn,
                      [end] { return Budget::Clock::now() > end; });
  }

  Result<void> gather(HeldCommands& stage, CommandRun& run, bool is_judged) {
    stage.close();
    for (std::size_t s = 0; s < stage.size(); ++s) {
      run.sent.push_back(stage.sent(s));
      run.turns.push_back(stage.turns(s));
      run.exit_codes.push_back(stage.exit_code(s).value_or(-1));
      run.outputs.push_back(stage.output(s));
    }
    run.choices = stage.choices();
    if (is_judged) run.recorded = stage.judge(budget_);
    if (!is_repeatable()) return {};
    auto monitor = PgMonitor::open(options_.dsn.text);
    if (!monitor) return monitor.error();
    auto tables = read_tables(**monitor, table_limit_);
    if (!tables) return tables.error();
    run.tables = std::move(*tables);
    return {};
  }

  // One run. `turns`: as far as they are given; the rest is played session by session.
  Result<CommandRun> run_once(const std::vector<std::size_t>& turns, bool follows_plan) {
    if (auto prepared = prepare(); !prepared) return prepared.error();
    auto stage =
        HeldCommands::open({.dsn = options_.dsn, .gives_credit = follows_plan, .budget = budget_},
                           commands(follows_plan));
    if (!stage) return stage.error();
    CommandRun run;
    if (auto started = (*stage)->start(budget_); !started) {
      run.trouble = started.error().what;
    } else {
      auto played = play(**stage, {.turns = turns, .plays_rest = true}, budget_);
      if (!played) return played.error();
      run.played = std::move(*played);
      if (run.played.end == Played::End::Limit) run.trouble = limit_reached() + " was reached";
      if (run.played.end == Played::End::Stuck)
        run.trouble = "a statement waits for a session that has no further one";
    }
    if (auto gathered = gather(**stage, run, true); !gathered) return gathered.error();
    if (auto cleaned = clean_up(); !cleaned) return cleaned.error();
    if (follows_plan) run.departure = departure_of(*plan_, run);
    return run;
  }

  ForceVerdict verdict_of(const CommandRun& run, std::string& why) const {
    if (run.recorded.kind == RecordedRun::Kind::Unserializable) return ForceVerdict::Reproduced;
    if (!run.trouble.empty()) {
      why = run.trouble;
      return run.played.end == Played::End::Limit ? ForceVerdict::Unknown : ForceVerdict::Diverged;
    }
    if (run.departure && !run.departure->is_explained) {
      const Departure& left = *run.departure;
      const std::string& name = plan_->sessions[left.session];
      why =
          run.sent[left.session].empty()
              ? fmt::format("session {} never came to the statement that the plan begins with: {}",
                            name, left.planned)
              : fmt::format(
                    "step {} of session {} is not the planned one: planned was {}, there "
                    "came {}",
                    left.step, name, left.planned, left.happened);
      return ForceVerdict::Diverged;
    }
    if (why = flaw_of(run); !why.empty()) return ForceVerdict::Unknown;
    return weighed(run, why);
  }

  // Why a run that went well says nothing: a command that does not do its work cannot go wrong.
  std::string flaw_of(const CommandRun& run) const {
    for (std::size_t s = 0; s < run.sent.size(); ++s) {
      const std::string& name = options_.commands[s].session;
      if (run.sent[s].empty()) return fmt::format("session {} sent no statement", name);
      for (const SentRequest& request : run.sent[s])
        if (!request.error.empty() && !is_by_concurrency(request.error))
          return fmt::format("a statement of session {} failed with {}: {}", name, request.error,
                             request.text);
    }
    return {};
  }

  // The history is the judge. Where there is none, the serial orders are; and a run that is
  // serializable by its history, but ends as no serial order does, was not recorded whole.
  ForceVerdict weighed(const CommandRun& run, std::string& why) const {
    const Judgement::Kind witness = witness_of(run);
    const bool is_recorded = run.recorded.kind == RecordedRun::Kind::Serializable;
    switch (witness) {
      case Judgement::Kind::Serializable:
        return ForceVerdict::Prevented;
      case Judgement::Kind::Unserializable:
        if (!is_recorded) return ForceVerdict::Reproduced;
        why = "the recorded history is serializable, but no serial order of the commands ends so";
        return ForceVerdict::Unknown;
      case Judgement::Kind::Unknown:
        break;
    }
    if (is_recorded) return ForceVerdict::Prevented;
    why = run.recorded.why;
    return ForceVerdict::Unknown;
  }

  // What the serial orders of the commands say. A command whose statement failed is none of a
  // serial order's.
  Judgement::Kind witness_of(const CommandRun& run) const {
    if (answer_.serial.empty() || !answer_.no_witness.empty() || !run.trouble.empty())
      return Judgement::Kind::Unknown;
    const bool is_serial = std::ranges::any_of(answer_.serial, [&](const SerialCommands& serial) {
      return same_commands(run, serial.run, has_stable_outputs_);
    });
    if (is_serial) return Judgement::Kind::Serializable;
    const bool has_failed = std::ranges::any_of(run.sent, [](const auto& requests) {
      return std::ranges::any_of(requests, [](const SentRequest& r) { return !r.error.empty(); });
    });
    return has_failed ? Judgement::Kind::Unknown : Judgement::Kind::Unserializable;
  }

  // Keeps the run if it is the first, or the first that is reproduced.
  ForceVerdict take(CommandRun run) {
    std::string why;
    const ForceVerdict verdict = verdict_of(run, why);
    ++answer_.runs;
    const bool is_news = verdict == ForceVerdict::Reproduced && answer_.reproduced++ == 0;
    if (answer_.runs > 1 && !is_news) return verdict;
    answer_.verdict = verdict;
    answer_.why = std::move(why);
    answer_.run = std::move(run);
    return verdict;
  }

  Result<void> play_plan() {
    std::vector<std::size_t> turns;
    for (const CommandPlan::Step& step : plan_->steps) turns.push_back(step.session);
    for (std::size_t i = 0; i < options_.times && !budget_.expired_now(); ++i) {
      if (options_.progress)
        options_.progress("forcing", static_cast<double>(i) / static_cast<double>(options_.times));
      auto run = run_once(turns, true);
      if (!run) return run.error();
      take(std::move(*run));
      if (i > 0 && !is_repeatable()) break;
    }
    return {};
  }

  // Depth first: at the last choice at which somebody else could have had the turn, he has it.
  static bool next_order(const std::vector<Choice>& choices, std::vector<std::size_t>& turns) {
    for (std::size_t i = choices.size(); i-- > 0;) {
      const auto other = std::ranges::upper_bound(choices[i].ready, choices[i].chosen);
      if (other == choices[i].ready.end()) continue;
      turns.clear();
      for (std::size_t j = 0; j < i; ++j) turns.push_back(choices[j].chosen);
      turns.push_back(*other);
      return true;
    }
    return false;
  }

  Result<void> play_all_orders() {
    std::vector<std::size_t> turns;
    bool is_complete = false;
    ForceVerdict worst = ForceVerdict::Prevented;
    std::string worst_why;
    CommandRun first;
    while (answer_.orders < options_.most_orders && !budget_.expired_now()) {
      if (options_.progress) options_.progress("playing every order", -1);
      auto run = run_once(turns, false);
      if (!run) return run.error();
      ++answer_.orders;
      ++answer_.runs;
      const std::vector<Choice> choices = run->choices;
      std::string why;
      const ForceVerdict verdict = verdict_of(*run, why);
      if (verdict == ForceVerdict::Reproduced) {
        ++answer_.reproduced;
        return keep(std::move(*run), verdict, {});
      }
      if (verdict != ForceVerdict::Prevented && worst == ForceVerdict::Prevented) {
        worst = verdict;
        worst_why = why;
        first = std::move(*run);
      } else if (answer_.orders == 1) {
        first = std::move(*run);
      } else if (worst == ForceVerdict::Prevented && is_telling(*run) && !is_telling(first)) {
        first = std::move(*run);
      }
      is_complete = !next_order(choices, turns);
      if (is_complete) break;
    }
    if (!is_complete && worst == ForceVerdict::Prevented)
      return keep(std::move(first), ForceVerdict::Unknown,
                  fmt::format("only {} orders of the statements were played", answer_.orders));
    return keep(std::move(first), worst, worst_why);
  }

  // Did something fail or wait in it?
  static bool is_telling(const CommandRun& run) {
    return std::ranges::any_of(run.sent, [](const auto& requests) {
      return std::ranges::any_of(requests, [](const SentRequest& request) {
        return request.has_waited || !request.error.empty();
      });
    });
  }

  Result<void> keep(CommandRun run, ForceVerdict verdict, std::string why) {
    answer_.run = std::move(run);
    answer_.verdict = verdict;
    answer_.why = std::move(why);
    return {};
  }

  void describe() {
    for (const auto& requests : answer_.run.sent) {
      for (const SentRequest& request : requests) {
        if (!request.error.empty() && request.error != "25P02")
          answer_.sqlstates.insert(request.error);
        if (!request.has_waited) continue;
        ++answer_.waits;
        if (request.error.empty() && request.tag.ends_with(" 0")) ++answer_.rechecked;
      }
    }
  }

  Result<SerialCommands> run_serially(const std::vector<std::size_t>& order) {
    if (auto prepared = prepare(); !prepared) return prepared.error();
    auto stage = HeldCommands::open({.dsn = options_.dsn}, commands(false));
    if (!stage) return stage.error();
    for (const std::size_t actor : order)
      if (auto ran = (*stage)->run_freely(actor, budget_); !ran) return ran.error();
    SerialCommands serial{.order = order};
    if (auto gathered = gather(**stage, serial.run, false); !gathered) return gathered.error();
    if (auto cleaned = clean_up(); !cleaned) return cleaned.error();
    return serial;
  }

  Result<void> play_serial_orders() {
    std::vector<std::size_t> order(options_.commands.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (order.size() > kMostCommands) {
      answer_.no_witness = fmt::format("there are more than {} commands", kMostCommands);
      return {};
    }
    do {
      if (options_.progress) options_.progress("one command after the other", -1);
      auto serial = run_serially(order);
      if (!serial) return serial.error();
      const std::size_t first = order.front();
      if (serial->run.exit_codes[first] != 0 && !budget_.expired_now())
        return Error{
            .what = fmt::format("the command of session {} fails by itself, with {}",
                                options_.commands[first].session, serial->run.exit_codes[first]),
            .hint = serial->run.outputs[first]};
      answer_.serial.push_back(std::move(*serial));
    } while (!budget_.expired_now() && std::ranges::next_permutation(order).found);
    auto again = run_serially(answer_.serial.front().order);
    if (!again) return again.error();
    const CommandRun& first = answer_.serial.front().run;
    has_stable_outputs_ = same_commands(again->run, first, true);
    if (budget_.expired_now()) {
      answer_.no_witness = limit_reached() + " was reached";
    } else if (!same_commands(again->run, first, false)) {
      answer_.no_witness = "the same serial order ends differently from run to run";
    } else if (!table_limit_.empty()) {
      answer_.no_witness = table_limit_;
    }
    return {};
  }

  static constexpr std::size_t kMostCommands = 5;

  const CommandPlan* plan_;
  const CommandForceOptions& options_;
  Budget budget_;
  CommandForceAnswer answer_;
  std::string table_limit_;
  bool has_stable_outputs_ = true;
};

}  // namespace

bool same_commands(const CommandRun& a, const CommandRun& b, bool compares_outputs) {
  return a.exit_codes == b.exit_codes && a.tables == b.tables &&
         (!compares_outputs || a.outputs == b.outputs);
}

Result<CommandForceAnswer> force_commands(const CommandPlan* plan,
                                          const CommandForceOptions& options) {
  return CommandForcing(plan, options).force();
}

}  // namespace isoscope::force
