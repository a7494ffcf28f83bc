#include "record/conversation.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "record/wire.h"

namespace isoscope::record {

namespace {

constexpr const char* kReadOtherwise =
    "a text that is not in UTF8, or has backslashes in strings that stand for something else";

}  // namespace

Conversation::Conversation(Transactions transactions, Clock clock, Gatekeeper* gates)
    : transactions_(std::move(transactions)), clock_(std::move(clock)), gates_(gates) {}

bool Conversation::is_read_otherwise(std::string_view text, bool is_value) const {
  const bool is_ascii = std::ranges::none_of(text, [](char c) { return (c & 0x80) != 0; });
  return (!is_utf8_ && !is_ascii) ||
         (!is_value && !has_plain_strings_ && text.find('\\') != std::string_view::npos);
}

std::shared_ptr<Conversation::Script> Conversation::script_of(std::string_view text) {
  auto script = std::make_shared<Script>();
  script->text = text;
  const bool is_foreign = is_read_otherwise(text);
  if (is_foreign) transactions_.doubt(kReadOtherwise, clock_());
  if (gates_ != nullptr && !is_foreign) {
    script->statements = gates_->statements(script->text);
  } else {
    for (StatementText& statement : split_statements(script->text))
      script->statements.push_back({std::move(statement), nullptr});
  }
  return script;
}

// `is_alone`: nothing else is under way, and the text is run once, now.
void Conversation::gate(Script& script, bool is_alone) const {
  if (gates_ == nullptr || gates_->appender() != nullptr) return;
  is_alone &= script.statements.size() == 1;
  for (const auto& [statement, shape] : script.statements) {
    script.gates.push_back(0);
    if (shape == nullptr || !shape->gap.empty() || shape->gate.empty()) continue;
    const std::uint64_t number = gates_->next_gate();
    script.gates.back() = number;
    const GateKind kind = is_alone && transactions_.has_told(statement.kind) ? GateKind::Snapshot
                          : statement.kind == StatementKind::Select          ? GateKind::Transaction
                                                                             : GateKind::OwnId;
    script.gates_tell_all = kind != GateKind::Snapshot;
    const Constants constants(*shape, statement.text);
    const auto begin = static_cast<std::size_t>(statement.text.data() - script.text.data());
    for (const Splice& splice : shape->gate) {
      const std::size_t at = constants.place(splice.at);
      script.edits.push_back({begin + at, constants.place(splice.at + splice.removed) - at,
                              inserted(splice, number, kind)});
    }
  }
  edit(script);
}

void Conversation::edit(Script& script) {
  std::size_t taken = 0;
  for (const Splice& edit : script.edits) {
    script.sent.append(script.text, taken, edit.at - taken);
    script.sent += edit.inserted;
    taken = edit.at + edit.removed;
  }
  if (!script.edits.empty()) script.sent.append(script.text, taken);
}

std::string Conversation::send_query(std::string_view payload) {
  Fields fields(payload);
  const auto script = script_of(fields.string());
  if (!fields.has_failed()) gate(*script, requests_.empty());
  if (!fields.has_failed()) append(*script);
  requests_.push_back({.kind = Request::Kind::Query, .script = script, .sent = clock_()});
  return script->sent.empty() ? std::string() : message_of('Q', script->sent + '\0');
}

std::string Conversation::send_parse(std::string_view payload) {
  Fields fields(payload);
  Request request{.kind = Request::Kind::Parse, .name = std::string(fields.string())};
  const auto script = script_of(fields.string());
  std::string rest;
  const std::size_t count = fields.int16();
  append_int16(rest, static_cast<std::uint16_t>(count));
  for (std::size_t i = 0; i < count && !fields.has_failed(); ++i) {
    script->types.push_back(fields.int32());
    append_int32(rest, script->types.back());
  }
  if (!fields.has_failed() && fields.at_end()) gate(*script, false);
  if (!fields.has_failed() && fields.at_end()) append(*script);
  std::string message;
  if (!script->sent.empty())
    message = message_of('P', request.name + '\0' + script->sent + '\0' + rest);
  request.script = script;
  request.sent = clock_();
  requests_.push_back(std::move(request));
  return message;
}

std::string Conversation::send_bind(std::string_view payload) {
  Fields fields(payload);
  Request request{.kind = Request::Kind::Bind, .name = std::string(fields.string())};
  request.source = fields.string();
  std::vector<std::uint16_t> formats(fields.int16());
  for (std::uint16_t& format : formats) format = fields.int16();
  const std::size_t count = fields.int16();
  for (std::size_t i = 0; i < count && !fields.has_failed(); ++i) {
    Parameter parameter;
    const std::uint32_t size = fields.int32();
    parameter.is_null = size == 0xFFFFFFFFU;
    if (!parameter.is_null) parameter.bytes = fields.bytes(size);
    if (is_read_otherwise(parameter.bytes, true)) transactions_.doubt(kReadOtherwise, clock_());
    if (!formats.empty())
      parameter.is_binary = formats[formats.size() == 1 ? 0 : std::min(i, formats.size() - 1)] != 0;
    request.parameters.push_back(std::move(parameter));
  }
  request.meant = meant_statement(request.source).script;
  const Appending* appending = telling(request.meant);
  request.sent = clock_();
  requests_.push_back(std::move(request));
  const auto widened = appending == nullptr ? std::nullopt : widened_bind(payload, *appending);
  return widened ? message_of('B', *widened) : std::string();
}

std::string Conversation::from_client(char type, std::string_view payload) {
  if (type == 'Q') return send_query(payload);
  if (type == 'P') return send_parse(payload);
  if (type == 'B') return send_bind(payload);
  if (type == 'E') return send_execute(payload);
  client_said(type, payload);
  return {};
}

std::optional<std::string> Conversation::from_server(char type, std::string_view payload) {
  std::optional<std::string> replaced = without_told(type, payload);
  if (type == 'E') replaced = corrected(payload);
  server_said(type, payload);
  return replaced;
}

void Conversation::client_said(char type, std::string_view payload) {
  Fields fields(payload);
  switch (type) {
    case 'D': requests_.push_back({.kind = Request::Kind::Describe}); return;
    case 'C': {
      const bool is_portal = fields.byte() == 'P';
      requests_.push_back({.kind = Request::Kind::Close,
                           .name = std::string(fields.string()),
                           .is_portal = is_portal});
      return;
    }
    case 'S':
      if (!is_copying_in_) requests_.push_back({.kind = Request::Kind::Sync});
      return;
    case 'F': requests_.push_back({.kind = Request::Kind::Function, .sent = clock_()}); return;
    case 'c':
    case 'f':
      if (is_copying_in_) {
        is_copying_in_ = false;
      } else {
        requests_.push_back({.kind = Request::Kind::CopyEnd});
      }
      return;
    default: return;  // Flush, Terminate
  }
}

// A request that is too long to be gathered is answered all the same.
void Conversation::passing_client(char type) {
  if (type == 'd' || type == 'p') return;
  const Microseconds now = clock_();
  switch (type) {
    case 'Q':
      requests_.push_back({.kind = Request::Kind::Query, .script = script_of({}), .sent = now});
      break;
    case 'P':
      requests_.push_back({.kind = Request::Kind::Parse, .script = script_of({}), .sent = now});
      break;
    case 'B': requests_.push_back({.kind = Request::Kind::Bind, .sent = now}); break;
    case 'F': requests_.push_back({.kind = Request::Kind::Function, .sent = now}); break;
    default: break;
  }
  transactions_.doubt("a message is too long to be looked at", now);
}

void Conversation::lose_track(std::string why) {
  if (is_lost_) return;
  is_lost_ = true;
  transactions_.doubt(std::move(why), clock_());
}

bool Conversation::take(Request::Kind kind, Request& request) {
  // Ends of copies have no reply of their own.
  while (!requests_.empty() && requests_.front().kind == Request::Kind::CopyEnd &&
         kind != Request::Kind::CopyEnd)
    requests_.pop_front();
  if (requests_.empty() || requests_.front().kind != kind) {
    lose_track("the server's reply belongs to no request");
    return false;
  }
  request = std::move(requests_.front());
  requests_.pop_front();
  return true;
}

Conversation::ScriptPtr Conversation::failing() const {
  const auto front = std::ranges::find_if(
      requests_, [](const Request& r) { return r.kind != Request::Kind::CopyEnd; });
  if (front == requests_.end()) return nullptr;
  if (front->kind == Request::Kind::Execute) {
    const auto portal = portals_.find(front->name);
    return portal == portals_.end() ? nullptr : portal->second.script;
  }
  if (front->kind == Request::Kind::Bind) {
    const auto prepared = statements_.find(front->source);
    return prepared == statements_.end() ? nullptr : prepared->second;
  }
  return front->script;
}

// An error names a place in the text that the server has; the client has another.
std::optional<std::string> Conversation::corrected(std::string_view error) {
  const std::string_view place = error_field(error, 'P');
  const ScriptPtr script = failing();
  if (place.empty() || script == nullptr || script->edits.empty()) return std::nullopt;
  std::size_t position = 0;
  std::from_chars(place.data(), place.data() + place.size(), position);
  const std::string original =
      std::to_string(place_before_edits(script->sent, script->edits, position));
  std::string payload(error.substr(0, static_cast<std::size_t>(place.data() - error.data())));
  payload += original;
  payload += error.substr(static_cast<std::size_t>(place.data() - error.data()) + place.size());
  return message_of('E', payload);
}

Conversation::Running Conversation::running() {
  Running result;
  const Microseconds now = clock_();
  result.statement.end = now;
  result.statement.start = now;
  const auto front = std::ranges::find_if(
      requests_, [](const Request& r) { return r.kind != Request::Kind::CopyEnd; });
  if (front == requests_.end()) return result;
  result.statement.sent = front->sent;
  result.statement.bound = front->sent;
  result.statement.start = std::max(front->sent, last_reply_);
  ScriptPtr script = front->script;
  std::size_t which = 0;
  if (front->kind == Request::Kind::Query) {
    which = front->next;
  } else if (front->kind == Request::Kind::Execute) {
    const auto portal = portals_.find(front->name);
    if (portal != portals_.end()) {
      script = portal->second.script;
      result.statement.parameters = portal->second.parameters;
      result.statement.bound = std::min(front->sent, portal->second.bound);
    }
  } else if (front->kind == Request::Kind::Bind) {
    const auto prepared = statements_.find(front->source);
    if (prepared != statements_.end()) script = prepared->second;
    result.statement.parameters = front->parameters;
  } else if (front->kind == Request::Kind::Function) {
    result.statement.sql = "(function call)";
    result.is_known = true;
  }
  if (script == nullptr || which >= script->statements.size()) return result;
  result.text = script->statements[which].text;
  result.statement.settings = settings_;
  result.statement.shape = script->statements[which].shape;
  result.statement.kind = result.text.kind;
  result.statement.sql = result.text.text;
  result.statement.parameter_types = script->types;
  if (which < script->gates.size()) result.statement.gate = script->gates[which];
  result.statement.is_told = which < script->tells.size() && script->tells[which];
  result.statement.gate_tells_all = result.statement.gate != 0 && script->gates_tell_all;
  result.is_known = true;
  return result;
}

void Conversation::complete(std::string_view tag) {
  const auto front = std::ranges::find_if(
      requests_, [](const Request& r) { return r.kind != Request::Kind::CopyEnd; });
  if (front == requests_.end() ||
      (front->kind != Request::Kind::Query && front->kind != Request::Kind::Execute))
    return lose_track("a statement ended that was not sent");
  Running run = running();
  run.statement.tag = tag;
  run.statement.told = std::exchange(told_, {});
  bool is_new = true;
  if (front->kind == Request::Kind::Query) {
    ++front->next;
  } else {
    const auto portal = portals_.find(front->name);
    if (portal != portals_.end()) is_new = !std::exchange(portal->second.is_started, true);
    requests_.erase(requests_.begin(), front + 1);
  }
  last_reply_ = run.statement.end;
  if (!is_new) return;  // a portal that goes on
  if (!run.is_known) run.statement.sql = "(unknown statement)";
  transactions_.done(std::move(run.statement), run.text);
}

void Conversation::suspend() { complete(kSuspended); }

void Conversation::fail(std::string_view payload) {
  Running run = running();
  run.statement.error = error_field(payload, 'C');
  told_.clear();
  last_reply_ = run.statement.end;
  while (!requests_.empty() && requests_.front().kind == Request::Kind::CopyEnd)
    requests_.pop_front();
  is_copying_in_ = false;
  if (requests_.empty()) return;  // the server says why it ends the connection
  if (!run.is_known) run.statement.sql = "(unknown statement)";
  const auto kind = requests_.front().kind;
  transactions_.failed(std::move(run.statement), run.text);
  if (kind == Request::Kind::Query || kind == Request::Kind::Function) {
    is_skipping_ = true;
    return;
  }
  while (!requests_.empty() && requests_.front().kind != Request::Kind::Sync) requests_.pop_front();
  is_skipping_ = true;
}

// While the client sends rows in the extended protocol, the server ignores Sync: those that were
// sent before the end of the rows are not answered.
void Conversation::start_copy_in() {
  const bool is_extended = !requests_.empty() && requests_.front().kind == Request::Kind::Execute;
  if (!is_extended) return;
  for (auto request = requests_.begin() + 1; request != requests_.end();) {
    if (request->kind == Request::Kind::CopyEnd) {
      requests_.erase(request);
      return;
    }
    request = request->kind == Request::Kind::Sync ? requests_.erase(request) : request + 1;
  }
  is_copying_in_ = true;
}

void Conversation::ready(char status) {
  const Microseconds now = clock_();
  is_skipping_ = false;
  while (!requests_.empty()) {
    const auto kind = requests_.front().kind;
    requests_.pop_front();
    if (kind == Request::Kind::Query || kind == Request::Kind::Sync ||
        kind == Request::Kind::Function)
      break;
  }
  if (requests_.empty()) is_lost_ = false;
  transactions_.ready(status, now);
  if (status == 'I') portals_.clear();
  last_reply_ = now;
}

void Conversation::server_said(char type, std::string_view payload) {
  Fields fields(payload);
  Request request;
  switch (type) {
    case 'C': return complete(fields.string());
    case 's': return suspend();
    case 'E':
      if (!is_skipping_) fail(payload);
      return;
    case 'Z': return ready(static_cast<char>(fields.byte()));
    case 'K': return transactions_.served_by(fields.int32());
    case 'S': {
      const std::string_view name = fields.string();
      return told_setting(name, fields.string());
    }
    case '1':
      if (take(Request::Kind::Parse, request)) statements_[request.name] = request.script;
      return;
    case '2':
      if (take(Request::Kind::Bind, request)) {
        const auto prepared = statements_.find(request.source);
        portals_[request.name] = {prepared == statements_.end() ? nullptr : prepared->second,
                                  std::move(request.parameters), request.sent};
      }
      return;
    case '3':
      if (!take(Request::Kind::Close, request)) return;
      if (request.is_portal) {
        portals_.erase(request.name);
      } else {
        statements_.erase(request.name);
      }
      return;
    case 'I':  // an empty text: of Execute the only reply, of Query followed by ReadyForQuery
      if (!requests_.empty() && requests_.front().kind == Request::Kind::Execute)
        requests_.pop_front();
      return;
    case 'n':
    case 'T': return passing_server(type);
    case 'G': return start_copy_in();
    case 'V': {
      Running run = running();
      transactions_.done(std::move(run.statement), run.text);
      return;
    }
    default: return;
  }
}

void Conversation::told_setting(std::string_view name, std::string_view value) {
  if (name == "application_name") return transactions_.called(std::string(value));
  if (name == "client_encoding") is_utf8_ = value == "UTF8";
  if (name == "standard_conforming_strings") has_plain_strings_ = value == "on";
  std::string ClientSettings::*setting = nullptr;
  if (name == "TimeZone") setting = &ClientSettings::time_zone;
  if (name == "DateStyle") setting = &ClientSettings::date_style;
  if (name == "IntervalStyle") setting = &ClientSettings::interval_style;
  if (setting == nullptr) return;
  auto changed = std::make_shared<ClientSettings>(settings_ ? *settings_ : ClientSettings());
  (*changed).*setting = value;
  // It is told when the request has ended: which of its statements ran before is not known.
  const bool is_late =
      settings_ != nullptr && *changed != *settings_ && !requests_.empty() &&
      (requests_.front().kind != Request::Kind::Query ||
       (requests_.front().script != nullptr && requests_.front().script->statements.size() > 1));
  if (is_late && transactions_.is_open())
    transactions_.doubt("settings that changed within one request", clock_());
  settings_ = std::move(changed);
}

void Conversation::passing_server(char type) {
  // A description ends the reply to Describe; in the reply to a Query it is none of our business.
  if ((type == 'T' || type == 'n') && !requests_.empty() &&
      requests_.front().kind == Request::Kind::Describe)
    requests_.pop_front();
}

void Conversation::ended() {
  // What runs now may take effect although its reply never comes.
  Running run = running();
  const bool is_committing = std::ranges::any_of(requests_, [this](const Request& request) {
    ScriptPtr script = request.script;
    if (request.kind == Request::Kind::Execute) {
      const auto portal = portals_.find(request.name);
      if (portal != portals_.end()) script = portal->second.script;
    }
    return script != nullptr &&
           std::ranges::any_of(script->statements, [](const KnownStatement& statement) {
             return statement.text.kind == StatementKind::Commit ||
                    statement.text.kind == StatementKind::TwoPhase;
           });
  });
  if (run.is_known && !is_skipping_ && is_recorded(run.text.kind))
    transactions_.interrupted(std::move(run.statement));
  transactions_.lost(is_committing, clock_());
  requests_.clear();
}

}  // namespace isoscope::record
