#pragma once
// One complete run of a program, as an exploration hands it out: who read what from whom.
#include <cstdint>
#include <optional>
#include <vector>

#include "explore/engine.h"
#include "history/history.h"

namespace isoscope::explore {

// A read of another transaction's write, or a write.
struct RunEvent {
  bool is_read = false;
  ProgramKey key;
  std::int64_t value = 0;
  std::uint32_t writer = kInitial;  // of a read
};

struct RunTxn {
  bool is_committed = false;
  std::vector<RunEvent> events = {};  // in program order; reads of own writes are left out
  std::vector<std::int64_t> locals = {};
};

struct ProgramRun {
  std::vector<RunTxn> txns;          // by call
  std::vector<std::uint32_t> order;  // calls, in an order that respects so and wr
  std::vector<std::uint32_t> failed_assertions;
};

template <class Set>
ProgramRun make_run(const Executable& program, const EndState<Set>& end);

// The run as a history: sessions and transactions under the program's names ("alice[1]"), with
// their own levels where calls have them, in the order of `run.order`.
History to_history(const Executable& program, const ProgramRun& run);

// "alice[1]".
std::string name_of(const Executable& program, std::uint32_t call);

// What makes two runs the same: by call, in program order, whom each external read reads from.
std::vector<std::uint32_t> read_from_map(const ProgramRun& run);

}  // namespace isoscope::explore
