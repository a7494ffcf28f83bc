#pragma once
// Random clients on a server, and the history of what they saw.
//
//   register   reads and overwrites rows; every value is written once, so a read names its writer
//   list       appends to lists and reads them: a read tells the order of the appends too
//   bank       moves money between two accounts that it has read; each balance bears a unique mark
//
// All clients run at once, each with one connection; no order is forced. A transaction that the
// server ended (40001, 40P01, …) is aborted; one whose COMMIT was not answered is of unknown
// outcome.
#include <map>
#include <optional>
#include <string>

#include "force/server.h"
#include "history/history.h"
#include "support/budget.h"

namespace isoscope::force {

enum class StressWorkload : std::uint8_t { Register, List, Bank };

struct StressOptions {
  StressWorkload workload = StressWorkload::Register;
  std::string isolation;  // as the server calls it
  std::size_t clients = 8;
  std::size_t txns = 10'000;  // in all, aborted ones included
  double seconds = 0;         // stop after so long; 0: no limit
  std::size_t keys = 10;
  std::size_t longest = 4;  // operations of a transaction
  std::uint64_t seed = 0;   // decides what clients do, not who is faster
  Budget budget = {};
  Progress progress = {};
};

struct StressRun {
  std::string product;
  std::optional<History> history = {};  // always there
  std::size_t committed = 0;
  std::size_t unknown = 0;
  std::map<std::string, std::size_t> aborts = {};  // by SQLSTATE (MariaDB: number of the error)
  double seconds = 0;
  bool was_cut = false;  // the budget expired before all transactions were run
};

Result<StressRun> stress(Server& server, const StressOptions& options);

}  // namespace isoscope::force
