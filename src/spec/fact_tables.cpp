#include "spec/fact_tables.h"

namespace isoscope {

FactTables::FactTables(const History& h, Reads which)
    : h_(h),
      size_(h.num_txns()),
      writes_(h.num_txns() * h.num_keys()),
      reads_key_(h.num_txns() * h.num_keys()) {
  for (KeyId x : h.keys()) {
    keys_.push_back(x.index);
    for (TxnId t : h.writers(x)) writes_[t.index * h.num_keys() + x.index] = 1;
  }
  for (TxnId t : h.txns()) {
    if (!h.is_present(t)) continue;
    txns_.push_back(t.index);
    for (EventId e : h.events(t)) {
      if (!h.is_read(e) || (!h.is_external_read(e) && which != Reads::All)) continue;
      if (h.is_external_read(e)) reads_key_[t.index * h.num_keys() + h.key(e).index] = 1;
      events_.push_back(e);
      event_txn_.push_back(t.index);
    }
  }
  if (which == Reads::None) return;
  for (std::size_t i = 0; i < events_.size(); ++i)
    reads_.push_back(static_cast<std::uint32_t>(size_++));
}

bool FactTables::is_member(std::uint32_t t, SetName set) const {
  const TxnId id{t};
  if (!h_.is_present(id)) return false;
  if (set == SetName::Aborted) return h_.status(id) == TxnStatus::Aborted;
  for (std::uint32_t x : keys_) {
    if (set == SetName::Writers ? writes(t, x) : reads(t, x)) return true;
  }
  return false;
}

Relation FactTables::so() const {
  Relation r(size_);
  for (std::uint32_t a : txns_) {
    for (std::uint32_t b : txns_) {
      if (h_.so(TxnId{a}, TxnId{b})) r.insert(a, b);
    }
  }
  return r;
}

Relation FactTables::rt() const {
  Relation r(size_);
  for (std::uint32_t a : txns_) {
    for (std::uint32_t b : txns_) {
      if (h_.rt(TxnId{a}, TxnId{b})) r.insert(a, b);
    }
  }
  return r;
}

Relation FactTables::po() const {
  Relation r(size_);
  for (std::uint32_t a : reads_) {
    for (std::uint32_t b : reads_) {
      if (a < b && txn_of(a) == txn_of(b)) r.insert(a, b);
    }
  }
  return r;
}

const StatementFacts& FactTables::statements() const {
  if (!statements_) statements_.emplace(h_);
  return *statements_;
}

Relation FactTables::of() const {
  Relation r(size_);
  for (std::uint32_t a : reads_) r.insert(a, txn_of(a));
  return r;
}

Relation FactTables::same() const {
  Relation r(size_);
  for (std::uint32_t a : reads_) {
    for (std::uint32_t b : reads_) {
      if (txn_of(a) == txn_of(b) && h_.statement(event(a)) == h_.statement(event(b)))
        r.insert(a, b);
    }
  }
  return r;
}

Relation FactTables::waited() const {
  Relation r(size_);
  for (std::uint32_t a : reads_)
    statements().for_each_waited(event(a), [&](TxnId t) { r.insert(t.index, a); });
  return r;
}

Relation FactTables::wr(Sort to, KeyId x) const {
  Relation r(size_);
  for (std::size_t i = 0; i < events_.size(); ++i) {
    if (h_.key(events_[i]) != x || !h_.is_external_read(events_[i])) continue;
    r.insert(h_.writer(events_[i]).index, to == Sort::Txn ? event_txn_[i] : reads_[i]);
  }
  return r;
}

Relation FactTables::wr(Sort to) const {
  Relation r(size_);
  for (std::size_t i = 0; i < events_.size(); ++i) {
    if (!h_.is_external_read(events_[i])) continue;
    const std::uint32_t target = to == Sort::Txn ? event_txn_[i] : reads_[i];
    r.insert(h_.writer(events_[i]).index, target);
    for (TxnId u : h_.also_shown(events_[i])) r.insert(u.index, target);
  }
  return r;
}

Relation FactTables::both_write(KeyId x) const {
  Relation r(size_);
  for (TxnId a : h_.writers(x)) {
    for (TxnId b : h_.writers(x)) {
      if (a != b) r.insert(a.index, b.index);
    }
  }
  return r;
}

Relation FactTables::identity_on(Sort sort) const {
  Relation r(size_);
  for (std::uint32_t a : elements(sort)) r.insert(a, a);
  return r;
}

}  // namespace isoscope
