#pragma once
// The answer of `predict` about a recorded run at a level of PostgreSQL's: races by the shapes of
// statements, for people and for programs.
#include <string>

#include "races/races.h"
#include "report/findings.h"
#include "report/json.h"
#include "report/page.h"
#include "report/paint.h"

namespace isoscope {

struct RacesReport {
  const races::Run& run;
  std::string source;  // the file, for people
  std::string level;   // as the user named it
  races::RaceOptions options;
  races::RaceAnswer answer;
  double seconds = 0;
};

std::string races_text(const RacesReport& report, const Paint& paint);
// One JSON object: that of `predict`, with statements, schedule and safe pairs.
std::string races_json(const RacesReport& report);
Json races_object(const RacesReport& report);
// The schedules of the races, with their cycles, and the pairs that are safe.
Page races_page(const RacesReport& report);
Findings races_findings(const RacesReport& report);
// The name of its client: that of its connection, with a number where every transaction is one.
std::string race_session(const RacesReport& report, races::RunTxn t);
// The plan of a race, as `force --run` takes it.
Json race_plan(const RacesReport& report, const races::Race& race);

}  // namespace isoscope
