#pragma once
// Forces a plan on commands of the user's, and says what came of it.
//
// The recorded history of the run is the judge (recorded_run.h): unserializable is *reproduced*,
// serializable is *prevented*. If the statements were not those of the plan, although nothing had
// made their session wait or fail, the run says nothing about the plan: *diverged*. With a setup,
// which makes runs repeatable, two more things are done:
//
//   serial orders  The commands run one after the other in every order. What they print, their exit
//                  codes and the rows in the end are compared with those of the run: the second
//                  witness, and the judge where the run could not be recorded.
//   all orders     Where the statements are not those of the plan (the application was repaired),
//                  every order of the statements that there are now is played instead, depth first.
#include <map>
#include <string>
#include <vector>

#include "force/command_plan.h"
#include "force/experiment.h"
#include "force/forcing.h"
#include "force/held_commands.h"
#include "force/scheduler.h"

namespace isoscope::force {

struct ShellCommand {
  std::string session;
  std::string text;
};

struct CommandForceOptions {
  record::ConnectionString dsn;
  std::vector<ShellCommand> commands = {};  // one for each session of the plan
  std::string setup = {};                   // before each run; empty: runs cannot be repeated
  std::string teardown = {};                // after each run
  std::size_t times = 1;
  std::size_t most_orders = 1'000;  // where all are played
  Budget budget = {};
  Progress progress = {};
};

// Where the statements left the plan.
struct Departure {
  std::size_t session = 0;
  std::size_t step = 0;  // of the session, counted from 1
  std::string planned = {};
  std::string happened = {};
  bool is_explained = false;  // the session had waited or failed before
};

struct CommandRun {
  Played played = {};
  std::vector<std::vector<SentRequest>> sent = {};   // by session
  std::vector<std::vector<std::size_t>> turns = {};  // by session and turn: the request
  std::vector<Choice> choices = {};
  std::vector<int> exit_codes = {};
  std::vector<std::string> outputs = {};
  std::map<std::string, Table> tables = {};  // with a setup: what they hold in the end
  RecordedRun recorded = {};
  std::optional<Departure> departure = {};
  std::string trouble = {};  // why it did not come to its end
};

struct SerialCommands {
  std::vector<std::size_t> order = {};
  CommandRun run = {};
};

struct CommandForceAnswer {
  ForceVerdict verdict = ForceVerdict::Unknown;
  std::string why = {};  // of Diverged and Unknown
  CommandRun run = {};   // of Reproduced the first that was; else the first
  std::size_t runs = 0;
  std::size_t reproduced = 0;
  std::size_t orders = 0;  // that were played because the plan did not fit; 0: it did
  std::vector<SerialCommands> serial = {};
  // What the serial orders say, and why they say nothing.
  Judgement::Kind witness = Judgement::Kind::Unknown;
  std::string no_witness = {};
  bool is_judged_by_history = true;
  std::set<std::string> sqlstates = {};  // of `run`
  std::size_t waits = 0;
  std::size_t rechecked = 0;  // of them, those that then touched no row
};

// `plan`: null: every order is played. Requires: a command for each of its sessions, in its order.
Result<CommandForceAnswer> force_commands(const CommandPlan* plan,
                                          const CommandForceOptions& options);

// Is what they printed, returned and left the same?
bool same_commands(const CommandRun& a, const CommandRun& b, bool compares_outputs);

}  // namespace isoscope::force
