#pragma once
// The answer of `force` about commands of the user's: what their statements did, what check says of
// the recorded history, and what serial orders of the commands give.
#include <string>

#include "force/command_forcing.h"
#include "report/force_parts.h"
#include "report/page.h"

namespace isoscope {

struct CommandForceReport {
  std::string source;  // the plan's file, for people; empty: every order was played
  ById<force::ActorId, std::string> sessions;
  const force::CommandForceAnswer& answer;
  double seconds = 0;
};

std::string command_force_text(const CommandForceReport& report, const Paint& paint);
// One JSON object, of the command `force`.
Json command_force_object(const CommandForceReport& report);
std::string command_force_json(const CommandForceReport& report);
// The requests of the run that is reported, as a schedule with lanes.
Page command_force_page(const CommandForceReport& report);

}  // namespace isoscope
