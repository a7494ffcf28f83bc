#pragma once
// Who writes or locks each row, and what is known about the order in which they commit.
//
// Known are, whatever the level: that numbers of commits order the writers of a row and those who
// lock it in modes that exclude each other; the version order of lists; and chains, where each
// writer of a key (all writers of it but the first) read the version that it overwrites at the
// very moment of its commit: a current read, or a plain one under a rule that allows no commit
// in between.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "check/points/layout.h"
#include "history/history.h"

namespace isoscope {

// What a transaction does to a row: the first statement in which it locks it in a mode, or kNever.
struct RowClaim {
  static constexpr std::uint32_t kNever = 0xffffffffU;

  TxnId txn;
  std::uint32_t exclusive = kNever;  // UPDATE, DELETE, FOR UPDATE
  std::uint32_t shared = kNever;
  std::uint32_t key_share = kNever;
  std::uint32_t deletes = kNever;
  bool writes = false;  // committed, and by INSERT too

  bool locks() const { return exclusive != kNever || shared != kNever; }
  // The first statement in which it locks the row in a mode that excludes one of the other's.
  std::uint32_t waits_for(const RowClaim& other) const;
};

class RowOrder {
 public:
  explicit RowOrder(const PointLayout& layout);

  std::size_t num_rows() const { return rows_.size(); }
  std::span<const RowClaim> claims(std::size_t row) const { return rows_[row]; }
  // Some key of the row, for people; none() if only locks name it.
  KeyId key(std::size_t row) const { return some_key_[row]; }

  // The writers of x in their order, T0 among them; nothing if it is not known.
  std::optional<std::vector<TxnId>> writers(KeyId x) const;
  // Places in the order of commits, by claim of the row: smaller ones first, equal ones and those
  // without any in no known order.
  std::vector<std::optional<std::int64_t>> ranks(std::size_t row) const;
  // Two transactions that read the same version of x, and both come right after it.
  struct Rivals {
    EventId first;
    EventId second;
  };
  std::optional<Rivals> rivals(KeyId x) const;
  // The read by which t, a writer of x, comes right after the writer that it read from.
  EventId successor_read(TxnId t, KeyId x) const;
  // The reads of x, in order of events.
  std::span<const EventId> reads(KeyId x) const {
    return std::span(reads_).subspan(reads_begin_[x.index],
                                     reads_begin_[x.index + 1] - reads_begin_[x.index]);
  }

 private:
  void collect_claims();
  void collect_reads();
  std::optional<std::vector<TxnId>> by_numbers(KeyId x) const;
  std::optional<std::vector<TxnId>> by_edges(KeyId x) const;
  std::optional<std::vector<TxnId>> by_chain(KeyId x) const;
  // Does a read of t, which writes x, show the writer right before t?
  bool is_adjacent(EventId read) const;

  const PointLayout& layout_;
  const History& h_;
  std::vector<std::vector<RowClaim>> rows_;
  std::vector<KeyId> some_key_;
  std::vector<KeyId> only_key_;  // none() if the row has several
  std::vector<EventId> reads_;   // external, by key
  std::vector<std::uint32_t> reads_begin_;
  std::vector<std::vector<TxnId>> list_orders_;  // by key, where the version edges are a path
};

}  // namespace isoscope
