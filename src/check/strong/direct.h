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

// One round of ua's own rules, after those that follow from paths. A writer q of x that p depends
// on comes before the writer whose x p reads; and where rw(p, q) is known, p comes before q on
// every key that both write. Where p depends on q and yet read the initial value of what q wrote,
// known.returned has rw(p, q) in the end.
void saturate_directly(Knowledge& known, Budget& budget);

// Sets known.returned to a known rw edge (p, q) such that p is known to depend on q, if there is
// one; derives nothing.
void find_opposed_rw(Knowledge& known, Budget& budget);

}  // namespace isoscope::strong
