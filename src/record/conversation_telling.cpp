// Statements that tell what they read and wrote by a column of their own: it is asked for on the
// way to the server, and taken away on the way back.
#include <algorithm>

#include "record/appender.h"
#include "record/conversation.h"
#include "record/wire.h"

namespace isoscope::record {

void Conversation::append(Script& script) {
  if (gates_ == nullptr || gates_->appender() == nullptr) return;
  Appender& appender = *gates_->appender();
  for (const auto& [statement, shape] : script.statements) {
    appender.saw(statement);
    has_own_role_ |= Appender::may_change_role(statement);
    script.tells.push_back(shape != nullptr &&
                           appender.may_append(shape->appending, user_, has_own_role_));
    if (!script.tells.back()) continue;
    const Constants constants(*shape, statement.text);
    const auto begin = static_cast<std::size_t>(statement.text.data() - script.text.data());
    for (const Splice& splice : shape->appending.splices)
      script.edits.push_back(
          {begin + constants.place(splice.at), 0, with_mark(splice, appender.mark())});
  }
  edit(script);
}

// How the one statement of a prepared text tells; null if it does not.
const Appending* Conversation::telling(const ScriptPtr& script) {
  if (script == nullptr || script->tells.size() != 1 || !script->tells[0]) return nullptr;
  return &script->statements[0].shape->appending;
}

Conversation::Meant Conversation::meant_statement(std::string_view name) const {
  bool is_certain = true;
  for (auto request = requests_.rbegin(); request != requests_.rend(); ++request) {
    if (request->kind == Request::Kind::Parse && request->name == name)
      return {request->script, is_certain};
    // An error before it would leave what is sent after it: the Parse may never have been.
    if (request->kind == Request::Kind::Sync) is_certain = false;
  }
  const auto prepared = statements_.find(name);
  return {prepared == statements_.end() ? nullptr : prepared->second, true};
}

Conversation::Meant Conversation::meant_portal(std::string_view name) const {
  bool is_certain = true;
  for (auto request = requests_.rbegin(); request != requests_.rend(); ++request) {
    if (request->kind == Request::Kind::Bind && request->name == name)
      return {request->meant, is_certain};
    if (request->kind == Request::Kind::Sync) is_certain = false;
  }
  const auto portal = portals_.find(name);
  return {portal == portals_.end() ? nullptr : portal->second.script, true};
}

bool Conversation::must_wait(char type, std::string_view payload) const {
  // Once replies and requests are out of step, no answer may ever come.
  if (gates_ == nullptr || gates_->appender() == nullptr || (type != 'B' && type != 'E') ||
      is_lost_)
    return false;
  Fields fields(payload);
  const std::string_view portal = fields.string();
  return type == 'B' ? !meant_statement(fields.string()).is_certain
                     : !meant_portal(portal).is_certain;
}

// A statement that shows no rows runs to its end whatever limit the client names (drivers name one
// although they expect none); with the column that tells, it would stop there.
std::string Conversation::send_execute(std::string_view payload) {
  Fields fields(payload);
  const std::string name(fields.string());
  const std::uint32_t limit = fields.int32();
  const Appending* appending = telling(meant_portal(name).script);
  requests_.push_back({.kind = Request::Kind::Execute, .name = name, .sent = clock_()});
  if (fields.has_failed() || limit == 0 || appending == nullptr || !appending->is_alone) return {};
  std::string unlimited = name + '\0';
  append_int32(unlimited, 0);
  return message_of('E', unlimited);
}

// What is taken away is known by its name and by its mark, not by what is thought to run.
std::optional<std::string> Conversation::without_told(char type, std::string_view payload) {
  if (gates_ == nullptr || gates_->appender() == nullptr) return std::nullopt;
  if (type == 'T') {
    const auto stripped = strip_description(payload);
    if (!stripped) return std::nullopt;
    if (!stripped->is_empty) return message_of('T', stripped->payload);
    const bool is_asked = !requests_.empty() && requests_.front().kind == Request::Kind::Describe;
    return is_asked ? message_of('n', {}) : std::string();
  }
  if (type != 'D') return std::nullopt;
  auto stripped = strip_row(payload, gates_->appender()->mark());
  if (!stripped) return std::nullopt;
  // All rows of a query tell the same.
  constexpr std::ptrdiff_t kOfQuery = 2;
  const bool is_query = std::ranges::count(stripped->told, '|') == kOfQuery;
  if (!is_query || told_.empty()) told_.push_back(std::move(stripped->told));
  return stripped->is_empty ? std::string() : message_of('D', stripped->payload);
}

}  // namespace isoscope::record
