#pragma once
// What the quantifiers of a level range over in one history, and the facts about it as bits.
//
// Elements of a sort are numbered from 0: the present transactions (T0 is 0), the external reads,
// the keys. All of the grounding speaks of these positions; txn() leads back to the history.
//
// Cost  O(n^2 / 64) words for so and wr, n transactions; the relations of reads are made when a
//       level first asks for them.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "graph/bit_matrix.h"
#include "history/history.h"
#include "relational/bounds.h"
#include "spec/ast.h"
#include "spec/statements.h"

namespace isoscope {

class Universe {
 public:
  struct Read {
    std::uint32_t reader = 0;
    std::uint32_t writer = 0;
    std::uint32_t key = 0;
    EventId event = EventId::none();
    bool is_own = false;          // of an own write: it has a snapshot, but no writer to speak of
    std::uint32_t statement = 0;  // among the statements that read, of all transactions
  };

  // With own reads or without: over co, snap they are reads like the others.
  explicit Universe(const History& h, bool with_own_reads = false);

  const History& history() const { return h_; }
  std::size_t size(Sort sort) const;
  std::size_t num_txns() const { return txns_.size(); }
  TxnId txn(std::size_t position) const { return txns_[position]; }

  // Transactions to transactions.
  const BitMatrix& so() const { return so_; }
  const BitMatrix& wr() const { return wr_; }
  BitMatrix rt() const;
  BitMatrix wr(std::size_t key) const;
  // Pairs that a known version order puts in this order.
  std::span<const std::pair<std::uint32_t, std::uint32_t>> versions() const { return versions_; }

  // Reads. `reads_of` lists those of one key.
  const std::vector<Read>& reads() const { return reads_; }
  std::span<const std::uint32_t> reads_of(std::size_t key) const;
  const BitMatrix& wr_to_reads() const;
  BitMatrix wr_to_reads(std::size_t key) const;
  const BitMatrix& po() const;
  // Statements that read: how many there are, and whose.
  std::size_t num_statements() const { return statement_txn_.size(); }
  std::uint32_t statement_txn(std::size_t statement) const { return statement_txn_[statement]; }
  // Facts about statements (spec/statements.h): reads to transactions, reads to reads,
  // transactions to reads; sets of reads.
  BitMatrix of() const;
  BitMatrix same() const;
  BitMatrix waited() const;
  // Pairs that the numbers of commits put in this order, by position.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> known_order() const;
  const BitSet& current_reads() const { return row_facts().current; }

  // Who accesses what, transactions to keys: Writes, Reads, Locks or WritesRow.
  const Bound& access(FormulaOp op) const;
  BitRow writers_of(std::size_t key) const { return writes_.must_inverse().row(key); }
  const BitSet& writers() const { return writes_.may_from(); }
  const BitSet& readers() const { return external_reads_.may_from(); }
  const BitSet& aborted() const { return aborted_; }
  bool writes(std::size_t txn, std::size_t key) const { return writes_.must().contains(txn, key); }

 private:
  void number_txns();
  void collect_reads(bool with_own);
  struct RowFacts {
    StatementFacts statements;
    BitSet current;
    Bound locks;
    Bound writes_row;
  };
  const RowFacts& row_facts() const;
  void relate_sessions();

  const History& h_;
  std::vector<TxnId> txns_;
  std::vector<std::uint32_t> position_;  // by transaction id
  std::vector<Read> reads_;
  std::vector<std::uint32_t> statement_txn_;
  std::vector<std::uint32_t> reads_by_key_;
  std::vector<std::uint32_t> key_begin_;  // in reads_by_key_
  std::vector<std::pair<std::uint32_t, std::uint32_t>> versions_;
  BitMatrix so_;
  BitMatrix wr_;
  Bound writes_{BitMatrix()};
  Bound external_reads_{BitMatrix()};
  BitSet aborted_;
  mutable std::optional<BitMatrix> wr_to_reads_;
  mutable std::optional<BitMatrix> po_;
  mutable std::optional<RowFacts> row_facts_;
};

}  // namespace isoscope
