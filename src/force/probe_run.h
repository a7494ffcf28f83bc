#pragma once
// One probe at one declared level: its schedules, its runs, and their histories.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "force/probe.h"

namespace isoscope::force {

struct ProbeRead {
  ProbeValue value = {};      // of a scan the number of rows
  ProbeTxn txn = {};          // of the session
  bool is_committed = false;  // what an aborted transaction has read counts for nothing
};

// What one schedule gave.
struct ProbeRun {
  Played played;
  ById<ActorId, ById<ProbeReadId, ProbeRead>> reads;
  ById<ActorId, bool> is_committed;
  std::map<std::string, ProbeValue> end;  // by row
  std::set<std::string> errors;
  std::string text;              // for people, in the order of answers
  std::vector<ProbeStep> steps;  // the same with the statements
  std::string outcome;           // the same for runs that have the same history
};

// Is this the probe's anomaly?
bool is_anomalous(const Probe& probe, const ProbeRun& run);

class ProbeRunner {
 public:
  // All outlive it.
  ProbeRunner(Server& server, const std::string& table, const Probe& probe,
              const DeclaredLevel& level);

  // The next schedule that may differ from those before; nothing when all were played.
  Result<std::optional<ProbeRun>> next(Budget& budget);
  bool is_anomalous(const ProbeRun& run) const {
    return isoscope::force::is_anomalous(probe_, run);
  }
  // Of the run that next() returned last.
  Result<History> history() const;

 private:
  struct Event {
    ActorId session = {};
    ProbeTxn txn = {};
    ProbeOpId op = {};
    std::vector<std::pair<std::string, ProbeValue>> seen = {};  // of reads
    bool has_effect = false;                                    // of writes
  };
  using Order = std::vector<ActorId>;  // one per step
  // What a session says. A BEGIN is no step of its own: it goes with the first statement; nor is
  // the COMMIT of a transaction that only reads: it goes with the last.
  struct Said {
    std::string sql;
    ProbeTxn txn = {};
    std::optional<ProbeOpId> op = {};
    bool is_step = true;
    bool is_plain = false;  // neither writes nor locks
    bool ends = false;      // its transaction
  };
  using Words = ById<StatementId, Said>;

  std::optional<Order> next_order();
  bool advance_order();
  bool is_reduced(const Order& order) const;
  Words said_by(const ProbeSession& session) const;
  std::string sql_of(const ProbeOp& op) const;
  Turns turns_of(const Order& order) const;
  Result<void> prepare();
  Result<ProbeRun> play_order(const Order& order, Budget& budget);
  void remember_waits(const Played& played);
  Result<void> gather(ProbeRun& run);
  void describe(ProbeRun& run) const;
  void tell_steps(ProbeRun& run) const;

  Server& server_;
  const std::string& table_;
  const Probe& probe_;
  const DeclaredLevel& level_;
  ById<ActorId, Words> said_;
  std::unique_ptr<Sessions> sessions_;
  Order order_;  // the schedule that comes next
  bool is_over_ = false;
  std::map<Order, std::set<ActorId>> waiting_;  // who is known to wait after these steps
  std::vector<Event> events_;                   // of the last run, in the order of answers
  ById<ActorId, ById<ProbeTxn, bool>> is_committed_;
  std::map<std::string, ProbeValue> end_;
};

}  // namespace isoscope::force
