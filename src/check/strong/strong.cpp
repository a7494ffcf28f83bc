#include "check/strong/strong.h"

#include <utility>

#include "check/strong/decide.h"
#include "check/strong/explain.h"

namespace isoscope {

Verdict check_strong(const History& h, StrongLevel level, Budget& budget,
                     const StrongOptions& options) {
  strong::Decision decision = strong::decide(h, level, budget, options);
  Verdict verdict;
  switch (decision.outcome) {
    case Outcome::Unknown: verdict = Verdict::unknown(decision.limit); break;
    case Outcome::Consistent:
      verdict = Verdict::consistent(strong::make_witness(*decision.completed));
      break;
    case Outcome::Violated: {
      Violation violation;
      if (options.progress) options.progress("explaining the violation", -1);
      if (decision.contradiction) {
        strong::Explanation told = strong::explain_cycle(*decision.contradiction, budget);
        violation.cycle = std::move(told.cycle);
        if (!violation.cycle.empty()) decision.stats.set("shortest", told.is_shortest ? 1 : 0);
      }
      if (violation.cycle.empty()) violation.core = strong::shrink_to_core(h, level, budget);
      verdict = Verdict::violated(std::move(violation));
      break;
    }
  }
  verdict.stats = std::move(decision.stats);
  return verdict;
}

}  // namespace isoscope
