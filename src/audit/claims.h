#pragma once
// What a program claims of its rows (sql/read/assertions.h), tried on small runs at a server's
// levels.
//
//     -- invariant SELECT stock >= 0 FROM item
//
// A claim that every call keeps when calls run one after the other, in whatever order, and that
// some schedule of the same calls breaks, is an anomaly that needs no explanation. Runs are small
// instances (small_instances.h) of one, two or three calls, each through all its schedules
// (sql/server/schedules.h); first those of the functions that are known to have an anomaly. A claim
// that a single call breaks is no claim of this program, and is said to be none.
//
// Nothing is proved: that no run was found says how many were tried. Only runs count that could
// have broken the claim: it holds at their start, the calls keep it one after the other, and all
// schedules were looked at. Where every execution is serializable, what single calls keep is kept.
#include <memory>
#include <optional>
#include <vector>

#include "audit/audit.h"
#include "sql/server/schedules.h"

namespace isoscope::audit {

// Calls on small rows, each in a session of its own.
struct SmallRun {
  std::vector<sql::InitialRow> rows;
  std::vector<ScenarioCall> calls;
  std::unique_ptr<sql::SqlProgram> program;
  std::unique_ptr<sql::server::Machine> machine;
};

// Nothing if there is no such program. Requires: levels of a server.
std::optional<SmallRun> make_small_run(const Problem& problem, std::vector<sql::InitialRow> rows,
                                       std::vector<ScenarioCall> calls, const Budget& budget);

enum class ClaimOutcome : std::uint8_t {
  Kept,          // by all runs that were tried
  Untried,       // no small run begins with rows of which it holds and keeps it one call at a time
  Broken,        // by calls side by side
  BrokenByCall,  // by a single call: `run` is that one
};

struct ClaimResult {
  ClaimOutcome outcome = ClaimOutcome::Kept;
  std::size_t runs = 0;  // small instances that say something about it
  std::optional<SmallRun> run = {};
  std::vector<sql::server::Choice> schedule = {};
  sql::server::BrokenClaim broken = {};  // its claim is 0: the run knows no other
};

struct ClaimsReport {
  std::vector<ClaimResult> claims;  // as they are given
  std::size_t runs = 0;             // of all claims
  bool is_complete = true;          // false: the budget was over
  bool has_broken() const;
};

// Requires: levels of a server.
ClaimsReport try_claims(const Problem& problem, const std::vector<sql::RowAssertion>& claims,
                        const AuditReport& known, Budget& budget);

}  // namespace isoscope::audit
