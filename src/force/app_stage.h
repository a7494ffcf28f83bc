#pragma once
// An SQL application on a server, in a schema of its own, and its calls as actors.
//
// Before each run the schema is made anew, with gates in its functions (gates.h); it is dropped
// with the object. Each call is a transaction on a connection of its own. A run is recorded where
// the server gives a log and its functions are understood.
#include <memory>
#include <string>
#include <vector>

#include "force/app_calls.h"
#include "force/experiment.h"
#include "force/last_will.h"

namespace isoscope::force {

// A schema with the application in it.
class AppSchema {
 public:
  // `text`: the application, without lines of psql.
  static Result<std::unique_ptr<AppSchema>> open(const std::string& dsn, std::string_view text);
  ~AppSchema();
  AppSchema(const AppSchema&) = delete;
  AppSchema& operator=(const AppSchema&) = delete;

  // The application as it was at the start.
  Result<void> load();
  // The gates did something to the functions that the server does not take: from now on they are
  // less. False if there are none left.
  bool take_gates_back(const std::string& why);

  const std::string& name() const { return schema_; }
  const GatedApplication& gated() const { return gated_; }
  bool is_recorded() const { return no_record_.empty(); }
  const std::string& no_record() const { return no_record_; }  // why it is not
  PgMonitor& monitor() { return *monitor_; }
  // What a session says to be in the schema.
  std::vector<std::string> session_setup() const;

 private:
  AppSchema() = default;
  Result<void> load_inside();
  // What the application has created elsewhere, since this transaction; empty if nothing.
  Result<std::string> created_outside(const std::string& since) const;
  std::string text_;
  std::string schema_;
  std::unique_ptr<PgMonitor> monitor_;
  CleanupIfKilled if_killed_;
  GatedApplication gated_;
  bool has_gates_ = true;
  std::string no_record_;
  bool is_refused_ = false;  // the application itself, when it was loaded; what the server said:
  std::string refusal_;
};

using CallOrder = ById<ActorId, AppCallId>;  // which call each actor is

class AppStage {
 public:
  static Result<AppStage> open(const std::string& dsn, std::string_view text, AppCalls calls);

  // Plays these calls, each by an actor.
  Result<Run> play(const CallOrder& order, const Turns& turns, bool is_recorded, Budget& budget);

  const AppCalls& calls() const { return calls_; }
  const GatedApplication& gated() const { return schema_->gated(); }
  const std::string& no_record() const { return schema_->no_record(); }
  // Why rows cannot be compared; empty if they can.
  std::string unstable = {};

 private:
  AppStage(std::string dsn, AppCalls calls, std::unique_ptr<AppSchema> schema)
      : dsn_(std::move(dsn)), calls_(std::move(calls)), schema_(std::move(schema)) {}
  Result<Run> play_once(const CallOrder& order, const Turns& turns, bool is_recorded,
                        Budget& budget);
  RecordedRun judge(const CallOrder& order, const Run& run, record::ServerLog& log,
                    Budget& budget) const;

  std::string dsn_;
  AppCalls calls_;
  std::unique_ptr<AppSchema> schema_;
};

// Gates, the call, COMMIT: the answer to the call.
const Answer* call_answer(const Answers& answers);
bool has_committed(const Answers& answers);
// What the gates of a call have reported.
std::vector<GateNotice> notices_of(const Answers& answers);

}  // namespace isoscope::force
