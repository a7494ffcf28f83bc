#pragma once
// Every history of a transactional program under an isolation level, each exactly once.
//
//     Program program = *parse_program(text);
//     auto plan = make_plan(program, *level, levels, Algorithm::Best, {});
//     Exploration all = explore(program, *plan, {.threads = 2});
//     all.histories, all.violating, all.violations …
//
// Two histories are the same if every transaction has the same external reads, in program order,
// from the same writers. plan.h says which engine explores which level, and why it finds each
// history once.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "explore/engine.h"
#include "explore/plan.h"
#include "explore/team.h"
#include "store/recording.h"
#include "support/budget.h"

namespace isoscope::explore {

// Transactions that an exploration can have.
inline constexpr std::size_t kMaxCalls = 256;

struct ExploreOptions {
  unsigned threads = 1;
  Budget budget = {};
  bool stop_at_violation = false;
  std::size_t max_violations = 3;  // examples kept; all are counted
  // With stop_at_violation: the example is not asked for, nor at how many histories there are.
  bool only_asks = false;
  // Called with every history, once, in no particular order; never from two threads at once.
  std::function<void(const store::Recording&)> on_history = {};
  // Asked after on_history: true ends the exploration, undecided. For listeners that failed.
  std::function<bool()> gives_up = {};
  Progress progress = {};
  // Several processes, each with as many threads, and where the exploration is left from time to
  // time (team.h). Process 0 has the answer; the listener of the others is packed and merged there.
  Transport* transport = nullptr;
  Checkpoint checkpoint = {};
  std::function<void(Packer&)> pack_listener = {};
  std::function<void(Unpacker&)> merge_listener = {};
};

using ExploreOutcome = Outcome;  // Complete, Violated, Unknown

struct Exploration : Answer {
  std::uint64_t histories = 0;               // distinct, consistent with the level
  std::uint64_t violating = 0;               // those in which an assertion fails
  std::uint64_t end_states = 0;              // before the filter
  std::uint64_t blocked = 0;                 // branches without a continuation
  std::uint64_t calls = 0;                   // of EXPLORE
  std::vector<store::Recording> violations;  // examples
  std::optional<Fault> fault;  // a transaction that could not go on; nothing else counts then
  bool is_out_of_time = false;
  // If equal states were merged (merged.h), as is done when only assertions matter: histories were
  // not counted, unless there was no room for all states: then all of them were explored instead.
  struct Merging {
    std::uint64_t states = 0;
    std::uint64_t met_again = 0;
    bool is_complete = true;  // was there room?
  };
  std::optional<Merging> merging;
  // Reads on which nothing depends were left out (ExploreOptions::only_asks): not the program's
  // histories were counted, but how many differ in what matters.
  bool has_left_out_reads = false;
  // The checkpoint could not be read or written; or calls insert new rows without end.
  std::optional<Error> error;
};

// Requires: at most kMaxCalls calls.
Exploration explore(const Executable& program, const Plan& plan, const ExploreOptions& options);

}  // namespace isoscope::explore
