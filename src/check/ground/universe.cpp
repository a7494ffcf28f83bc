#include "check/ground/universe.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "support/assert.h"

namespace isoscope {
namespace {

constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Universe::Universe(const History& h, bool with_own_reads) : h_(h) {
  number_txns();
  collect_reads(with_own_reads);
  relate_sessions();
  BitMatrix writes(num_txns(), h.num_keys());
  for (const KeyId x : h.keys()) {
    for (const TxnId t : h.writers(x)) writes.insert(position_[t.index], x.index);
  }
  BitMatrix reads(num_txns(), h.num_keys());
  wr_ = BitMatrix(num_txns(), num_txns());
  for (const Read& read : reads_) {
    if (read.is_own) continue;
    reads.insert(read.reader, read.key);
    wr_.insert(read.writer, read.reader);
    for (const TxnId t : h.also_shown(read.event)) wr_.insert(position_[t.index], read.reader);
  }
  writes_ = Bound(std::move(writes));
  external_reads_ = Bound(std::move(reads));
  for (const VersionEdge& edge : h.version_edges())
    versions_.emplace_back(position_[edge.before.index], position_[edge.after.index]);
}

void Universe::number_txns() {
  position_.assign(h_.num_txns(), kAbsent);
  for (const TxnId t : h_.txns()) {
    if (!h_.is_present(t)) continue;
    position_[t.index] = static_cast<std::uint32_t>(txns_.size());
    txns_.push_back(t);
  }
  aborted_ = BitSet(num_txns());
  for (std::size_t a = 0; a < num_txns(); ++a) {
    if (!h_.is_committed(txns_[a])) aborted_.insert(a);
  }
}

void Universe::collect_reads(bool with_own) {
  for (std::uint32_t a = 0; a < num_txns(); ++a) {
    std::optional<std::uint32_t> statement;
    for (const EventId e : h_.events(txns_[a])) {
      const bool is_own = !h_.is_external_read(e);
      if (!h_.is_read(e) || (is_own && !with_own)) continue;
      if (statement != h_.statement(e)) statement_txn_.push_back(a);
      statement = h_.statement(e);
      reads_.push_back({a, is_own ? a : position_[h_.writer(e).index], h_.key(e).index, e, is_own,
                        static_cast<std::uint32_t>(statement_txn_.size() - 1)});
    }
  }
  key_begin_.assign(h_.num_keys() + 1, 0);
  for (const Read& read : reads_) key_begin_[read.key + 1] += read.is_own ? 0 : 1;
  for (std::size_t x = 0; x < h_.num_keys(); ++x) key_begin_[x + 1] += key_begin_[x];
  std::vector<std::uint32_t> next(key_begin_.begin(), key_begin_.end());
  reads_by_key_.resize(key_begin_.back());
  for (std::uint32_t r = 0; r < reads_.size(); ++r) {
    if (!reads_[r].is_own) reads_by_key_[next[reads_[r].key]++] = r;
  }
}

void Universe::relate_sessions() {
  so_ = BitMatrix(num_txns(), num_txns());
  for (const SessionId s : h_.sessions()) {
    BitSet later(num_txns());
    const auto chain = h_.session_txns(s);
    for (auto t = chain.rbegin(); t != chain.rend(); ++t) {
      const std::uint32_t a = position_[t->index];
      if (a == kAbsent) continue;
      so_.unite_row(a, later.row());
      later.insert(a);
    }
  }
  for (std::size_t a = 1; a < num_txns(); ++a) so_.insert(0, a);
}

BitMatrix Universe::rt() const {
  BitMatrix rt(num_txns(), num_txns());
  if (!h_.has_times()) return rt;
  for (std::size_t a = 0; a < num_txns(); ++a) {
    for (std::size_t b = 0; b < num_txns(); ++b) {
      if (h_.rt(txns_[a], txns_[b])) rt.insert(a, b);
    }
  }
  return rt;
}

std::size_t Universe::size(Sort sort) const {
  switch (sort) {
    case Sort::Txn: return txns_.size();
    case Sort::Key: return h_.num_keys();
    case Sort::Read: return reads_.size();
  }
  return 0;
}

std::span<const std::uint32_t> Universe::reads_of(std::size_t key) const {
  return std::span(reads_by_key_).subspan(key_begin_[key], key_begin_[key + 1] - key_begin_[key]);
}

BitMatrix Universe::wr(std::size_t key) const {
  BitMatrix r(num_txns(), num_txns());
  for (const std::uint32_t i : reads_of(key)) r.insert(reads_[i].writer, reads_[i].reader);
  return r;
}

BitMatrix Universe::wr_to_reads(std::size_t key) const {
  BitMatrix r(num_txns(), reads_.size());
  for (const std::uint32_t i : reads_of(key)) r.insert(reads_[i].writer, i);
  return r;
}

const BitMatrix& Universe::wr_to_reads() const {
  if (!wr_to_reads_) {
    wr_to_reads_.emplace(num_txns(), reads_.size());
    for (std::size_t i = 0; i < reads_.size(); ++i) {
      if (reads_[i].is_own) continue;
      wr_to_reads_->insert(reads_[i].writer, i);
      for (const TxnId t : h_.also_shown(reads_[i].event))
        wr_to_reads_->insert(position_[t.index], i);
    }
  }
  return *wr_to_reads_;
}

const Universe::RowFacts& Universe::row_facts() const {
  if (row_facts_) return *row_facts_;
  StatementFacts statements(h_);
  BitSet current(reads_.size());
  for (std::size_t r = 0; r < reads_.size(); ++r) {
    if (statements.is_current(reads_[r].event)) current.insert(r);
  }
  BitMatrix locks(num_txns(), h_.num_keys());
  BitMatrix writes_row(num_txns(), h_.num_keys());
  for (const KeyId x : h_.keys()) {
    for (std::size_t t = 0; t < num_txns(); ++t) {
      if (statements.locks(txns_[t], x)) locks.insert(t, x.index);
      if (statements.writes_row(txns_[t], x)) writes_row.insert(t, x.index);
    }
  }
  return row_facts_.emplace(RowFacts{std::move(statements), std::move(current),
                                     Bound(std::move(locks)), Bound(std::move(writes_row))});
}

const Bound& Universe::access(FormulaOp op) const {
  switch (op) {
    case FormulaOp::Writes: return writes_;
    case FormulaOp::Reads: return external_reads_;
    case FormulaOp::Locks: return row_facts().locks;
    case FormulaOp::WritesRow: return row_facts().writes_row;
    default: ISO_ASSERT(false);
  }
}

BitMatrix Universe::of() const {
  BitMatrix r(reads_.size(), num_txns());
  for (std::size_t i = 0; i < reads_.size(); ++i) r.insert(i, reads_[i].reader);
  return r;
}

BitMatrix Universe::same() const {
  BitMatrix r(reads_.size(), reads_.size());
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    for (std::size_t j = i; j < reads_.size() && reads_[j].statement == reads_[i].statement; ++j) {
      r.insert(i, j);
      r.insert(j, i);
    }
  }
  return r;
}

BitMatrix Universe::waited() const {
  BitMatrix r(num_txns(), reads_.size());
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    row_facts().statements.for_each_waited(reads_[i].event,
                                           [&](TxnId t) { r.insert(position_[t.index], i); });
  }
  return r;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> Universe::known_order() const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> known;
  for (const auto& [before, after] : row_facts().statements.known_order())
    known.emplace_back(position_[before.index], position_[after.index]);
  return known;
}

const BitMatrix& Universe::po() const {
  if (!po_) {
    // Reads are numbered in program order, those of a transaction one after the other.
    po_.emplace(reads_.size(), reads_.size());
    for (std::size_t i = 0; i < reads_.size(); ++i) {
      for (std::size_t j = i + 1; j < reads_.size() && reads_[j].reader == reads_[i].reader; ++j)
        po_->insert(i, j);
    }
  }
  return *po_;
}

}  // namespace isoscope
