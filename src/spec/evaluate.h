#pragma once
// The arbiter: does an execution satisfy a level, by the very text of the level?
//
// Slow and literal on purpose: engines may be clever because this is not. Relations are bit
// matrices, quantifiers are loops, and nothing is known about any particular level. Checked are,
// in this order, that no read is inexcusable; what the framework demands of its orders; and each
// axiom:
//
//   over co        co is a strict total order of the present transactions, T0 first; it contains
//                  so, wr, and the version orders that the history knows
//   over vis, ar   ar is such an order with the known version orders; vis ⊆ ar; so ⊆ vis; and
//                  EXT: each external read of x by t reads from the ar-greatest writer of x among
//                  those that vis shows to t
//   over co, snap  co is such an order; each read has a snapshot, a beginning of co with T0 that
//                  ends before the read's transaction and is the same for its statement; a plain
//                  read shows the co-last writer in it, a current one (spec/statements.h) the
//                  co-last writer before its transaction; co contains what the numbers of commits
//                  tell about rows
//
// A level without so asks nothing of session order, one over co, wr free nothing of wr.
//
// Transactions may have levels of their own (docs/levels.md): an instance of an axiom is then
// required where its subject has a level with that axiom, and so ⊆ vis where the later
// transaction's level has session order.
//
// Papers  [BiswasEnea-OOPSLA'19], section 2; [CeroneBernardiGotsman-CONCUR'15], sections 2 and 3;
//         [Crooks-PODC'17] for read states.
// Cost    FactTables once a history; then a few microseconds a witness for five transactions, and
//         O(n^k) in general for an axiom with k variables. For up to a few hundred transactions.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "history/execution.h"
#include "spec/level.h"
#include "support/budget.h"
#include "support/result.h"

namespace isoscope {

// Why an execution does not satisfy its level: the rule, and where it fails.
struct Failure {
  struct Binding {
    std::string name;
    Sort sort = Sort::Txn;
    std::uint32_t index = 0;  // of the TxnId, the KeyId, or the EventId of the read
  };
  std::string rule;               // "axiom Causal of cc", "so ⊆ vis"
  std::string axiom;              // its bare name, or empty where the framework's demands fail
  std::vector<Binding> instance;  // what the variables stand for
};

// "axiom Causal of cc fails for x = cart, t1 = T1, t2 = T2, t3 = T3"
std::string describe(const Failure& failure, const History& h);

// Nothing if every transaction can have the level that the assignment gives it. Else says which
// level cannot be mixed with others, because of which axiom, or that the frameworks differ.
Result<void> check_assignable(const Assignment& levels);

// An assignment compiled for one history; to be called for many witnesses.
class Evaluator {
 public:
  // Requires: check_assignable(levels); `h`, the levels and the budget outlive the evaluator.
  Evaluator(const History& h, const Assignment& levels, Budget* budget = nullptr);
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;
  ~Evaluator();

  // Nothing if the witness satisfies every demand, else the first failure. A witness over vis, ar
  // that leaves vis out stands for the least vis that contains so and wr and meets every axiom of
  // the shape `… implies vis(s, t)`. An evaluation that its budget ends is a failure too, one of
  // no rule.
  std::optional<Failure> evaluate(const Witness& witness);
  // The same question without the answer's reason, for those who ask it millions of times.
  bool accepts(const Witness& witness);
  // That least vis. Requires: over vis, ar; `ar` is an order of transactions of the history.
  Relation least_vis(const std::vector<TxnId>& ar);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// About how much memory an evaluation takes: relations are bit matrices, one a key, over the
// transactions and, where an axiom speaks of reads (rc), over the reads too.
std::size_t evaluation_bytes(const History& h, const Assignment& levels);

// For a single witness.
std::optional<Failure> evaluate(const Assignment& levels, const Execution& e);

}  // namespace isoscope
