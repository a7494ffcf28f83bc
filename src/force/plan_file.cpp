#include "force/plan_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "sql/server/level.h"
#include "support/spelling.h"

namespace isoscope::force {
namespace {

using PlanJson = nlohmann::json;

Error plan_error(std::string what, std::string hint = {}) {
  return Error{.what = "the plan: " + std::move(what), .hint = std::move(hint)};
}

std::optional<Error> read_texts(const PlanJson& json, const std::string& where,
                                std::vector<std::string>& texts) {
  if (!json.is_array()) return plan_error(where + " is no list of statements");
  for (const PlanJson& text : json) {
    if (!text.is_string()) return plan_error(where + " has a statement that is no text");
    texts.push_back(text.get<std::string>());
  }
  return std::nullopt;
}

// The isolation level of BEGIN: the words must be ones that the server knows, since they become
// SQL.
std::optional<Error> read_level(const PlanJson& json, std::string& begin) {
  if (!json.is_string()) return plan_error("level is no text");
  const auto level = json.get<std::string>();
  const auto words = sql::server::find_sql_words(level);
  if (!words)
    return plan_error(fmt::format("'{}' is no isolation level of SQL", lower_case(level)),
                      "such as \"repeatable read\"");
  begin = fmt::format("BEGIN ISOLATION LEVEL {}", *words);
  return std::nullopt;
}

std::optional<Error> only_members(const PlanJson& json, const std::set<std::string>& known,
                                  const std::string& of) {
  for (const auto& [name, value] : json.items())
    if (!known.contains(name)) return plan_error(fmt::format("'{}' is no member of {}", name, of));
  return std::nullopt;
}

class PlanReader {
 public:
  Result<Spec> read(const PlanJson& json) {
    if (auto wrong = only_members(
            json, {"format", "level", "setup", "teardown", "sessions", "steps"}, "a plan"))
      return *wrong;
    if (json.contains("level"))
      if (auto wrong = read_level(json["level"], begin_)) return *wrong;
    if (json.contains("setup"))
      if (auto wrong = read_texts(json["setup"], "setup", spec_.setups)) return *wrong;
    if (json.contains("teardown")) {
      std::vector<std::string> texts;
      if (auto wrong = read_texts(json["teardown"], "teardown", texts)) return *wrong;
      for (const std::string& text : texts) spec_.teardown += text + ";\n";
    }
    if (!json.contains("sessions") || !json["sessions"].is_array() || json["sessions"].empty())
      return plan_error("it has no sessions");
    for (const PlanJson& session : json["sessions"])
      if (auto wrong = add_session(session)) return *wrong;
    if (!json.contains("steps")) return std::move(spec_);  // all orders
    if (!json["steps"].is_array()) return plan_error("steps is no list");
    spec_.permutations.emplace_back();
    for (const PlanJson& step : json["steps"])
      if (auto wrong = add_step(step)) return *wrong;
    return std::move(spec_);
  }

 private:
  std::optional<Error> add_session(const PlanJson& json) {
    if (!json.is_object() || !json.contains("name") || !json["name"].is_string())
      return plan_error("a session has a name");
    if (auto wrong =
            only_members(json, {"name", "level", "statements", "transactions"}, "a session"))
      return wrong;
    SpecSession session{.name = json["name"].get<std::string>()};
    if (std::ranges::find(spec_.sessions, session.name, &SpecSession::name) != spec_.sessions.end())
      return plan_error(fmt::format("there are two sessions {}", session.name));
    std::string begin = begin_;
    if (json.contains("level"))
      if (auto wrong = read_level(json["level"], begin)) return wrong;
    if (json.contains("statements") == json.contains("transactions"))
      return plan_error(
          fmt::format("session {} has either statements or transactions", session.name));
    PlanJson txns = PlanJson::array();
    if (json.contains("statements")) {
      txns.push_back(json["statements"]);
    } else {
      txns = json["transactions"];
    }
    if (!txns.is_array()) return plan_error("transactions is no list");
    std::size_t number = 0;
    for (std::size_t t = 0; t < txns.size(); ++t) {
      std::vector<std::string> texts;
      if (auto wrong = read_texts(txns[t], "session " + session.name, texts)) return wrong;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        // BEGIN takes no snapshot, so it may stand before the first statement.
        std::string sql = texts[i];
        if (i == 0) sql = begin + "; " + sql;
        session.steps.push_back(
            {.name = fmt::format("{}_{}", session.name, ++number), .sql = std::move(sql)});
      }
      session.steps.push_back({.name = txns.size() == 1
                                           ? session.name + "_c"
                                           : fmt::format("{}_c{}", session.name, t + 1),
                               .sql = "COMMIT"});
    }
    if (session.steps.empty())
      return plan_error(fmt::format("session {} has no statement", session.name));
    next_.push_back({});
    statements_.push_back(0);
    spec_.sessions.push_back(std::move(session));
    return std::nullopt;
  }

  std::optional<Error> add_step(const PlanJson& json) {
    const auto number = spec_.permutations.back().size() + 1;
    if (!json.is_array() || json.size() != 2 || !json[0].is_string())
      return plan_error(fmt::format("step {} is no pair of session and statement", number));
    const auto name = json[0].get<std::string>();
    const auto found = std::ranges::find(spec_.sessions, name, &SpecSession::name);
    if (found == spec_.sessions.end())
      return plan_error(fmt::format("step {} is of session {}, which is none", number, name));
    const ActorId s{static_cast<std::uint32_t>(found - spec_.sessions.begin())};
    const bool is_over = !found->steps.contains(next_[s]);
    const bool is_commit_due = !is_over && found->steps[next_[s]].sql == "COMMIT";
    const bool is_commit = json[1] == "commit";
    const bool is_next = is_commit ? is_commit_due
                                   : !is_over && !is_commit_due && json[1].is_number_unsigned() &&
                                         json[1].get<std::size_t>() == ++statements_[s];
    if (!is_next)
      return plan_error(fmt::format("step {} of session {} is not its next one", number, name),
                        "statements count from 1, and each transaction ends with \"commit\"");
    spec_.permutations.back().push_back({.session = s, .step = next_[s]});
    ++next_[s];
    return std::nullopt;
  }

  Spec spec_;
  std::string begin_ = "BEGIN";
  ById<ActorId, StepId> next_;             // the step to come
  ById<ActorId, std::size_t> statements_;  // that were named
};

}  // namespace

bool looks_like_plan(std::string_view text) {
  return text.substr(0, 4096).find(kPlanFormat) != std::string_view::npos;
}

Result<Spec> read_plan(std::string_view text) {
  const PlanJson json = PlanJson::parse(text, nullptr, false);
  if (!json.is_object()) return plan_error("it is no JSON object");
  if (!json.contains("format") || json["format"] != kPlanFormat)
    return plan_error(fmt::format("its format is not {}", kPlanFormat));
  return PlanReader().read(json);
}

}  // namespace isoscope::force
