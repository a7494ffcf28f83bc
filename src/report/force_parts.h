#pragma once
// What the reports of `force` share: of plans and specifications (force_report.h) and of commands
// (command_force_report.h).
#include <map>
#include <set>
#include <string>

#include "force/forcing.h"
#include "force/recorded_run.h"
#include "report/header.h"

namespace isoscope {

// A run that diverged decides nothing.
Outcome outcome_of(force::ForceVerdict verdict);
Header force_header(force::ForceVerdict verdict, const std::string& limit, double seconds);
std::string painted(force::ForceVerdict verdict, const Paint& paint);
// "(1, 70) (2, 75)"
std::string shown_rows(const force::Table& table);
// What kept a run in order: "by SQLSTATE 40001; 1 lock wait".
std::string prevented_by(const std::set<std::string>& sqlstates, std::size_t waits,
                         std::size_t rechecked);
// What check says of the recorded history, and why it is not serializable.
std::string recorded_text(const force::RecordedRun& recorded);
// The same in one sentence, which says of which session each transaction is.
std::string recorded_sentence(const force::RecordedRun& recorded);
// Adds "history", "levels" and, of an unserializable one, "anomaly" and "explanation".
void add_recorded(Json& json, const force::RecordedRun& recorded);
Json tables_json(const std::map<std::string, force::Table>& tables);

}  // namespace isoscope
