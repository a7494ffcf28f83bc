#pragma once
// Random clients on a server, and the history of what they saw.
//
//   register   reads and overwrites rows; every value is written once, so a read names its writer
//   list       appends to lists and reads them: a read tells the order of the appends too
//   bank       moves money between two accounts that it has read; each balance bears a unique mark
//
// An overwrite keeps the value before in the row and reads it, which tells the order of writers:
// no level needs to guess it. All clients run at once, each with one connection; no order is
// forced. A transaction that the server ended (40001, 40P01, …) is aborted; one whose COMMIT was
// not answered is of unknown outcome.
//
// Faults: connections are killed by the server's own command, or the whole server by one of the
// user's, which also starts it again. The clients come back; in the end each of them reads every
// row, so that what was committed before a fault must be there after it.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "force/server.h"
#include "history/history.h"
#include "support/budget.h"

namespace isoscope::force {

enum class StressWorkload : std::uint8_t { Register, List, Bank };

struct StressNumbers {
  std::size_t committed = 0;
  std::size_t unknown = 0;
  std::map<std::string, std::size_t> aborts = {};  // by SQLSTATE (MariaDB: number of the error)
  std::size_t killed_clients = 0;
  std::size_t killed_servers = 0;
  double seconds = 0;
};

struct StressOptions {
  StressWorkload workload = StressWorkload::Register;
  std::string isolation;  // as the server calls it
  std::size_t clients = 8;
  std::size_t txns = 10'000;  // in all, aborted ones included
  double seconds = 0;         // stop after so long; 0: no limit
  std::size_t keys = 10;
  std::size_t longest = 4;       // operations of a transaction
  std::uint64_t seed = 0;        // decides what clients do, not who is faster
  std::size_t kill_clients = 0;  // so many connections, evenly over the run
  std::size_t kill_servers = 0;  // so often
  std::string kill_server = {};  // the command that kills the server and starts it again
  // Asked about what was seen so far, at 1,000 transactions and whenever they have doubled; true
  // ends the run: something was found.
  std::function<bool(const History&)> is_enough = {};
  Budget budget = {};
  std::function<void(const StressNumbers&, double fraction)> progress = {};
};

struct StressRun {
  std::string product;
  std::optional<History> history = {};  // always there
  StressNumbers numbers = {};
  bool was_cut = false;  // the budget expired before all transactions were run
  // Commits that the server has told a client of and that are gone after a fault, in words. That is
  // a fault of its own, whatever the level: some levels allow a read of old data at any time.
  std::vector<std::string> lost = {};
};

Result<StressRun> stress(Server& server, const StressOptions& options);

}  // namespace isoscope::force
