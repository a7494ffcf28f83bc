#include "predict/pco.h"

namespace isoscope::predict {

Relation pco_of(const History& h, Budget& budget) {
  Relation pco(h.num_txns());
  for (const TxnId a : h.txns()) {
    for (const TxnId b : h.txns()) {
      if (a != b && h.is_present(a) && h.is_present(b) && h.so(a, b)) pco.insert(a.index, b.index);
    }
  }
  const std::vector<ReadFrom> reads = h.reads_from();
  for (const ReadFrom& read : reads) pco.insert(read.t1.index, read.t3.index);
  for (;;) {
    pco = transitive_closure(std::move(pco), &budget);
    if (budget.expired_now() || !pco.is_irreflexive()) return pco;
    Relation more = pco;
    for (const ReadFrom& read : reads) {
      for (const TxnId t : h.writers(read.x)) {
        if (t == read.t1 || t == read.t3) continue;
        if (pco.contains(t.index, read.t3.index)) more.insert(t.index, read.t1.index);
        if (pco.contains(read.t1.index, t.index)) more.insert(read.t3.index, t.index);
      }
    }
    if (more == pco) return pco;
    pco = std::move(more);
  }
}

bool is_pco_cyclic(const History& h, Budget budget) {
  return !pco_of(h, budget).is_irreflexive() && !budget.expired_now();
}

}  // namespace isoscope::predict
