#pragma once
// A schedule of an SQL program, explained step by step.
#include <functional>
#include <string>
#include <vector>

#include "report/json.h"
#include "report/schedule_scene.h"
#include "report/server_report.h"

namespace isoscope {

struct StoryStep {
  CallId call = {};
  std::uint32_t line = 0;  // of the statement; 0 for the end of a call
  std::string statement = {};
  PlayedStep::Kind kind = PlayedStep::Kind::Statement;
  std::string result = {};  // for people: "(1)", "1 row", "40001 …", "for bob[1]"
};

// What happens along the schedule, up to `num_steps` of it. `after` is told the state after each
// step.
std::vector<StoryStep> story_of(const ServerProgram& on,
                                const std::vector<sql::server::Choice>& schedule,
                                std::size_t num_steps,
                                const std::function<void(const sql::server::State&)>& after = {});
std::string story_text(const ServerProgram& on, const std::vector<StoryStep>& story,
                       const Paint& paint);
Json story_json(const ServerProgram& on, const std::vector<StoryStep>& story);

// item(id = 1, stock = -1)
std::string row_text(const ServerProgram& on, const sql::server::ShownRow& row);
Json row_json(const ServerProgram& on, sql::TableId table, const std::vector<sql::Value>& values);
Json value_json(const sql::Value& value);
std::string broken_text(const ServerProgram& on, const sql::server::BrokenClaim& broken,
                        const Paint& paint);
Json broken_json(const ServerProgram& on, const sql::server::BrokenClaim& broken);
std::string gaps_text(std::string_view source, const std::vector<sql::Note>& gaps,
                      const Paint& paint);
Json gaps_json(const std::vector<sql::Note>& gaps);
// Tables that some call may change.
std::vector<sql::TableId> changing_tables(const ServerProgram& on);
std::string call_text(const ServerProgram& on, CallId call);  // alice[1]

}  // namespace isoscope
