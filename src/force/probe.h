#pragma once
// Asks a server what its levels really give: for each probe of the catalogue and each level that
// the server declares, every schedule of the probe's statements is played, and what came out is
// held against the probe's anomaly and against our levels.
//
// Schedules that cannot differ are played once: neighbours that only read commute, a transaction
// that only reads commits with its last statement, one of a single statement is that statement, and
// a turn of a session that is known to wait at that place is the turn of another.
//
// A run is also a history: every value is written once, so each read names its writer. The levels
// that all histories of a declared level satisfy are what the server has given; the strongest of
// them is the answer. It is what was seen, not a proof.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "force/probe_file.h"
#include "force/scheduler.h"
#include "force/server.h"
#include "history/history.h"
#include "spec/levels.h"
#include "support/budget.h"
#include "verdict/answer.h"

namespace isoscope::force {

// A statement of a run as people see it.
struct ProbeStep {
  ActorId session = {};
  std::string sql = {};
  std::vector<ActorId> waits_for = {};  // empty: it was answered
  std::string answer = {};              // "x 0", "UPDATE 1", "40001 could not …"
};

// What the schedules of one probe at one declared level gave.
struct ProbeCell {
  std::size_t schedules = 0;
  bool is_complete = true;  // these are all
  std::size_t anomalous = 0;
  std::string run = {};  // the first that was anomalous: "a: r(x)=0  b: r(x)=0  a: w(x,1) …"
  std::vector<ProbeStep> steps = {};  // of that one
  std::set<std::string> errors;       // that ended statements
  std::size_t with_waits = 0;         // schedules in which a statement waited
};

struct ProbedLevel {
  std::string name;                         // "REPEATABLE READ"
  std::vector<ProbeCell> cells = {};        // by probe
  std::vector<std::string> satisfied = {};  // of our levels
  std::vector<std::string> strongest = {};  // of these, those that no other one implies
  std::string expected = {};                // a level of ours; empty if nothing is
  bool is_kept = true;                      // every history satisfies it
  bool is_complete = true;                  // every schedule of every probe was played
  std::string broken_by = {};               // the probe and the run that does not
  std::size_t histories = 0;                // that differ
};

// Broken if a level does not keep its promise.
struct ProbeAnswer : isoscope::Answer {
  std::string product;  // "PostgreSQL 15"
  std::vector<const Probe*> probes = {};
  std::vector<ProbedLevel> levels = {};
};

struct ProbeOptions {
  std::vector<std::string> levels = {};              // declared levels; empty: all
  std::map<std::string, std::string> expected = {};  // by declared level; others: as documented
  std::vector<std::string> only = {};                // names of probes; empty: all
  Budget budget = {};
  Progress progress = {};
};

Result<ProbeAnswer> probe(Server& server, const ProbeOptions& options);

}  // namespace isoscope::force
