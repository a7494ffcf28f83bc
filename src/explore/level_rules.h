#pragma once
// Levels as rules that force an order, for levels that no engine is made for: a user's, and
// mixtures over vis, ar.
//
//     wr[x](t1, t3) and writes(t2, x) and t1 != t2 and (co* ; so)(t2, t3)   implies   co(t2, t1)
//     ar(t1, t2) and vis(t2, t3)                                            implies   vis(t1, t3)
//     (so | wr | ww)+(t, t)                                                 never
//
// A level is of this kind if every axiom is a conjunction of such rules: the premises are positive,
// the conclusion is one pair of co, ar or vis, or there is none. Then what is forced in a part of a
// history that is closed under so and wr is forced in the whole, and a part without a witness has a
// whole without one. So histories may grow by whole transactions, and a level is decided with each
// of them (level_witness.h).
#include <memory>
#include <optional>
#include <vector>

#include "spec/level.h"
#include "support/by_id.h"

namespace isoscope::explore {

// An expression over relations of transactions, by the numbers of its parts.
struct RuleRelation {
  RelationOp op = RelationOp::So;
  SetName set = SetName::Writers;
  int key = -1;  // the slot of its own index
  int left = -1;
  int right = -1;
  std::vector<int> keys = {};  // the slots on which its value depends
  bool is_fact = true;         // does its value not depend on the witness?
};

struct RuleAtom {
  enum class Kind : std::uint8_t { Member, Equal, Differ, Writes, Reads };
  Kind kind = Kind::Member;
  int a = 0;  // slots; of Writes and Reads b is a key
  int b = 0;
  int relation = -1;
};

struct ForcingRule {
  enum class Then : std::uint8_t { Order, Sight, Never };
  std::vector<int> keys = {};
  // Bound one after the other; the atoms that can be looked at then, but not before.
  struct Step {
    int txn = 0;
    std::vector<RuleAtom> atoms = {};
  };
  std::vector<Step> steps = {};
  Then then = Then::Never;
  int from = 0;
  int to = 0;
  // In a mixture: the variable of the transaction whose level has the axiom, and whether the level
  // of a transaction has it; T0, then the calls.
  std::optional<int> subject = {};
  ById<TxnId, bool> has_axiom = {};
};

struct LevelRules {
  Framework framework = Framework::Co;
  std::vector<RuleRelation> relations;
  std::vector<ForcingRule> rules;
  bool asks_order = false;  // does a premise speak of co or ar? If not, every extension will do
  int num_slots = 0;
};

// `own` has a level for each call, null where the base applies. Nothing if an axiom is none of
// these.
std::shared_ptr<const LevelRules> rules_of(const Level& base, const std::vector<const Level*>& own);

}  // namespace isoscope::explore
