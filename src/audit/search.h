#pragma once
// Bounded anomalies: cycles of at most K instances, each with a run that shows it.
//
// For each cycle of functions, first the open world: if it has no room for the cycle, no execution
// has it, and nothing remains to be done. Otherwise the closed world looks for a run, with ever
// longer prefixes, and replay decides what the run is worth; a spurious one is excluded, and the
// search goes on.
//
// Paper    [NagarJagannathan-CONCUR'18], section 5.1 (phi_Cycle,k).
// Differs  Quantifier-free questions about given functions, instead of one formula about all; the
//          instances outside the cycle are free in the one world and a prefix in the other.
#include <functional>
#include <vector>

#include "audit/closed_world.h"
#include "audit/cycles.h"
#include "audit/replay.h"
#include "verdict/anomaly.h"

namespace isoscope::audit {

struct FoundAnomaly {
  FunctionCycle functions;  // in the order of the cycle
  Kinds kinds;
  Scenario scenario;
  Replay replay;
  Anomaly name = Anomaly::None;
};

// What became of the cycles of one length.
struct LengthReport {
  std::size_t length = 0;
  std::size_t cycles = 0;      // of functions
  std::size_t impossible = 0;  // in no execution
  std::size_t found = 0;       // with an anomaly
  // Not ruled out, but without a run: none with so short a prefix, or only spurious ones.
  std::size_t unrealized = 0;
  std::size_t unknown = 0;   // the solver gave up, the time was over, or the server is not known
  std::size_t spurious = 0;  // runs that were excluded
  bool is_cut = false;       // the time was over before all cycles of the length were looked at
};

struct SearchOptions {
  std::vector<sql::FunctionId> functions = {};  // empty: all
  std::size_t max_length = 4;
  bool all = false;  // else the search ends with the first anomaly
  Progress progress = {};
};

struct SearchReport {
  std::vector<FoundAnomaly> anomalies;
  std::vector<LengthReport> lengths;  // as far as it got
  bool is_stopped = false;            // the time was over before all lengths were looked at
  std::string why_undecided = {};     // of the first cycle that was not left to the solver
  Effort effort;

  bool is_complete() const;  // nothing unknown, and nothing left out
  // Every cycle of these lengths is in no execution at all.
  bool is_proof() const;
};

SearchReport search_anomalies(const Problem& problem, OpenWorld& open, const SearchOptions& options,
                              Budget& budget);

}  // namespace isoscope::audit
