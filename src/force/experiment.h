#pragma once
// Plays the permutations of a specification, each from the same start, and judges what came out.
//
// A run is serializable as far as anybody can see if some serial order of the transactions that
// committed gives the same answers and the same rows in the end. The server itself plays the serial
// orders: nothing is modelled. Rows are compared as multisets (a table has no order), and columns
// that a sequence fills are not compared, since sequences are outside of transactions.
//
//     transactions   a session's steps from where it is idle to where it is idle again, its `setup`
//                    included; a `setup` that only sets something is none of them, and always there
//     left out       transactions that rolled back or failed: others must not depend on them
//
// A step that holds several transactions (COMMIT; BEGIN, or a procedure that commits) is kept
// together in serial orders. So a serial order that gives the same is one, but that none does says
// nothing then.
//
// That is the second witness. The first is the history of the run, which is recorded on the way
// (recorded_run.h) wherever the server and the statements allow it.
//
// What answers differently from run to run (random(), now()) cannot be judged: the first serial
// order is played twice to find out.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "force/answer.h"
#include "force/recorded_run.h"
#include "force/scheduler.h"
#include "force/sessions.h"
#include "force/spec_file.h"
#include "support/budget.h"

namespace isoscope::force {

// A part of a session that is one transaction: statements [begin, end) of the session.
struct Unit {
  ActorId session = {};
  StatementId begin = {};
  StatementId end = {};
  bool is_committed = true;
  bool may_hold_several = false;  // parts of several transactions
  IdRange<StatementId> statements() const { return {begin.index, end.index}; }
  friend auto operator<=>(const Unit&, const Unit&) = default;
};

struct Run {
  Played played;
  std::vector<Answer> setups = {};           // to the setups of the specification
  ById<ActorId, Answers> answers = {};       // the first is that of the setup
  std::map<std::string, Table> tables = {};  // by name, what they hold in the end
  std::vector<Unit> units = {};              // in the order of their ends
  RecordedRun recorded = {};                 // of a run that is no serial one
};

struct SerialRun {
  std::vector<Unit> order;
  Run run;
};

struct Judgement {
  enum class Kind : std::uint8_t {
    Unserializable,  // no serial order gives this
    Serializable,
    Unknown,
  };
  Kind kind = Kind::Unknown;
  std::string why = {};                                  // of Unknown
  std::shared_ptr<const std::vector<SerialRun>> serial;  // what was compared with
};

class Experiment {
 public:
  // `spec` outlives it.
  static Result<Experiment> open(const Spec& spec, std::string dsn);

  Result<Run> run(const Permutation& permutation, Budget& budget);
  Result<Judgement> judge(const Run& run, Budget& budget);
  // A transaction that failed in the run, for no reason of concurrency's, and fails just so when
  // its session is alone: it prevents nothing. Says which; empty if there is none.
  Result<std::string> failure_by_itself(const Run& run, Budget& budget);

 private:
  static constexpr std::size_t kMostSerialOrders = 720;
  Experiment(const Spec& spec, std::string dsn, std::unique_ptr<PgMonitor> monitor)
      : spec_(&spec), dsn_(std::move(dsn)), monitor_(std::move(monitor)) {}
  // `counts`: of the steps that each session has.
  Result<Run> play_turns(const Turns& turns, const ById<ActorId, std::size_t>& counts,
                         bool is_recorded, Budget& budget);
  Result<void> play_sessions(const Turns& turns, const ById<ActorId, std::size_t>& counts,
                             bool is_recorded, Run& run, Budget& budget);
  void note_setups(const Run& run);
  Result<SerialRun> run_serially(const std::vector<Unit>& order, Budget& budget);

  const Spec* spec_;
  std::string dsn_;
  std::unique_ptr<PgMonitor> monitor_;
  std::map<std::vector<Unit>, std::shared_ptr<const std::vector<SerialRun>>> serial_;  // by units
  std::map<std::vector<Unit>, std::string> alone_;  // the error of the last of them, by units
  ById<ActorId, bool> has_plain_setup_;             // it only sets something
  std::string unstable_;  // why answers cannot be compared; empty if they can
};

// What the tables hold that this role may read, in every schema, without columns that a sequence
// fills; `limit` says if one is too large to be compared. `schema`: only there; empty: everywhere.
Result<std::map<std::string, Table>> read_tables(PgMonitor& monitor, std::string& limit,
                                                 const std::string& schema = {});
// Equal but for the order of rows.
bool same_answer(const Answer& a, const Answer& b);
// Is what one saw in these units, and what is left in the end, the same in both?
bool same_outcome(const Run& run, const SerialRun& serial);
// What isolationtester prints of one permutation, from "starting permutation" on.
std::string isolationtester_output(const Spec& spec, const Permutation& permutation,
                                   const Run& run);

}  // namespace isoscope::force
