#include <fmt/format.h>

#include <algorithm>

#include "spec/levels.h"

namespace isoscope {

namespace {

// What the framework demands of the orders, whatever the axioms say.
std::string witness_of(const Level& level) {
  if (level.framework != Framework::VisAr) {
    const std::string_view contained = level.is_wr_free
                                           ? (level.uses_session_order ? ", that contains so" : "")
                                       : level.uses_session_order ? ", that contains so and wr"
                                                                  : ", that contains wr";
    std::string out = fmt::format("  {}a strict total order of the transactions, T0 first{}\n",
                                  level.framework == Framework::Co ? "co   " : "co    ", contained);
    if (level.framework == Framework::Co) return out;
    return out +
           "  snap  for each statement a snapshot: T0 and whatever else begins co, up to some\n"
           "        transaction before the statement's own. A plain read of x shows the co-last\n"
           "        writer of x in its snapshot; a current read, whose statement writes or locks\n"
           "        the row, the co-last writer of x before its own transaction\n";
  }
  return fmt::format(
      "  ar   a strict total order of the transactions, T0 first\n"
      "  vis  {}; each external read of x shows the ar-greatest writer of x\n"
      "       that vis lets its transaction see\n",
      level.uses_session_order ? "so ⊆ vis ⊆ ar" : "vis ⊆ ar, whatever so is");
}

}  // namespace

std::string describe(const Level& level) {
  std::string out = level.full_name();
  if (!level.summary.empty()) out += fmt::format(": {}", level.summary);
  out += fmt::format("\n\n{}\n", level.text);
  std::string_view from;
  for (const Axiom& axiom : level.axioms) {
    if (axiom.level == level.name) continue;
    if (axiom.level != from) out += fmt::format("\n# inherited from {}\n", axiom.level);
    from = axiom.level;
    out += axiom.text + "\n";
  }
  out += fmt::format("\nIts witness:\n{}", witness_of(level));
  const bool assignable = std::all_of(level.axioms.begin(), level.axioms.end(),
                                      [](const Axiom& axiom) { return axiom.subject.has_value(); });
  if (!assignable)
    out += "\nA level for whole histories: it cannot be given to single transactions.\n";
  return out;
}

}  // namespace isoscope
