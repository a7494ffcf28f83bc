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
#include <set>
#include <string>
#include <vector>

#include "force/command_runs.h"
#include "force/experiment.h"
#include "force/forcing.h"

namespace isoscope::force {

struct CommandForceAnswer {
  ForceVerdict verdict = ForceVerdict::Unknown;
  std::string why = {};  // of Diverged and Unknown
  CommandRun run = {};   // the first that has this verdict
  std::size_t runs = 0;
  std::size_t reproduced = 0;
  std::size_t of_verdict = 0;  // runs of the plan that have this verdict
  std::size_t orders = 0;      // that were played because the plan did not fit; 0: it did
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

}  // namespace isoscope::force
