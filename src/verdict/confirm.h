#pragma once
// Does the reason that an engine gave really hold? A small program that shares no code with the
// engines, so that its word counts.
//
//   a witness     small histories: the literal evaluator of the level's text (spec/evaluate.h);
//                 larger ones at levels with a Logic or with SnapRules: a replay of the given
//                 orders, read by read;
//   a cycle       every edge is looked up in the history, every forced edge by following its own
//                 explanation, and the level's rule forbids the shape;
//   a fault       the events say so;
//   a core        brute force over the orders of its transactions, if they are few, or over the
//                 version orders of its keys.
#include <optional>
#include <string>

#include "history/history.h"
#include "spec/level.h"
#include "support/budget.h"
#include "verdict/logic.h"
#include "verdict/verdict.h"

namespace isoscope {

enum class Confirmation : std::uint8_t {
  Evaluated,  // by the evaluator of the level's text
  Replayed,   // a witness, by replaying its order
  Traced,     // a cycle or a fault, edge by edge
  Exhausted,  // a core, by trying all its orders
  Unchecked,  // too large for any of these, or out of time, or an unknown outcome
};
std::string_view name_of(Confirmation confirmation);

struct ConfirmResult {
  Confirmation how = Confirmation::Unchecked;
  std::string complaint = {};  // empty if the reason holds
  bool is_expired = false;     // the budget ended before the reason was confirmed
  bool holds() const { return complaint.empty(); }
};

ConfirmResult confirm(const History& h, const Assignment& levels, const Verdict& verdict,
                      Budget budget = {});

// The parts, for tests.

// Complains about an edge that does not hold or a shape that the logic allows.
std::optional<std::string> check_cycle(const History& h, Logic logic, std::span<const Edge> cycle);
// Complains about a fault that the events do not show.
std::optional<std::string> check_fault(const History& h, const ReadFault& fault);
// Complains if the order, as a commit order, breaks the logic's rule: linear for rc, ra and ser,
// O(reads log writers) for pc and si, O(transactions x sessions) for cc. A budget that expires
// ends it without a complaint.
// Requires: logic has a commit order (not ua, psi).
std::optional<std::string> replay(const History& h, Logic logic, const Witness& witness,
                                  Budget budget = {});
// Complains if co and snap break a rule of the levels: O(events log events). KEY SHARE locks are
// not looked at. Requires: over co, snap, and every level has rules (verdict/logic.h).
std::optional<std::string> replay_snapshots(const History& h, const Assignment& levels,
                                            const Witness& witness, Budget budget = {});
// Would replay() take at most seconds, and some hundred megabytes?
bool is_replayable(const History& h, Logic logic, const Witness& witness, Budget budget = {});
// Complains if (vis, ar) breaks the rule. Requires: the witness has a vis.
std::optional<std::string> check_visibility(const History& h, Logic logic, const Witness& witness);

}  // namespace isoscope
