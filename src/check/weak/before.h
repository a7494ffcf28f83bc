#pragma once
// Who must commit before whom: a graph with an arc from t to each u before t, and its components.
//
// Arcs point backwards in time, because that is how they are known: a reader knows its writers.
// A depth-first search then completes first what commits first, so that the components come in
// commit order, and where nothing speaks against it, that is the order of the file.
#include <numeric>
#include <vector>

#include "check/weak/forced.h"
#include "graph/digraph.h"

namespace isoscope {

// Calls add(t, u) for every u before t in so or wr; of so only the steps, and of wr nothing that
// so says too because T0 wrote it.
template <class Add>
void add_facts(const WeakFacts& facts, Add&& add) {
  const History& h = facts.h;
  for (TxnId t : h.txns()) {
    const TxnId before = facts.previous[t.index];
    if (before.is_none()) continue;
    add(t.index, before.index);
    TxnId last = before;
    for (EventId e : h.events(t)) {
      if (!h.is_external_read(e)) continue;
      const TxnId writer = h.writer(e);
      if (writer != kInitialTxn && writer != last) add(t.index, writer.index);
      last = writer;
      for (const TxnId shown : h.also_shown(e)) add(t.index, shown.index);
    }
  }
}

class Before {
 public:
  // `each(add)` calls add(t, u) for every u before t, each time the same.
  template <class Each>
  Before(std::size_t num_txns, Each&& each) {
    // Most histories are written down in a possible commit order. Then no graph is needed.
    bool is_in_file_order = true;
    each([&](std::uint32_t t, std::uint32_t u) { is_in_file_order = is_in_file_order && u < t; });
    if (is_in_file_order) {
      components_.of.resize(num_txns);
      std::iota(components_.of.begin(), components_.of.end(), 0U);
      components_.count = num_txns;
    } else {
      graph_ = Digraph::of(num_txns, each);
      components_ = strongly_connected_components(graph_);
    }
  }

  bool is_acyclic() const { return components_.are_single(); }
  // All transactions, so that every arc leads back. Requires: is_acyclic().
  std::vector<TxnId> order() const {
    std::vector<TxnId> order(components_.of.size());
    for (std::uint32_t t = 0; t < order.size(); ++t) order[components_.of[t]] = TxnId{t};
    return order;
  }
  const Components& components() const { return components_; }
  // Requires: not is_acyclic().
  const Digraph& graph() const { return graph_; }

 private:
  Digraph graph_;
  Components components_;
};

}  // namespace isoscope
