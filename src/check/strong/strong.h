#pragma once
// Decides the levels that leave the order of versions open: pc, psi, ua, si and ser.
//
// A history tells who read from whom (wr) but not in which order the versions of a key came (ww),
// and thus not who overwrote what was read (rw = wr^-1 ; ww without identity). A level holds iff
// some choice of ww, a total order of each key's writers with T0 first and with what lists tell,
// leaves the level's graph without the cycles that it forbids:
//
//     ser   no cycle of so, wr, ww, rw
//     si    split each t in S(t) -> C(t); so, wr, ww lead from C to S, rw from S to C: no cycle
//     pc    the same, but ww from C to C
//     psi   no cycle of so, wr, ww, and no path of them back over an rw edge
//     ua    no cycle of so, wr, ww, and no single edge of them back over an rw edge
//
// Why these are the levels of their texts. Take an order of all points that a graph without
// cycles allows, and co (or ar) as the order of commits; conversely, ww as co on each key.
//   ser  rw(t3, t2) says exactly: t2, which comes after t1 on x, does not come before t3, who
//        reads x from t1. That is the axiom, turned around.
//   pc   "(t2, t3) in co* ; (so | wr)" says that t2 is in the prefix of commits up to the last
//        predecessor of t3 in so and wr. Let S(t3) stand right after that: then the axiom says
//        S(t3) before C(t2) for every t2 that overwrites what t3 read, which is rw.
//   si   also puts in that prefix whatever commits before t3 and writes a common key: ww from C
//        to S. In vis and ar both say that what t sees is a prefix of ar.
//   psi, ua   Any vis contains so, wr (a read names a visible writer) and ww (writers of a key
//        are related), and psi's is transitive. The least such vis is as good as any, since what
//        is demanded of reads only forbids visible writers: (so | wr | ww)+ for psi, so | wr | ww
//        for ua. A read fails iff an overwriter of what it read is visible: back over rw.
// ww on different keys must fit into one ar; that so, wr, ww have no cycle says so.
//
// Way     Facts; saturation to a fixed point, by clocks of chains (saturation.h); the choices that
//         are left (residue.h); a guess, and a SAT solver to repair it (search.h). A contradiction
//         in saturation is told as a cycle (explain.h), one of the search as a core.
// Papers  [CeroneGotsman-PODC'16] for si, psi; [Cobra-OSDI'20] and
//         [PolySI-VLDB'23] for polygraphs; [BiswasEnea-OOPSLA'19] for the axioms.
// Cost    The general problem is NP-complete for all five. Histories of real stores take
//         O(rounds × edges × chains) and a search with few conflicts: 10,000 transactions a
//         fraction of a second, 100,000 some seconds, n × chains × 8 bytes. Chains are sessions,
//         or fewer where they are many and short (clocks.h).
#include <cstddef>
#include <cstdint>

#include "history/execution.h"
#include "history/history.h"
#include "support/budget.h"
#include "verdict/verdict.h"

namespace isoscope {

enum class StrongLevel : std::uint8_t { Pc, Psi, Ua, Si, Ser };

// Up to this many transactions a witness has its vis as a matrix.
inline constexpr std::size_t kMaxVisTxns = 2'000;

struct StrongOptions {
  // Tests switch phases off to compare; the answer is the same.
  bool saturate = true;  // derive what facts force about versions before choices are made
  bool prune = true;     // try a guess first, search only where cycles are possible
  // Beyond so many chains, fewer are looked for in what is known: so many cost little.
  std::uint32_t few_chains = 64;
  Progress progress = {};
};

// Consistent with a witness: a commit order for pc, si and ser; ar and vis for psi and ua.
// Violated with a cycle whose edges carry their reasons; it has the fewest edges of all cycles that
// saturation knows of, unless a limit came first, which the statistic `shortest` tells (0 or 1).
// Or, where only a search refutes the history, with a core of transactions that admit no order.
// Anomaly and axiom are left to the caller. Unknown if the budget expires. Faults of reads are not
// looked at: such reads are no external reads.
Verdict check_strong(const History& h, StrongLevel level, Budget& budget,
                     const StrongOptions& options = {});

// The witness of pc, si or ser over vis and ar: ar is the commit order, vis the least that the
// level allows with it, left out beyond kMaxVisTxns. A witness over vis and ar stays as it is.
Witness as_vis_witness(const History& h, StrongLevel level, const Witness& co);

}  // namespace isoscope
