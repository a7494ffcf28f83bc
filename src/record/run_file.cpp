#include "record/run_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "formats/jsonl.h"
#include "support/version.h"

namespace isoscope::record {
namespace {

using Json = nlohmann::ordered_json;

Json parameter_json(const Parameter& parameter) {
  if (parameter.is_null) return nullptr;
  if (!parameter.is_binary) return parameter.bytes;
  std::string hex;
  for (const char byte : parameter.bytes)
    hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return {{"hex", hex}};
}

Json statement_json(const RecordedStatement& statement) {
  Json json = {{"sql", statement.sql}, {"at", statement.start}};
  if (!statement.parameters.empty()) {
    json["params"] = Json::array();
    for (const Parameter& parameter : statement.parameters)
      json["params"].push_back(parameter_json(parameter));
  }
  if (!statement.error.empty()) json["error"] = statement.error;
  return json;
}

Json event_json(const RunEvent& event) {
  switch (event.kind) {
    case RunEvent::Kind::Read:
      return {"r", event.key, {{"from", event.from}}};
    case RunEvent::Kind::Write:
      return {"w", event.key, event.value};
    case RunEvent::Kind::Insert:
      return {"i", event.key, event.value};
    case RunEvent::Kind::Delete:
      return {"d", event.key};
    case RunEvent::Kind::Lock:
      return {"l", event.key};
    case RunEvent::Kind::LockShare:
      return {"ls", event.key};
    case RunEvent::Kind::LockKey:
      return {"lk", event.key};
  }
  return nullptr;
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

const std::string& SessionNames::name(const Client& client) {
  std::string& name = names_[client.connection];
  if (!name.empty()) return name;
  name = client.application;
  for (std::size_t number = names_.size(); name.empty() || taken_.contains(name); ++number)
    name = fmt::format("s{}", number);
  taken_.insert(name);
  return name;
}

std::string run_header(const std::map<std::string, std::string>& initial) {
  Json json = {{"format", kJsonlFormat}, {"source", fmt::format("isoscope record {}", kVersion)}};
  for (const auto& [key, value] : initial) json["init"][key] = value;
  return line_of(json);
}

std::string run_line(const RecordedTxn& txn, const std::string& session, const std::string& id,
                     const std::vector<std::vector<RunEvent>>& events, std::size_t commit) {
  constexpr const char* kStatus[] = {"committed", "aborted", "unknown"};
  Json json = {{"session", session},
               {"id", id},
               {"status", kStatus[static_cast<std::size_t>(txn.status)]},
               {"ops", Json::array()},
               {"isolation", txn.isolation},
               {"start", txn.start},
               {"end", txn.end}};
  if (commit != 0) json["commit"] = commit;
  if (txn.status != TxnStatus::Committed && !txn.error.empty()) json["error"] = txn.error;
  json["stmts"] = Json::array();
  for (std::size_t i = 0; i < txn.statements.size(); ++i) {
    Json group = Json::array();
    if (i < events.size()) {
      for (const RunEvent& event : events[i]) group.push_back(event_json(event));
    }
    json["ops"].push_back(std::move(group));
    json["stmts"].push_back(statement_json(txn.statements[i]));
  }
  if (!txn.gaps.empty()) {
    json["gaps"] = Json::array();
    for (const Gap& gap : txn.gaps)
      json["gaps"].push_back({{"stmt", gap.statement}, {"why", gap.why}});
  }
  return line_of(json);
}

}  // namespace isoscope::record
