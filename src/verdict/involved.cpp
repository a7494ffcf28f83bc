#include "verdict/involved.h"

#include <algorithm>

namespace isoscope {

namespace {

void collect(const History& h, const std::vector<Edge>& edges, std::vector<TxnId>& txns,
             std::vector<KeyId>& keys) {
  const auto add_txn = [&](TxnId t) {
    if (std::find(txns.begin(), txns.end(), t) == txns.end()) txns.push_back(t);
  };
  for (const Edge& e : edges) {
    add_txn(e.from);
    add_txn(e.to);
    if (!e.read.is_none()) add_txn(h.txn(e.read));
    if (!e.key.is_none() && std::find(keys.begin(), keys.end(), e.key) == keys.end())
      keys.push_back(e.key);
    collect(h, e.path, txns, keys);
  }
}

}  // namespace

std::vector<TxnId> involved_txns(const History& h, const Violation& v) {
  std::vector<TxnId> txns = v.core;
  std::vector<KeyId> keys;
  collect(h, v.cycle, txns, keys);
  if (v.fault) {
    txns.push_back(h.txn(v.fault->read));
    if (!v.fault->other.is_none() && h.txn(v.fault->other) != txns.back())
      txns.push_back(h.txn(v.fault->other));
  }
  return txns;
}

std::vector<KeyId> involved_keys(const History& h, const Violation& v) {
  std::vector<TxnId> txns;
  std::vector<KeyId> keys;
  collect(h, v.cycle, txns, keys);
  if (v.fault) keys.push_back(h.key(v.fault->read));
  for (TxnId t : v.core) {
    for (EventId e : h.events(t)) {
      if (std::find(keys.begin(), keys.end(), h.key(e)) == keys.end()) keys.push_back(h.key(e));
    }
  }
  return keys;
}

}  // namespace isoscope
