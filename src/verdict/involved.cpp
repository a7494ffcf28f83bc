#include "verdict/involved.h"

#include <unordered_set>

namespace isoscope {

namespace {

// In the order in which they are added first.
template <class T>
class Distinct {
 public:
  void add(T element) {
    if (known_.insert(element).second) all_.push_back(element);
  }
  std::vector<T> take() { return std::move(all_); }

 private:
  std::unordered_set<T> known_;
  std::vector<T> all_;
};

void collect(const History& h, const std::vector<Edge>& edges, Distinct<TxnId>& txns,
             Distinct<KeyId>& keys) {
  for (const Edge& e : edges) {
    txns.add(e.from);
    txns.add(e.to);
    if (!e.read.is_none()) txns.add(h.txn(e.read));
    if (!e.key.is_none()) keys.add(e.key);
    collect(h, e.path, txns, keys);
  }
}

}  // namespace

std::vector<TxnId> involved_txns(const History& h, const Violation& v) {
  Distinct<TxnId> txns;
  Distinct<KeyId> keys;
  for (TxnId t : v.core) txns.add(t);
  collect(h, v.cycle, txns, keys);
  if (v.fault) {
    txns.add(h.txn(v.fault->read));
    if (!v.fault->other.is_none()) txns.add(h.txn(v.fault->other));
  }
  return txns.take();
}

std::vector<KeyId> involved_keys(const History& h, const Violation& v) {
  Distinct<TxnId> txns;
  Distinct<KeyId> keys;
  collect(h, v.cycle, txns, keys);
  if (v.fault) keys.add(h.key(v.fault->read));
  for (TxnId t : v.core) {
    for (EventId e : h.events(t)) keys.add(h.key(e));
  }
  return keys.take();
}

}  // namespace isoscope
