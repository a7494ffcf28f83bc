#include "history/execution.h"

namespace isoscope {

std::string_view name_of(Framework framework) {
  switch (framework) {
    case Framework::Co: return "co";
    case Framework::VisAr: return "vis";
    case Framework::CoSnap: return "snap";
  }
  return {};
}

std::string_view orders_of(Framework framework) {
  switch (framework) {
    case Framework::Co: return "co";
    case Framework::VisAr: return "vis, ar";
    case Framework::CoSnap: return "co, snap";
  }
  return {};
}

Relation order_relation(const std::vector<TxnId>& order, std::size_t n) {
  Relation r(n);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) r.insert(order[i].index, order[j].index);
  }
  return r;
}

Relation so_relation(const History& h) {
  Relation r(h.num_txns());
  for (TxnId a : h.txns()) {
    if (!h.is_present(a)) continue;
    for (TxnId b : h.txns()) {
      if (h.is_present(b) && h.so(a, b)) r.insert(a.index, b.index);
    }
  }
  return r;
}

Relation wr_relation(const History& h) {
  Relation r(h.num_txns());
  for (const auto& [x, t1, t3] : h.reads_from()) r.insert(t1.index, t3.index);
  if (!h.has_lists()) return r;
  for (TxnId t : h.txns()) {
    for (EventId e : h.events(t)) {
      for (TxnId u : h.also_shown(e)) r.insert(u.index, t.index);
    }
  }
  return r;
}

}  // namespace isoscope
