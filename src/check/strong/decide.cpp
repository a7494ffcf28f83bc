#include "check/strong/decide.h"

#include "check/strong/conflicts.h"
#include "check/strong/saturation.h"
#include "check/strong/search.h"

namespace isoscope::strong {

Decision decide(const History& h, StrongLevel level, Budget& budget, const StrongOptions& options) {
  Decision decision;
  decision.facts = std::make_unique<Facts>(h, level != StrongLevel::Ua);
  auto known = std::make_unique<Knowledge>(*decision.facts, level);
  add_version_facts(*known);
  SaturationOptions how;
  how.facts_only = !options.saturate;
  how.progress = options.progress;
  const Saturated saturated = saturate(*known, budget, how);
  decision.stats.set("rounds", known->rounds);
  decision.stats.set("known edges", static_cast<double>(known->graph.edges().size()));
  if (saturated == Saturated::OutOfTime) {
    decision.limit = "time limit";
    return decision;
  }
  if (saturated == Saturated::Cycle) {
    decision.outcome = Outcome::Violated;
    decision.contradiction = std::move(known);
    return decision;
  }
  const Residue residue(*known, options.prune);
  const Search search = search_answers(residue, budget, options.progress);
  decision.stats.set("choices", static_cast<double>(residue.choices().size()));
  decision.stats.set("components", static_cast<double>(residue.num_components()));
  decision.stats.set("solver calls", search.solver_calls);
  decision.stats.set("clauses", static_cast<double>(search.clauses));
  decision.stats.set("restarts", search.restarts);
  switch (search.result) {
    case SatResult::Unknown:
      decision.limit = budget.expired_now() ? "time limit" : "memory of the SAT solver";
      break;
    case SatResult::Unsat:
      decision.outcome = Outcome::Violated;
      break;
    case SatResult::Sat:
      decision.outcome = Outcome::Consistent;
      decision.completed = std::make_unique<KnownGraph>(complete(residue, search.answers));
      break;
  }
  return decision;
}

}  // namespace isoscope::strong
