#pragma once
// What single edges say: the questions of ua, which knows no paths.
//
// In the least visibility of ua, t sees exactly its predecessors in so, wr and ww. What t reads
// must be newer than what any of them wrote, and nothing more is asked but that so, wr and ww have
// no cycle.
#include <optional>

#include "check/strong/knowledge.h"
#include "support/budget.h"

namespace isoscope::strong {

// An edge (from, to) that is known to be in so, wr or ww, a fact if there is one. With a round:
// known from what came before it.
std::optional<KnownEdge> find_dependency(const Knowledge& known, TxnId from, TxnId to,
                                         std::optional<std::uint32_t> round = {});
// The same for rw.
std::optional<KnownEdge> find_rw(const Knowledge& known, TxnId from, TxnId to,
                                 std::optional<std::uint32_t> round = {});

// ua's own rules, to be followed round by round besides those about paths. A writer q of y that p
// depends on comes before the writer whose y p reads; and where rw(p, q) is known, p comes before q
// on every key that both write. Where p depends on q and yet read the initial value of what q
// wrote, known.returned has rw(p, q) in the end.
//
// Cost  Each pair of versions is looked at once, in the round after its order became known.
class DirectRules {
 public:
  explicit DirectRules(Knowledge& known) : known_(known), facts_(known.graph.facts()) {}

  void run_round(Budget& budget);

 private:
  void respect_facts(TxnId p);
  void on_ordered(VersionId before, VersionId after);
  void overwrite(TxnId r, TxnId w);
  void respect(TxnId p, TxnId q);
  void overtake(TxnId p, const Access& read, VersionId q);
  void force(VersionId before, VersionId after);

  Knowledge& known_;
  const Facts& facts_;
  // How many versions of a group were known to come before a version, by now: as the known order
  // has it, one round late. Empty before the first round.
  std::optional<VersionOrder> done_;
};

// Sets known.returned to a known rw edge (p, q) such that p is known to depend on q, if there is
// one; derives nothing.
void find_opposed_rw(Knowledge& known, Budget& budget);

}  // namespace isoscope::strong
