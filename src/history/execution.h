#pragma once
// An execution: a history plus the orders that explain it.
//
// Three frameworks. Biswas-Enea: a commit order co. Cerone et al.: visibility vis and arbitration
// ar. Crooks et al.: a commit order co and for each statement a snapshot, which is a beginning of
// co. co and ar are strict total orders of the present transactions, kept as sequences: T0 first.
#include <optional>
#include <vector>

#include "graph/relation.h"
#include "history/history.h"

namespace isoscope {

enum class Framework : std::uint8_t { Co, VisAr, CoSnap };

// The word after '@': co, vis or snap.
std::string_view name_of(Framework framework);
// What stands after `over`: "co", "vis, ar" or "co, snap".
std::string_view orders_of(Framework framework);

// The orders of an execution. `order` is co, or ar with `vis` beside it. A vis over many
// transactions is quadratic, so an engine may leave it out; then it is what the level's axioms
// force for that ar, and it cannot be printed.
struct Witness {
  Framework framework = Framework::Co;
  std::vector<TxnId> order = {};
  std::optional<Relation> vis = {};  // over all transaction ids of the history
  // Over co, snap: by event, how many of the first transactions of `order` are in the snapshot of
  // a read's statement; for events that are no reads it means nothing.
  std::vector<std::uint32_t> snap = {};
};

struct Execution {
  const History& h;
  const Witness& witness;

  const std::vector<TxnId>& order() const { return witness.order; }
};

// The strict total order of a sequence, as a relation over `n` elements.
Relation order_relation(const std::vector<TxnId>& order, std::size_t n);
// Facts of a history as relations over transaction ids, present transactions only.
Relation so_relation(const History& h);
Relation wr_relation(const History& h);

}  // namespace isoscope
