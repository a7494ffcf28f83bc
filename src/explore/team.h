#pragma once
// The threads of all processes that work on one exploration, and the file in which it can be left
// and taken up again.
//
// Process 0 leads. Each process has a pool of threads (pool.h); one that has nothing to do says so
// to the leader, who sends it a piece of its own, or asks others to split theirs. Joins are kept by
// the leader. What is found is counted where it is found, and added up at the end; since a
// piece means the same wherever it is worked on, nothing depends on who did.
//
//     1 … n-1 -> 0   status, piece, opened join, arrival, bound, state
//     0 -> 1 … n-1   piece, share!, bound, drain!, go on!, finish!
//
// From time to time the leader drains all members and writes down all pieces, joins and findings.
// A process that dies ends all: what was found since the last time is then found again.
#include <string>

#include "explore/engine.h"
#include "explore/transport.h"
#include "support/result.h"

namespace isoscope::explore {

// What a process has found so far.
class Findings {
 public:
  virtual ~Findings() = default;
  virtual std::string packed() = 0;
  // Adds what another process, or an earlier run, has found. False if that makes no sense.
  virtual bool merge(std::string_view packed) = 0;
};

// Where an exploration is left, and taken up again.
struct Checkpoint {
  std::string path = {};      // empty: nowhere
  bool resumes = false;       // else it begins anew
  double seconds = 60;        // between two times of writing
  std::string identity = {};  // what is explored, and how; a file of something else is refused
};

struct TeamOptions {
  unsigned threads = 1;
  Transport* transport = nullptr;  // of several processes
  Checkpoint checkpoint = {};
  Budget budget = {};  // with a checkpoint, when to leave it
};

// Explores `root` and returns when all is done, or when the control says stop. An error if the
// checkpoint cannot be read or written.
Result<void> run_team(const TeamOptions& options, Control& control, Findings& findings, Piece root,
                      Pool::Work work);

// Before the work: do all members have the same `identity` and no `error`? Else what is wrong, the
// leader's error first; the same for all processes.
Result<void> agree(Transport& transport, const std::string& identity,
                   const std::optional<Error>& error);

}  // namespace isoscope::explore
