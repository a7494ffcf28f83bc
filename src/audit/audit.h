#pragma once
// What can weak isolation do to these SQL transactions? Anomalies of bounded size with runs that
// show them, or a proof that there are none at all.
//
//     Problem problem{app, levels};
//     if (auto ok = check_problem(problem); !ok) return ok.error();
//     AuditReport report = audit(problem, {.prove = true}, budget);
//
// The pipeline: instance.h (accesses and their conditions) → world.h (dependencies) → axioms.h
// (levels) → open_world.h / closed_world.h (questions) → search.h (bounded anomalies), prove.h
// (unbounded proofs), replay.h (what a run is worth) → here. Advice is in advise.h.
//
// Paper  [NagarJagannathan-CONCUR'18]; docs/audit.md says what the model covers and what not.
#include <optional>
#include <string>
#include <vector>

#include "audit/prove.h"
#include "audit/search.h"
#include "verdict/answer.h"

namespace isoscope::audit {

enum class AuditOutcome : std::uint8_t { Anomaly, None, Serializable, Unknown };
std::string_view name_of(AuditOutcome outcome);  // the word of the verdict: "anomaly"
Outcome outcome_of(AuditOutcome outcome);        // None, too, of what is proved

struct AuditOptions {
  std::size_t max_length = 4;            // --cycle: instances in a cycle, from 2 on
  bool all = false;                      // every distinct anomaly, not only the first
  bool prove = false;                    // look for a proof first
  std::optional<std::size_t> path = {};  // --path: only shortest paths of this length
  Progress progress = {};
};

struct AuditReport {
  AuditOutcome outcome = AuditOutcome::Unknown;
  std::optional<Proof> proof;         // if one was asked for
  SearchReport search;                // of the bounded search; no lengths if a proof made it idle
  std::vector<std::string> counters;  // inferred facts that were used, for people
  // What ended it: of Unknown, and where `all` anomalies were asked for but not all cycles decided.
  std::string limit;
  Effort effort;
};

// The functions that an analysis is about: these, by name, or all. An unknown name is an error that
// suggests another.
Result<sql::Application> only(const sql::Application& app, const std::vector<std::string>& names);

// The first thing of the program that the model leaves out, with its line; empty if there is none.
// Nothing is proved of a program that has one.
std::string left_out(const Problem& problem);

// There is a function.
Result<void> check_functions(const Problem& problem);
// Nothing if the problem can be audited: levels over vis, ar, and no function that changes a
// primary key.
Result<void> check_problem(const Problem& problem);

AuditReport audit(const Problem& problem, const AuditOptions& options, Budget& budget);

}  // namespace isoscope::audit
