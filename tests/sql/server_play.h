#pragma once
// Calls of an SQL program on a live PostgreSQL or MariaDB, statement by statement: our interpreter
// says what comes next, the server says what it comes to.
#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "force/scheduler.h"
#include "force/sessions.h"
#include "sql/read/pg_parse.h"
#include "sql/server/schedules.h"

namespace isoscope::sql::server {

// How many random programs for each level (hundreds in the nightly tests), and from which seed on.
inline int num_programs() {
  const char* asked = std::getenv("ISOSCOPE_SQL_PROGRAMS");
  return asked != nullptr ? std::atoi(asked) : 20;
}
inline std::uint64_t first_seed() {
  const char* asked = std::getenv("ISOSCOPE_SQL_SEED");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : 1;
}

// The statement as a client sends it: variables replaced by their values, without INTO.
inline std::string client_text(const Function& function, const NextStep& step,
                               bool is_mariadb = false) {
  const std::string& text = step.statement->text;
  const auto tokens = scan_sql(text);
  std::string out;
  bool in_into = false;
  for (std::size_t i = 0; tokens && i < tokens->size(); ++i) {
    std::string word = text.substr((*tokens)[i].begin, (*tokens)[i].end - (*tokens)[i].begin);
    if (word == "PERFORM") word = "SELECT";
    if (is_mariadb && word == "SHARE") word = "LOCK IN SHARE MODE";
    if (is_mariadb && word == "FOR" && text.substr((*tokens)[i].end).starts_with(" SHARE"))
      continue;
    if (word == "INTO" && i > 0 && text.substr((*tokens)[i - 1].begin, 6) != "INSERT") {
      in_into = true;
      continue;
    }
    if (in_into) {
      in_into = false;
      continue;  // one target
    }
    for (std::size_t v = 0; v < function.variables.size(); ++v) {
      if (function.variables[v].name == word) {
        word = print(step.variables[v]);
        break;
      }
    }
    out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

// A number, a truth value or NULL, as the programs of the tests have them; where `type` says so, a
// text.
inline void add_cell(std::vector<Value>& values, const force::Cell& cell,
                     std::optional<Type> type = {}) {
  values.emplace_back();
  if (!cell) return;
  if (type == Type::Text) {
    values.back().data = *cell;
    return;
  }
  if (cell->empty()) return;  // what returns void gives an empty text
  if (*cell == "t" || *cell == "f") {
    values.back().data = *cell == "t";
  } else if (cell->find('.') != std::string::npos) {
    values.back().data = parse_decimal(*cell).value();
  } else {
    values.back().data = std::int64_t{std::stoll(*cell)};
  }
}

// As the server is told of it.
inline std::string_view isolation_name(PgLevel level) {
  static constexpr std::string_view kNames[] = {"READ COMMITTED", "REPEATABLE READ",
                                                "SERIALIZABLE"};
  return kNames[static_cast<std::size_t>(level)];
}

// One session of the program as a script of a connection.
class ClientSession {
 public:
  ClientSession(const Machine& machine, ProgramSession session)
      : machine_(machine),
        session_(machine.program().outline().sessions[session]),
        is_mariadb_(machine.server() == ServerKind::MariaDb) {}

  std::optional<std::string> next(const force::Answer* last) {
    if (last != nullptr) take(*last);
    // An error of MariaDB leaves the transaction as it is; only a deadlock ends it.
    rolls_back_ = std::exchange(must_roll_back_, false);
    if (rolls_back_) return "ROLLBACK";
    if (call_ == session_.size) return std::nullopt;
    std::string text;
    if (is_new_ && !is_mariadb_) {
      text = fmt::format("{}BEGIN ISOLATION LEVEL {}; ", has_failed_ ? "ROLLBACK; " : "",
                         isolation_name(machine_.level(txn_of(at()))));
      is_new_ = false;
      has_failed_ = false;
    }
    step_ = machine_.calls().find_next(at(), log_, {});
    // Subqueries are part of the text that follows; what they give decides nothing here. Further
    // rows of an INSERT were part of the text before.
    while (step_.kind == NextStep::Kind::Statement && (is_subquery() || is_further_row())) {
      auto result = std::make_shared<StatementResult>();
      result->statement = step_.statement;
      result->rows = {{Value()}};
      result->num_rows = 1;
      log_.push_back(std::move(result));
      step_ = machine_.calls().find_next(at(), log_, {});
    }
    switch (step_.kind) {
      case NextStep::Kind::Statement:
        return text + client_text(machine_.program().function(at()), step_, is_mariadb_);
      case NextStep::Kind::Commit: return text + "COMMIT";
      default: return text + "ROLLBACK";
    }
  }
  const std::vector<CallEnd>& ends() const { return ends_; }

 private:
  bool is_further_row() const {
    return step_.statement->is<Insert>() && step_.statement->continues && !log_.empty() &&
           log_.back()->statement->is<Insert>();
  }
  bool is_subquery() const {
    const auto* select = step_.statement->find<Select>();
    return select != nullptr && select->in_expression;
  }

  void take(const force::Answer& answer) {
    if (rolls_back_) return;
    if (answer.has_failed()) {
      must_roll_back_ = is_mariadb_ && answer.error != "1213";
      end({.is_committed = false, .failure = {answer.error, answer.message}, .locals = {}});
      // A COMMIT that fails leaves no transaction behind.
      has_failed_ = step_.kind == NextStep::Kind::Statement;
      return;
    }
    if (step_.kind != NextStep::Kind::Statement) {
      end({.is_committed = step_.kind == NextStep::Kind::Commit,
           .failure = step_.failure,
           .locals = step_.locals});
      return;
    }
    auto result = std::make_shared<StatementResult>();
    result->statement = step_.statement;
    result->num_rows = answer.affected;
    if (!answer.tables.empty()) {
      for (const force::Row& row : answer.tables.back().rows) {
        auto& values = result->rows.emplace_back();
        for (const force::Cell& cell : row) add_cell(values, cell);
      }
    }
    log_.push_back(std::move(result));
  }

  void end(CallEnd call_end) {
    ends_.push_back(std::move(call_end));
    log_.clear();
    is_new_ = true;
    ++call_;
  }

  CallId at() const { return {session_.first.index + call_}; }

  const Machine& machine_;
  const Session& session_;
  bool is_mariadb_;
  std::uint32_t call_ = 0;
  bool is_new_ = true;
  bool must_roll_back_ = false;
  bool rolls_back_ = false;
  bool has_failed_ = false;
  Log log_;
  NextStep step_;
  std::vector<CallEnd> ends_;
};

// The turns of a schedule of the machine: who was let go on after a wait needs none. On MariaDB a
// transaction with an error must be rolled back.
inline std::vector<std::size_t> turns_of(const Machine& machine,
                                         const std::vector<Choice>& schedule) {
  std::vector<std::size_t> turns;
  State state = machine.start();
  for (const Choice& choice : schedule) {
    if (!state.sessions[choice.session].running) turns.push_back(choice.session.index);
    const StepDone done = machine.take(state, choice);
    if (machine.server() == ServerKind::MariaDb && done.kind == StepDone::Kind::Aborted &&
        done.statement != nullptr && !choice.is_victim)
      turns.push_back(choice.session.index);
  }
  return turns;
}

// The sessions of a program are the actors of its play.
inline force::Turns as_actors(const std::vector<std::size_t>& sessions) {
  force::Turns turns;
  for (const std::size_t s : sessions) turns.push_back({static_cast<std::uint32_t>(s)});
  return turns;
}

struct ServerPlay {
  RunEnd end;
  std::string story;  // what was sent and answered
  std::string trouble;
};

// How to reach a server.
struct ServerAccess {
  std::function<Result<std::unique_ptr<force::Sessions>>(std::vector<force::ActorScript>)> open;
  std::function<Result<std::vector<force::Row>>(const std::string& sql)> query;
};

// The rows of every table, by all their columns.
inline void read_rows(const Machine& machine, const ServerAccess& server, ServerPlay& result) {
  for (const Table& table : machine.program().app().tables) {
    std::string order = "1";
    for (std::size_t c = 2; c <= table.columns.size(); ++c) order += fmt::format(", {}", c);
    const auto rows = server.query(fmt::format("SELECT * FROM {} ORDER BY {}", table.name, order));
    auto& list = result.end.rows.emplace_back();
    if (!rows) {
      result.trouble = rows.error().what;
      continue;
    }
    for (const force::Row& row : *rows) {
      auto& values = list.emplace_back();
      for (std::size_t c = 0; c < row.size(); ++c)
        add_cell(values, row[c], table.columns.entries()[c].type);
    }
  }
}

// What was sent and answered, line by line.
inline std::string story_of(const force::Sessions& stage, const force::Played& played,
                            const std::vector<std::string>& names) {
  std::string story;
  for (const force::Moment& m : played.moments) {
    const std::string& who = names[m.actor.index];
    if (m.kind == force::Moment::Kind::Sent)
      story += who + ": " + stage.statements(m.actor)[m.statement] + "\n";
    if (m.kind == force::Moment::Kind::Parked) story += who + " waits\n";
    if (m.kind == force::Moment::Kind::Answered) {
      const force::Answer& answer = stage.answers(m.actor)[m.statement];
      story += who + " -> " +
               (answer.has_failed() ? answer.error + " " + answer.message
                                    : answer.tag + " " + answer.value().value_or("")) +
               "\n";
    }
  }
  return story;
}

// Plays the turns of the scripts, then whatever is left. Gives what each was answered.
inline std::vector<force::Answers> play_scripts(const ServerAccess& server,
                                                std::vector<force::ActorScript> actors,
                                                const std::vector<std::size_t>& turns,
                                                ServerPlay& result) {
  std::vector<std::string> names;
  for (const force::ActorScript& actor : actors) names.push_back(actor.name);
  auto stage = server.open(std::move(actors));
  if (!stage) {
    result.trouble = stage.error().what;
    return {};
  }
  Budget budget = Budget::seconds(60);
  const auto played = force::play(**stage, {.turns = as_actors(turns), .plays_rest = true}, budget);
  if (!played || played->end != force::Played::End::Complete)
    result.trouble = played ? "the schedule was not played to its end" : played.error().what;
  if (played) result.story = story_of(**stage, *played, names);
  std::vector<force::Answers> answers;
  for (std::uint32_t actor = 0; actor < names.size(); ++actor)
    answers.push_back((*stage)->answers({actor}));
  return answers;
}

// How a session ends that runs one call: with its first error, if any.
inline CallEnd end_of_answers(const force::Answers& answers) {
  for (const force::Answer& answer : answers) {
    if (answer.has_failed())
      return {.is_committed = false, .failure = {answer.error, answer.message}, .locals = {}};
  }
  return {.is_committed = true, .failure = {}, .locals = {}};
}

// Plays the turns, then whatever is left. The tables must be there, with their rows.
inline ServerPlay play_on_server(const Machine& machine, const ServerAccess& server,
                                 std::vector<std::size_t> turns) {
  ServerPlay result;
  std::vector<std::shared_ptr<ClientSession>> clients;
  std::vector<force::ActorScript> actors;
  const auto& sessions = machine.program().outline().sessions;
  for (const ProgramSession s : sessions.ids()) {
    auto client = std::make_shared<ClientSession>(machine, s);
    actors.push_back({.name = sessions[s].name, .script = [client](const force::Answer* last) {
                        return client->next(last);
                      }});
    clients.push_back(std::move(client));
  }
  play_scripts(server, std::move(actors), turns, result);
  if (!result.trouble.empty()) return result;
  for (const auto& client : clients)
    for (const CallEnd& end : client->ends()) result.end.calls.push_back(end);
  read_rows(machine, server, result);
  return result;
}

inline ServerAccess access_to(const force::PgSessions::Options& target, force::PgMonitor& monitor) {
  using Opened = Result<std::unique_ptr<force::Sessions>>;
  return {.open = [target](std::vector<force::ActorScript> actors) -> Opened {
            auto stage = force::PgSessions::open(target, std::move(actors));
            if (!stage) return stage.error();
            return std::unique_ptr<force::Sessions>(std::move(*stage));
          },
          .query = [&monitor](const std::string& sql) { return monitor.query(sql); }};
}

// Ends as text, to compare and to show; what errors say is left out.
inline std::string end_text(const RunEnd& end) {
  std::string text;
  for (const CallEnd& call : end.calls) {
    text += call.is_committed ? "commit" : "abort " + call.failure.sqlstate;
    if (call.is_committed) {
      for (const Value& value : call.locals) text += " " + print(value);
    }
    text += "\n";
  }
  for (const auto& table : end.rows) {
    for (const auto& row : table) {
      for (const Value& value : row) text += " " + print(value);
      text += ";";
    }
    text += "\n";
  }
  return text;
}

}  // namespace isoscope::sql::server
