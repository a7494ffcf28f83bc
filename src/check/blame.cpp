#include "check/blame.h"

#include "check/strong/strong.h"
#include "history/restrict.h"

namespace isoscope {

namespace {

// Does pc, the first axiom of si, forbid it too?
bool breaks_prefix(const History& h, const Violation& violation, Budget& budget) {
  if (violation.cycle.empty()) {
    const History part = restrict_to(h, violation.core);
    return check_strong(part, StrongLevel::Pc, budget).outcome == Outcome::Violated;
  }
  std::vector<EdgeKind> kinds;
  for (const Edge& e : violation.cycle) kinds.push_back(e.kind);
  return forbids(Logic::Pc, kinds);
}

}  // namespace

std::string blamed_axiom(const History& h, const Level& level, Logic logic, Logic weakest,
                         const Violation& violation, Budget& budget) {
  if (level.axioms.empty()) return "EXT";
  const bool causal_already = weakest <= Logic::Cc;
  if (causal_already || level.axioms.size() == 1) return level.axioms.front().name;
  if (logic == Logic::Si && breaks_prefix(h, violation, budget)) return level.axioms.front().name;
  return level.axioms.back().name;
}

}  // namespace isoscope
