#pragma once
// Runs commands of the user's: held in the order of a plan, or one after the other.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "force/answer.h"
#include "force/command_plan.h"
#include "force/held_commands.h"
#include "force/last_will.h"
#include "force/scheduler.h"

namespace isoscope::force {

struct ShellCommand {
  std::string session;
  std::string text;
};

struct CommandForceOptions {
  record::ConnectionString dsn;
  ById<ActorId, ShellCommand> commands = {};  // one for each session of the plan
  std::string setup = {};                     // before each run; empty: runs cannot be repeated
  std::string teardown = {};                  // after each run
  std::size_t times = 1;
  std::size_t most_orders = 1'000;  // where all are played
  Budget budget = {};
  Progress progress = {};
};

// Where the statements left the plan.
struct Departure {
  ActorId session = {};
  std::size_t step = 0;  // of the session, counted from 1
  std::string planned = {};
  std::string happened = {};
  bool is_explained = false;  // the session had waited or failed before
};

struct CommandRun {
  Played played = {};
  ById<ActorId, ById<RequestId, SentRequest>> sent = {};
  ById<ActorId, ById<StatementId, RequestId>> turns = {};
  std::vector<Choice> choices = {};
  ById<ActorId, int> exit_codes = {};
  ById<ActorId, std::string> outputs = {};
  std::map<std::string, Table> tables = {};  // with a setup: what they hold in the end
  RecordedRun recorded = {};
  std::optional<Departure> departure = {};
  std::string trouble = {};  // why it did not come to its end
};

struct SerialCommands {
  std::vector<ActorId> order = {};
  CommandRun run = {};
};

// Is what they printed, returned and left the same?
bool same_commands(const CommandRun& a, const CommandRun& b, bool compares_outputs);

// Does the error come of others at work: a serialization failure or deadlock, a constraint, a lock?
bool is_by_concurrency(const std::string& sqlstate);

class CommandRunner {
 public:
  // All outlive it. `plan` may be null.
  CommandRunner(const CommandPlan* plan, const CommandForceOptions& options, Budget& budget)
      : plan_(plan), options_(options), budget_(budget) {}

  bool is_repeatable() const { return !options_.setup.empty(); }
  // `turns`: as far as they are given; the rest is played session by session.
  Result<CommandRun> run_once(const Turns& turns, bool follows_plan);
  Result<SerialCommands> run_serially(const std::vector<ActorId>& order);
  // Why tables were not read whole; empty if they were.
  const std::string& table_limit() const { return table_limit_; }

 private:
  std::vector<HeldCommand> commands(bool follows_plan) const;
  Result<void> between_setup_and_teardown(const std::function<Result<void>()>& work);
  Result<void> hold(const Turns& turns, bool follows_plan, CommandRun& run);
  Result<void> gather(HeldCommands& stage, CommandRun& run, bool is_judged);

  const CommandPlan* plan_;
  const CommandForceOptions& options_;
  Budget& budget_;
  std::string table_limit_;
};

}  // namespace isoscope::force
