#pragma once
// Actors that are connections of our own: each has a script that says its next statement, when it
// knows the answer to the one before.
//
//     auto stage = PgSessions::open(dsn, {say({"BEGIN", "UPDATE …", "COMMIT"}), …}, {});
//     auto played = play(**stage, {.turns = {a, b, a, b}}, budget);
//     (*stage)->answers(a)                                       // one per statement that was sent
//
// Nothing survives: a connection that still waits when the object goes is cancelled first.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "force/answer.h"
#include "force/stage.h"

namespace isoscope::force {

// The next statement of a session; nothing when it is done. `last`: the answer to the one before,
// null at the beginning.
using Script = std::function<std::optional<std::string>(const Answer* last)>;

// Says these, whatever comes.
Script say(std::vector<std::string> statements);
// Says these, but after a failure only the last one, which ends the transaction.
Script say_until_failure(std::vector<std::string> statements);

// By statement that was sent and answered.
using Answers = ById<StatementId, Answer>;

class Sessions : public Stage {
 public:
  // One for each statement that was sent and answered, in order.
  virtual const Answers& answers(ActorId actor) const = 0;
  // What was sent.
  virtual const ById<StatementId, std::string>& statements(ActorId actor) const = 0;
  // The process (MariaDB: thread) of the server that the session has.
  virtual std::uint64_t process(ActorId actor) const = 0;
  // New scripts for the same connections, one for each; answers and statements are forgotten.
  // Requires: no actor is busy.
  virtual void restart(std::vector<Script> scripts) = 0;
};

// What the application_name of a session of ours begins with.
inline constexpr std::string_view kActorName = "isoscope/";

struct ActorScript {
  std::string name;
  Script script;
  std::vector<std::string> setup = {};  // run at once when the connection is open
};

class PgSessions final : public Sessions {
 public:
  // `dsn` as libpq reads it. `monitor`: where waits are asked; another than `dsn` if that leads
  // through a proxy, `idle` then has it work while we wait.
  struct Options {
    std::string dsn;
    std::string monitor = {};                         // empty: as `dsn`
    std::function<void(int milliseconds)> idle = {};  // called in place of waiting
    // Functions stop at the gates of gates.h, and a turn of a session lets its function go on to
    // the next one. Such a stop is an answer with the tag "gate".
    bool has_gates = false;
  };
  static Result<std::unique_ptr<PgSessions>> open(Options options, std::vector<ActorScript> actors);
  ~PgSessions() override;

  std::size_t size() const override;
  ActorState state(ActorId actor) const override;
  Result<void> release(ActorId actor) override;
  Result<void> pump(int milliseconds) override;
  Result<std::vector<Wait>> waits() override;
  const Answers& answers(ActorId actor) const override;
  const ById<StatementId, std::string>& statements(ActorId actor) const override;
  std::uint64_t process(ActorId actor) const override;
  void restart(std::vector<Script> scripts) override;

 private:
  struct State;
  explicit PgSessions(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Which of these server processes wait for a lock, and for whom: pid, then the pids that it waits
// for. Asked on a connection of its own.
class PgMonitor {
 public:
  static Result<std::unique_ptr<PgMonitor>> open(const std::string& dsn);
  ~PgMonitor();
  PgMonitor(const PgMonitor&) = delete;
  PgMonitor& operator=(const PgMonitor&) = delete;

  // The waits of actors by their processes; 0 is an actor without one.
  Result<std::vector<Wait>> waits(const ById<ActorId, int>& pids);
  Result<std::vector<Row>> query(const std::string& sql);
  // The same for a text of several statements; a failure is part of the answer.
  Answer answer(const std::string& sql);

 private:
  struct State;
  explicit PgMonitor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace isoscope::force
