#pragma once
// Reads along while a client and a server speak the protocol, and reports which statements ran.
//
// Requests and replies are paired by a queue: each request that the server answers stands in it
// until its reply comes. What a prepared statement or a portal is called is decided when the reply
// comes, not when the request is sent: clients send ahead, and a Parse that fails must not redefine
// a name. An error makes the server skip requests up to the next Sync, and the queue does the same.
//
//     client    Parse  Bind  Execute  Sync  Parse  Bind  Execute  Sync
//     server                                 1      2      D D C    Z     E (of Parse)        Z
//
// What is not understood is a gap of the current transaction.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/gatekeeper.h"
#include "record/transactions.h"

namespace isoscope::record {

class Conversation {
 public:
  // Tells the time.
  using Clock = std::function<Microseconds()>;
  // `gates`: who gates statements; null: none is gated. Outlives the conversation.
  Conversation(Transactions transactions, Clock clock, Gatekeeper* gates = nullptr);

  // The messages that must come whole.
  static constexpr std::string_view kFromClient = "QPBECDSHFXcf";
  static constexpr std::string_view kFromServer = "CEZKRS123sIGHWnV";
  // The same if statements tell by a column: rows and their descriptions too, however long.
  static constexpr std::string_view kFromTellingServer = "CEZKRS123sIGHWnVTD";

  // A message that was gathered, by its payload. Returns the message that is to be sent on in its
  // place, or nothing: then it is sent on as it is. Only texts with gates are replaced, and the
  // places in them that errors name; and if statements tell by a column, what concerns it.
  std::string from_client(char type, std::string_view payload);
  // The same. An empty text: nothing is sent on.
  std::optional<std::string> from_server(char type, std::string_view payload);
  // Is it not known yet what this message of the client is about, so that it must not be sent on
  // before the server has answered to what was sent before?
  bool must_wait(char type, std::string_view payload) const;
  // The first bytes of a message that is not gathered.
  void passing_client(char type);
  void passing_server(char type);
  // The connection ended, or stopped to speak the protocol.
  void ended();

  void called(std::string application) { transactions_.called(std::move(application)); }
  // `has_own_role`: it may act as another.
  void logs_in(std::string user, bool has_own_role) {
    user_ = std::move(user);
    has_own_role_ = has_own_role;
  }

 private:
  // A text that was parsed, with its statements; each in `statements` points into `text`.
  struct Script {
    std::string text;
    std::vector<KnownStatement> statements;
    std::vector<std::uint32_t> types;
    std::vector<std::uint64_t> gates;  // of each statement; 0: none
    bool gates_tell_all = true;
    std::vector<bool> tells;    // of each statement: by a column
    std::vector<Splice> edits;  // what was done to the text
    std::string sent;           // the text with them; empty if there are none
  };
  using ScriptPtr = std::shared_ptr<const Script>;
  struct Portal {
    ScriptPtr script;
    std::vector<Parameter> parameters;
    Microseconds bound = 0;
    bool is_started = false;
  };
  struct Request {
    enum class Kind : std::uint8_t {
      Query,
      Parse,
      Bind,
      Describe,
      Execute,
      Close,
      Sync,
      Function,
      CopyEnd
    };
    Kind kind = Kind::Query;
    std::string name = {};    // of the portal; of Parse, the statement
    std::string source = {};  // of Bind: the statement
    ScriptPtr script = {};    // of Query and Parse
    ScriptPtr meant = {};     // of Bind: the statement, as it was known when this was sent
    std::vector<Parameter> parameters = {};
    Microseconds sent = 0;
    std::size_t next = 0;    // of Query: the statement that runs
    bool is_portal = false;  // of Close
  };

  std::shared_ptr<Script> script_of(std::string_view text);
  // Does the server read this text, or this value, otherwise than we do?
  bool is_read_otherwise(std::string_view text, bool is_value = false) const;
  void gate(Script& script, bool is_alone) const;
  void append(Script& script);
  static void edit(Script& script);
  std::string send_query(std::string_view payload);
  std::string send_parse(std::string_view payload);
  std::optional<std::string> corrected(std::string_view error);
  ScriptPtr failing() const;
  std::string send_bind(std::string_view payload);
  std::string send_execute(std::string_view payload);
  // What a name will mean when the server comes to it. Not certain: that depends on an answer which
  // has not come.
  struct Meant {
    ScriptPtr script;
    bool is_certain = true;
  };
  Meant meant_statement(std::string_view name) const;
  Meant meant_portal(std::string_view name) const;
  static const Appending* telling(const ScriptPtr& script);
  std::optional<std::string> without_told(char type, std::string_view payload);
  void complete(std::string_view tag);
  void suspend();
  void fail(std::string_view payload);
  void start_copy_in();
  void ready(char status);
  // Takes the first request if it is of that kind; otherwise the queue is out of step.
  bool take(Request::Kind kind, Request& request);
  void lose_track(std::string why);
  void told_setting(std::string_view name, std::string_view value);
  // The statement that the server works on: of the first request that runs one.
  struct Running {
    RecordedStatement statement;
    StatementText text;
    bool is_known = false;
  };
  Running running();

  void client_said(char type, std::string_view payload);
  void server_said(char type, std::string_view payload);

  Transactions transactions_;
  Clock clock_;
  Gatekeeper* gates_;
  std::string user_;
  bool has_own_role_ = false;
  std::vector<std::string> told_;                   // by the statement that runs
  std::shared_ptr<const ClientSettings> settings_;  // null until the server tells one
  std::deque<Request> requests_;
  std::map<std::string, ScriptPtr, std::less<>> statements_;
  std::map<std::string, Portal, std::less<>> portals_;
  Microseconds last_reply_ = 0;
  bool is_utf8_ = true;            // what the client sends
  bool has_plain_strings_ = true;  // a backslash in '…' is a backslash
  bool is_copying_in_ = false;     // extended protocol: Sync and Flush are ignored until its end
  bool is_skipping_ = false;       // a simple query failed: wait for ReadyForQuery
  bool is_lost_ = false;           // until the next ReadyForQuery with an empty queue
};

}  // namespace isoscope::record
