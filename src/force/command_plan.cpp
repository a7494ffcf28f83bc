#include "force/command_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "force/plan_file.h"
#include "races/run.h"
#include "sql/server/level.h"

namespace isoscope::force {
namespace {

using CommandJson = nlohmann::json;

Error command_plan_error(std::string what, std::string hint = {}) {
  return Error{.what = "the plan: " + std::move(what), .hint = std::move(hint)};
}

const CommandJson* member(const CommandJson& json, const char* name) {
  const auto found = json.find(name);
  return found == json.end() ? nullptr : &*found;
}

// The statements of a session: of a predicted plan in `statements`, else in the session itself.
Result<std::vector<std::string>> shapes_of_session(const CommandJson& plan,
                                                   const CommandJson& session,
                                                   const std::string& name) {
  std::vector<const CommandJson*> lists;
  if (session.is_object()) {
    if (const auto* statements = member(session, "statements")) lists.push_back(statements);
    if (const auto* txns = member(session, "transactions"))
      for (const CommandJson& txn : *txns) lists.push_back(&txn);
  } else if (const auto* statements = member(plan, "statements")) {
    if (!statements->is_object()) return command_plan_error("statements is no object");
    if (const auto* own = member(*statements, name.c_str())) lists.push_back(own);
  }
  std::vector<std::string> shapes;
  for (const CommandJson* list : lists) {
    if (!list->is_array())
      return command_plan_error(fmt::format("session {} has no list of statements", name));
    for (const CommandJson& sql : *list) {
      if (!sql.is_string())
        return command_plan_error(fmt::format("session {} has a statement that is no text", name));
      shapes.push_back(races::shape_of(sql.get<std::string>()));
    }
  }
  return shapes;
}

class CommandPlanReader {
 public:
  explicit CommandPlanReader(const CommandJson& json) : json_(json) {}

  Result<CommandPlan> read() {
    const auto* sessions = member(json_, "sessions");
    if (sessions == nullptr || !sessions->is_array() || sessions->empty())
      return command_plan_error("it has no sessions");
    for (const CommandJson& session : *sessions)
      if (auto added = add_session(session); !added) return added.error();
    const auto* steps = member(json_, "steps");
    if (steps == nullptr || !steps->is_array() || steps->empty())
      return command_plan_error("it has no steps");
    for (const CommandJson& step : *steps)
      if (auto added = add_step(step); !added) return added.error();
    for (const auto& [name, text] : {std::pair{"level", &plan_.level}, {"anomaly", &plan_.anomaly}})
      if (const auto* value = member(json_, name); value != nullptr && value->is_string())
        *text = value->get<std::string>();
    plan_.text = json_.dump() + "\n";
    return std::move(plan_);
  }

 private:
  Result<void> add_session(const CommandJson& session) {
    const CommandJson* name = session.is_object() ? member(session, "name") : &session;
    if (name == nullptr || !name->is_string()) return command_plan_error("a session has a name");
    const auto text = name->get<std::string>();
    if (std::ranges::find(plan_.sessions, text) != plan_.sessions.end())
      return command_plan_error(fmt::format("there are two sessions {}", text));
    auto shapes = shapes_of_session(json_, session, text);
    if (!shapes) return shapes.error();
    plan_.sessions.push_back(text);
    shapes_.push_back(std::move(*shapes));
    next_.push_back(1);
    return {};
  }

  Result<void> add_step(const CommandJson& step) {
    const std::size_t number = plan_.steps.size() + 1;
    if (!step.is_array() || step.size() != 2 || !step[0].is_string())
      return command_plan_error(fmt::format("step {} is no pair of session and statement", number));
    const auto name = step[0].get<std::string>();
    const auto found = std::ranges::find(plan_.sessions, name);
    if (found == plan_.sessions.end())
      return command_plan_error(
          fmt::format("step {} is of session {}, which is none", number, name));
    const ActorId s{static_cast<std::uint32_t>(found - plan_.sessions.begin())};
    if (step[1] == "commit") {
      plan_.steps.push_back({.session = s, .step = {.ends = true}});
      return {};
    }
    if (!step[1].is_number_unsigned() || step[1].get<std::size_t>() != next_[s])
      return command_plan_error(
          fmt::format("step {} of session {} is not its next one", number, name),
          "statements count from 1, and each transaction ends with \"commit\"");
    const std::size_t statement = next_[s]++;
    plan_.steps.push_back(
        {.session = s,
         .step = {.ends = false,
                  .shape = statement <= shapes_[s].size() ? shapes_[s][statement - 1] : ""}});
    return {};
  }

  const CommandJson& json_;
  CommandPlan plan_;
  ById<ActorId, std::vector<std::string>> shapes_;
  ById<ActorId, std::size_t> next_;  // statement
};

}  // namespace

std::vector<RequestStep> CommandPlan::steps_of_session(ActorId session) const {
  std::vector<RequestStep> own;
  for (const Step& step : steps)
    if (step.session == session) own.push_back(step.step);
  return own;
}

Result<CommandPlan> read_command_plan(std::string_view text, std::size_t which) {
  const CommandJson json = CommandJson::parse(text, nullptr, false);
  if (!json.is_object())
    return command_plan_error("it is no JSON object",
                              "predict … --predicted FILE writes one; docs/force.md");
  const CommandJson* plan = &json;
  if (const auto* predictions = member(json, "predictions")) {
    if (!predictions->is_array() || which > predictions->size())
      return command_plan_error(
          fmt::format("there is no prediction {}", which),
          fmt::format("there are {}", predictions->is_array() ? predictions->size() : 0));
    plan = member((*predictions)[which - 1], "plan");
    if (plan == nullptr)
      return command_plan_error(
          "this prediction has none",
          fmt::format("predict at {} from a recorded run has one", sql::server::pg_level_names()));
  }
  const auto* format = member(*plan, "format");
  if (format == nullptr || *format != kPlanFormat)
    return command_plan_error(fmt::format("its format is not {}", kPlanFormat));
  return CommandPlanReader(*plan).read();
}

}  // namespace isoscope::force
