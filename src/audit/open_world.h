#pragma once
// Questions about executions of any length: can these instances stand like this in some execution?
//
// Each question is a cast (functions, one instance each) and a few formulas about it. The answer
// Unsat is a proof for every execution, however many other transactions it has.
//
// The budget ends the building of formulas, too: every member may throw SmtStopped then, and every
// later answer is Unknown.
#include <memory>
#include <span>
#include <vector>

#include "audit/counters.h"

namespace isoscope::audit {

// What is audited: the functions, their levels, and how to read both.
struct Problem {
  const sql::Application& app;
  Levels levels;
  Conflicts conflicts = Conflicts::Columns;
  std::vector<std::pair<sql::FunctionId, sql::FunctionId>> serial = {};  // --serial
  bool rows_at_start = false;                                            // --initial any
};

WorldRules rules_of(const Problem& problem);

struct Effort {
  std::size_t questions = 0;
  double building_seconds = 0;
  double solving_seconds = 0;
};

class OpenWorld {
 public:
  // Requires: the budget outlives it.
  OpenWorld(const Problem& problem, Budget& budget);

  World& world() { return world_; }
  const Counters& counters() const { return *counters_; }

  // One instance of each function, in this order.
  std::vector<Member> cast(std::span<const sql::FunctionId> functions);
  // The server lets no cycle of these functions happen.
  bool is_protected(std::span<const sql::FunctionId> functions) const;
  SmtResult ask(Cast cast, std::span<const SmtTerm> about, Budget& budget);
  // Can an instance of f have such an edge to an instance of g? Unknown counts as yes.
  bool may_depend(sql::FunctionId f, sql::FunctionId g, Budget& budget);

  const Effort& effort() const { return effort_; }

 private:
  sql::Changes changes_;
  SmtSolver smt_;
  Symbols symbols_;
  World world_;
  Axioms axioms_;
  std::unique_ptr<Counters> counters_;
  std::map<std::pair<sql::FunctionId, sql::FunctionId>, bool> may_depend_;
  std::map<std::vector<Member>, std::vector<SmtTerm>> constraints_;
  Effort effort_;
};

}  // namespace isoscope::audit
