#include "force/command_runs.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "force/experiment.h"
#include "sql/sqlstates.h"

namespace isoscope::force {
namespace {

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
  for (const ActorId s : plan.sessions.ids()) {
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

// Of a command that is neither held nor recorded: it speaks to the server itself.
std::vector<std::pair<std::string, std::string>> direct_environment(
    const record::ConnectionString& dsn) {
  auto environment = record::client_environment(dsn, dsn.server.host, dsn.server.port);
  if (dsn.server.is_socket_folder()) {
    // A folder is no host of a URL; libpq takes the rest from the variables.
    for (auto& [name, value] : environment)
      if (name == "DATABASE_URL") value = "postgresql://";
  }
  return environment;
}

// `is_over_time`: it must end now.
Result<void> run_beside(const std::string& text, const record::ConnectionString& dsn,
                        const std::function<bool()>& is_over_time) {
  const CleanupIfKilled if_killed = CleanupIfKilled::of_processes(marked_environment());
  auto environment = direct_environment(dsn);
  environment.push_back(mark_of_commands());
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
  kill_processes(marked_environment());
  if (is_over && *process->exit_code() == 0) return {};
  while (printed.ends_with('\n')) printed.pop_back();
  return Error{.what = is_over
                           ? fmt::format("'{}' ended with {}", text, *process->exit_code())
                           : fmt::format("'{}' was ended: {} was reached", text, limit_reached()),
               .hint = printed,
               .is_limit = !is_over};
}

}  // namespace

bool is_by_concurrency(const std::string& sqlstate) {
  return sql::is_by_conflict(sqlstate) || sqlstate.starts_with("23");
}

std::vector<HeldCommand> CommandRunner::commands(bool follows_plan) const {
  std::vector<HeldCommand> commands;
  for (const ActorId s : options_.commands.ids()) {
    HeldCommand command{.name = options_.commands[s].session, .text = options_.commands[s].text};
    if (follows_plan) {
      const auto steps = plan_->steps_of_session(s);
      if (!steps.empty()) command.begins_with = steps.front().shape;
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

Result<void> CommandRunner::between_setup_and_teardown(const std::function<Result<void>()>& work) {
  CleanupIfKilled if_killed;
  if (!options_.teardown.empty())
    if_killed = CleanupIfKilled::of_command(options_.teardown, direct_environment(options_.dsn));
  Result<void> done;
  if (!options_.setup.empty())
    done = run_beside(options_.setup, options_.dsn, [this] { return budget_.expired_now(); });
  if (done) done = work();
  if (options_.teardown.empty()) return done;
  // What was set up is cleaned up, also when the time is over or the user interrupts, and when the
  // setup has come only half the way.
  const auto end = Budget::Clock::now() + kCleaningTime;
  auto cleaned =
      run_beside(options_.teardown, options_.dsn, [end] { return Budget::Clock::now() > end; });
  return done ? cleaned : done;
}

Result<void> CommandRunner::gather(HeldCommands& stage, CommandRun& run, bool is_judged) {
  stage.close();
  for (const ActorId s : stage.actors()) {
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

Result<void> CommandRunner::hold(const Turns& turns, bool follows_plan, CommandRun& run) {
  auto stage =
      HeldCommands::open({.dsn = options_.dsn, .gives_credit = follows_plan, .budget = budget_},
                         commands(follows_plan));
  if (!stage) return stage.error();
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
  return gather(**stage, run, true);
}

Result<CommandRun> CommandRunner::run_once(const Turns& turns, bool follows_plan) {
  CommandRun run;
  if (auto ran = between_setup_and_teardown([&] { return hold(turns, follows_plan, run); }); !ran)
    return ran.error();
  if (follows_plan) run.departure = departure_of(*plan_, run);
  return run;
}

Result<SerialCommands> CommandRunner::run_serially(const std::vector<ActorId>& order) {
  SerialCommands serial{.order = order};
  auto ran = between_setup_and_teardown([&]() -> Result<void> {
    auto stage = HeldCommands::open({.dsn = options_.dsn}, commands(false));
    if (!stage) return stage.error();
    for (const ActorId actor : order)
      if (auto freed = (*stage)->run_freely(actor, budget_); !freed) return freed;
    return gather(**stage, serial.run, false);
  });
  if (!ran) return ran.error();
  return serial;
}

bool same_commands(const CommandRun& a, const CommandRun& b, bool compares_outputs) {
  return a.exit_codes == b.exit_codes && a.tables == b.tables &&
         (!compares_outputs || a.outputs == b.outputs);
}

}  // namespace isoscope::force
