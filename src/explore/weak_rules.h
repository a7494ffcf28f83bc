#pragma once
// What one more read forces at the levels that explore-ce walks through: true, rc, ra, cc, and any
// mixture of them.
//
// A pending transaction is the last one, so nobody sees it yet. When it reads x from w, then the
// writers of x that it sees commit before w; and where w brings new transactions into sight, those
// that write what it read before commit before the writer it read from [BiswasEnea-OOPSLA'19].
// What it sees depends on its own level only:
//
//   true  nothing        rc  whom it read from before this read
//   ra    its session so far, and whom it reads from        cc  (so ∪ wr)+
//
// The conditions do not mention the commit order, so the history stays consistent iff so, wr and
// the forced edges have no cycle. T0 precedes everything: to force somebody before it is a cycle.
#include <cstdint>
#include <span>
#include <vector>

#include "check/weak/weak.h"
#include "explore/trail.h"

namespace isoscope::explore {

// A transaction before a read.
template <class Set>
struct Reader {
  WeakLevel level = WeakLevel::Cc;
  Set session;    // its predecessors in so
  Set past;       // (so ∪ wr)+
  Set read_from;  // wr
  std::span<const ReadEvent<Set>> reads;
};

// Appends to `edges` what it forces that `reader` reads x from w, whose causal past is `past_of_w`
// (without w). False if it forces somebody before T0. `writers(x)` is the set of writers of x.
template <class Set, class Writers>
bool collect_forced(const Reader<Set>& reader, ProgramKey x, std::uint32_t w, const Set& past_of_w,
                    Writers&& writers, std::vector<ForcedEdges<Set>>& edges) {
  if (reader.level == WeakLevel::True) return true;
  Set seen = reader.read_from;
  Set fresh;
  if (reader.level == WeakLevel::Ra) seen |= reader.session;
  if (reader.level == WeakLevel::Cc) seen = reader.past;
  if (w != kInitialWriter && reader.level != WeakLevel::Rc) {
    if (reader.level == WeakLevel::Cc) fresh = past_of_w;
    fresh.insert(w);
    fresh -= seen;
    seen |= fresh;
  }
  const auto force = [&](Set from, std::uint32_t to) {
    if (to == kInitialWriter) return from.empty();
    from.erase(to);
    if (!from.empty()) edges.push_back({from, to});
    return true;
  };
  if (!force(writers(x) & seen, w)) return false;
  if (fresh.empty()) return true;
  for (const ReadEvent<Set>& earlier : reader.reads) {
    if (!force(writers(earlier.key) & fresh, earlier.writer)) return false;
  }
  return true;
}

}  // namespace isoscope::explore
