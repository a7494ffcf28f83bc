#pragma once
// A plan for commands of the user's: an order of the statements and commits of sessions, as
// `predict` foresees it at a level of PostgreSQL's.
//
//     {"format":"isoscope-plan/1","level":"pg-rc","sessions":["s1","s1.2"],
//      "steps":[["s1",1],["s1.2",1],["s1.2",2],["s1.2","commit"],["s1",2],["s1","commit"]],
//      "statements":{"s1":["SELECT qty FROM product WHERE id = ?", …], …},"anomaly":"lost update"}
//
// Statements of a session count from 1. `statements` are their shapes, by which a statement that
// is not the planned one is recognised; without them any statement will do.
#include <string>
#include <string_view>
#include <vector>

#include "force/held_commands.h"
#include "support/result.h"

namespace isoscope::force {

struct CommandPlan {
  struct Step {
    ActorId session = {};
    RequestStep step;  // its shape is empty if it is not told
  };
  ById<ActorId, std::string> sessions = {};
  std::vector<Step> steps = {};
  std::string level = {};
  std::string anomaly = {};
  std::string text = {};  // as a file has it

  // The steps of one session, in order.
  std::vector<RequestStep> steps_of_session(ActorId session) const;
};

// Reads such a plan, a plan with its own statements (plan_file.h), or the answer of
// `predict --json`, of which prediction number `which` (from 1) is taken.
Result<CommandPlan> read_command_plan(std::string_view text, std::size_t which);

}  // namespace isoscope::force
