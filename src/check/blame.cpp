#include "check/blame.h"

#include <algorithm>

#include "check/level_table.h"
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

std::string blamed_axiom(const History& h, const Level& own, Logic logic, Logic weakest,
                         const Violation& violation, Budget& budget) {
  // A level of the user's may say the axioms in another order and call them otherwise.
  const Level& level = *reference_level(logic, own.framework);
  const auto name_in_own = [&](const Axiom& axiom) {
    const auto said = std::find_if(own.axioms.begin(), own.axioms.end(), [&](const Axiom& other) {
      return other.canonical == axiom.canonical;
    });
    return said == own.axioms.end() ? axiom.name : said->name;
  };
  if (level.axioms.empty()) return "EXT";
  const bool causal_already = weak_level(weakest).has_value();
  if (causal_already || level.axioms.size() == 1) return name_in_own(level.axioms.front());
  if (logic == Logic::Si && breaks_prefix(h, violation, budget))
    return name_in_own(level.axioms.front());
  return name_in_own(level.axioms.back());
}

}  // namespace isoscope
