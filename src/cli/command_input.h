#pragma once
// The arguments of `force` and `predict --force` that concern commands of the user's, and the
// regression test that is written of them.
#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.h"
#include "force/command_forcing.h"

namespace CLI {
class App;
}

namespace isoscope {

struct CommandInput {
  std::vector<std::string> runs;  // SESSION=COMMAND
  std::string setup;
  std::string teardown;
  std::string script;  // the folder of the regression test
  std::int64_t times = 1;
  std::int64_t schedules = 1'000;

  void add_to(CLI::App& app);
  void add_counts_to(CLI::App& app);  // --times, --schedules
  // Plays the plan, or every order if it is null.
  Result<force::CommandForceAnswer> force(const std::string& dsn, const force::CommandPlan* plan,
                                          const Budget& budget, const Progress& progress) const;
  // The commands, in the order of the plan's sessions.
  Result<ById<force::ActorId, force::ShellCommand>> commands(const force::CommandPlan* plan) const;
  // plan.json, run.sh and isoscope_test_….py in the folder `script`, if one is named.
  Result<void> write_script(const std::string& dsn, const force::CommandPlan* plan) const;
};

}  // namespace isoscope
