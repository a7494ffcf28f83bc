#pragma once
// The facts of a history as bit matrices: what the words of the level language mean.
//
// One carrier for all relations: the transactions by id, then the external reads in order of
// events. A relation that relates reads and one that relates transactions thus compose without
// further ado; formulas without reads leave them out.
//
//     carrier    0 = T0   1 = T1   2 = T2   3 = first read of T1   4 = second read of T1   …
//
// Cost  O(m^2 / 8) bytes a relation, m elements: for a few hundred transactions.
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/relation.h"
#include "history/execution.h"
#include "history/history.h"
#include "spec/ast.h"
#include "spec/statements.h"

namespace isoscope {

class FactTables {
 public:
  // Which reads are elements. Over co, snap those of own writes are, too: they have a snapshot.
  enum class Reads : std::uint8_t { None, External, All };
  FactTables(const History& h, Reads which);

  const History& history() const { return h_; }
  std::size_t size() const { return size_; }  // of the carrier
  // The present transactions, the keys, or the reads, as elements (a key is its own index).
  const std::vector<std::uint32_t>& elements(Sort sort) const {
    return sort == Sort::Txn ? txns_ : sort == Sort::Key ? keys_ : reads_;
  }

  bool writes(std::uint32_t t, std::uint32_t x) const { return bit(writes_, t, x); }
  bool reads(std::uint32_t t, std::uint32_t x) const { return bit(reads_key_, t, x); }
  bool locks(std::uint32_t t, std::uint32_t x) const {
    return statements().locks(TxnId{t}, KeyId{x});
  }
  bool writes_row(std::uint32_t t, std::uint32_t x) const {
    return statements().writes_row(TxnId{t}, KeyId{x});
  }
  bool is_current(std::uint32_t read) const { return statements().is_current(event(read)); }
  bool is_member(std::uint32_t t, SetName set) const;

  Relation so() const;
  Relation po() const;
  Relation of() const;
  Relation same() const;
  Relation waited() const;
  Relation rt() const;
  // wr, to transactions or to reads; of one key, or of all. Of one key, a list is read from the
  // writer of its last element; the writers of the others are in wr as such only.
  Relation wr(Sort to, KeyId x) const;
  Relation wr(Sort to) const;
  // All (a, b), a ≠ b, that both write x.
  Relation both_write(KeyId x) const;
  // The identity on all transactions, or on all reads.
  Relation identity_on(Sort sort) const;

  // The event of a read, and its transaction.
  EventId event(std::uint32_t read) const { return events_[read - h_.num_txns()]; }
  std::uint32_t txn_of(std::uint32_t read) const { return event_txn_[read - h_.num_txns()]; }

 private:
  bool bit(const std::vector<std::uint8_t>& table, std::uint32_t t, std::uint32_t x) const {
    return table[t * h_.num_keys() + x] != 0;
  }

  const StatementFacts& statements() const;

  const History& h_;
  mutable std::optional<StatementFacts> statements_;  // made when first asked for
  std::size_t size_ = 0;
  std::vector<std::uint32_t> txns_;
  std::vector<std::uint32_t> keys_;
  std::vector<std::uint32_t> reads_;
  std::vector<EventId> events_;           // of the reads
  std::vector<std::uint32_t> event_txn_;  // of the reads
  std::vector<std::uint8_t> writes_;      // by transaction and key
  std::vector<std::uint8_t> reads_key_;   // by transaction and key
};

}  // namespace isoscope
