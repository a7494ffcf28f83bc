#pragma once
// Actors that are commands of the user's: each speaks to the server through a door of its own of
// the recording proxy, which holds its requests until it is their turn.
//
//     sh -c 'python buy.py'  ──▶ door 0 ─┐
//                                        ├─▶ proxy ──▶ server
//     sh -c 'python buy.py'  ──▶ door 1 ─┘     │
//                              release(actor) ─┘
//
// A turn sends one request: a simple query, or what an extended query sends up to its Sync. What
// is held is what schedules are about: statements, and COMMIT or ROLLBACK. BEGIN takes no snapshot
// and passes; so do, outside of transactions, settings and questions about the catalog, which
// drivers ask by themselves. A request with several steps (`BEGIN; UPDATE …; COMMIT`, or a
// statement that commits by itself) gives its actor credit: the turns of these steps send nothing.
//
// Nothing survives: the commands and all that they have started are killed, statements that still
// wait are cancelled, and close() waits until the server's processes are gone. If we ourselves are
// killed, another process does so (last_will.h).
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "force/last_will.h"
#include "force/recorded_run.h"
#include "force/request_steps.h"
#include "force/sessions.h"
#include "force/stage.h"
#include "record/command_process.h"
#include "support/budget.h"

namespace isoscope::force {

struct HeldCommand {
  std::string name;  // of the session
  std::string text;  // for /bin/sh
  // What comes before a statement of this shape is not held; empty: everything is.
  std::string begins_with = {};
};

// A request that had its turn.
struct SentRequest {
  std::string text;
  std::vector<RequestStep> steps = {};
  std::string tag = {};    // of its last statement: "UPDATE 1"
  std::string error = {};  // SQLSTATE
  bool has_waited = false;
};

// Who could have had a turn when one was given.
struct Choice {
  ActorId chosen = {};
  std::vector<ActorId> ready = {};  // in ascending order
};

class HeldCommands final : public Stage, private record::TurnKeeper {
 public:
  struct Options {
    record::ConnectionString dsn;
    bool gives_credit = true;  // turns are steps of a plan; otherwise each is a request
    Budget budget = {};
  };
  static Result<std::unique_ptr<HeldCommands>> open(const Options& options,
                                                    std::vector<HeldCommand> commands);
  ~HeldCommands() override;

  // Starts the commands, one after the other, each up to the first request that is held. An Error
  // with a hint if one of them waits for another before that.
  Result<void> start(Budget& budget);
  // Starts this one and lets all of its requests pass, to its end.
  Result<void> run_freely(ActorId actor, Budget& budget);

  std::size_t size() const override { return actors_.size(); }
  ActorState state(ActorId actor) const override;
  Result<void> release(ActorId actor) override;
  Result<void> pump(int milliseconds) override;
  Result<std::vector<Wait>> waits() override;

  const ById<RequestId, SentRequest>& sent(ActorId actor) const { return actors_[actor].sent; }
  // By turn of the actor: which of its requests that was.
  const ById<StatementId, RequestId>& turns(ActorId actor) const { return actors_[actor].turns; }
  const std::vector<Choice>& choices() const { return choices_; }
  std::optional<int> exit_code(ActorId actor) const { return actors_[actor].exit_code; }
  // What it printed, on both channels.
  std::string output(ActorId actor) const;

  // Ends what still runs and waits until the server has forgotten it.
  void close();
  // Requires: closed.
  RecordedRun judge(Budget& budget);

 private:
  struct Turn {
    bool is_open = false;
    bool has_execute = false;  // something runs in it
    bool is_sealed = false;    // its request has been sent whole
  };
  struct Connection {
    ActorId actor = {};  // whose door it came through
    int pid = 0;
    std::uint32_t secret = 0;
    bool is_in_block = false;
    std::size_t unanswered = 0;  // requests that the server will end with ReadyForQuery
    Turn turn = {};
    std::optional<SentRequest> held = {};
    std::map<std::string, std::string, std::less<>> prepared = {};  // texts by name
    CleanupIfKilled if_killed = {};
  };
  struct Actor {
    HeldCommand command;
    std::optional<record::CommandProcess> process = {};
    std::optional<int> exit_code = {};
    std::optional<Budget::Clock::time_point> ended = {};
    int output = -1;
    bool is_free = false;    // nothing is held
    bool has_begun = false;  // the statement that it begins with has come
    std::size_t credit = 0;
    ById<RequestId, SentRequest> sent = {};
    ById<StatementId, RequestId> turns = {};
  };

  HeldCommands() = default;
  void came(std::uint32_t connection, std::size_t door) override;
  bool lets_pass(std::uint32_t connection, char type, std::string_view payload) override;
  void heard(std::uint32_t connection, char type, std::string_view payload) override;
  void left(std::uint32_t connection) override;

  Result<void> launch(ActorId actor);
  bool passes_by_itself(Connection& c, char type, std::string_view payload);
  std::string text_of(const Connection& c, char type, std::string_view payload) const;
  void note_passing(Connection& c, char type);
  bool is_over(const Actor& a, ActorId actor) const;
  Connection* held_of(ActorId actor);
  void reap();

  Options options_;
  ById<ActorId, Actor> actors_;
  std::map<std::uint32_t, Connection> connections_;
  std::map<std::uint32_t, ActorId> actor_of_;  // of connections, also of those that have left
  std::vector<int> pids_;                      // of all connections that there were
  std::vector<Choice> choices_;
  std::unique_ptr<RunRecorder> recorder_;
  std::unique_ptr<PgMonitor> monitor_;
  bool is_closed_ = false;
  CleanupIfKilled if_killed_;
};

}  // namespace isoscope::force
