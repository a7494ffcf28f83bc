#pragma once
// What one more read forces at the levels true, rc, ra, cc, and any mixture of them: for the oracle
// of the store, and for the explorations that go through those levels.
//
// A pending transaction is the last one, so no other sees it yet. When it reads x from w, then the
// writers of x that it sees commit before w; and where w brings new transactions into sight, those
// that write what it read before commit before the writer it read from [BiswasEnea-OOPSLA'19].
// What it sees depends on its own level only:
//
//   true  nothing        rc  whom it read from before this read
//   ra    its session so far, and whom it reads from        cc  (so ∪ wr)+
//
// The conditions do not mention the commit order, so the history stays consistent iff so, wr and
// the forced edges have no cycle. T0 precedes everything: to force one before it is a cycle.
#include <cstdint>
#include <span>

#include "check/weak/weak.h"
#include "store/recording.h"

namespace isoscope::store {

// A transaction before a read. A `Read` has a key and a writer.
template <class Set, class Read>
struct Reader {
  WeakLevel level = WeakLevel::Cc;
  Set session = {};    // its predecessors in so
  Set past = {};       // (so ∪ wr)+
  Set read_from = {};  // wr
  std::span<const Read> reads = {};
};

// Calls `force(from, to)` with what it forces that `reader` reads x from w: every member of `from`,
// which is not empty and does not contain `to`, commits before `to`. False if it forces a
// transaction before T0. `past(t)` is the causal past of t (without t), `writers(x)` the set of
// writers of x.
template <class Set, class Read, class Past, class Writers, class Force>
bool collect_forced(const Reader<Set, Read>& reader, ProgramKey x, CallId w, Past&& past,
                    Writers&& writers, Force&& force) {
  if (reader.level == WeakLevel::True) return true;
  Set seen = reader.read_from;
  Set fresh;
  if (reader.level == WeakLevel::Ra) seen |= reader.session;
  if (reader.level == WeakLevel::Cc) seen = reader.past;
  if (w != kInitialWriter && reader.level != WeakLevel::Rc) {
    if (reader.level == WeakLevel::Cc) fresh = past(w);
    fresh.insert(w);
    fresh -= seen;
    seen |= fresh;
  }
  const auto precede = [&](Set from, CallId to) {
    if (to == kInitialWriter) return from.empty();
    from.erase(to);
    if (!from.empty()) force(from, to);
    return true;
  };
  if (!precede(writers(x) & seen, w)) return false;
  if (fresh.empty()) return true;
  for (const Read& earlier : reader.reads) {
    if (!precede(writers(earlier.key) & fresh, earlier.writer)) return false;
  }
  return true;
}

}  // namespace isoscope::store
