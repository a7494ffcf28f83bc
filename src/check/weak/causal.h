#pragma once
// The pass over the history that finds what cc forces. Used by forced.h and cycles.h.
//
// Transactions are visited so that so and wr lead onwards. Each gets a clock: how much of every
// lane it sees. A clock is kept until the session has moved on and the last reader has come, so
// what is in memory is the frontier, not the history. The readers of one version put their views
// together, and when the last has come the version is settled: of every lane, the last writer of
// the key in that common view is forced before the version's writer.
//
// Lanes do not depend on each other, so they are taken in blocks, one walk through the history a
// block: memory stays bounded however many sessions there are. Who sees nothing of a block needs
// no clock in it.
#include <cstdint>
#include <span>
#include <vector>

#include "check/weak/clock_pool.h"
#include "check/weak/forced.h"
#include "check/weak/lane_writes.h"
#include "check/weak/lanes.h"

namespace isoscope {

class CausalPass {
 public:
  using Choice = std::vector<bool>;  // by transaction

  // Without `only`, adds as few edges as decide; with it, every edge that the axiom forces
  // between two of the chosen transactions.
  CausalPass(const WeakFacts& facts, std::span<const TxnId> order, const Choice* only,
             ForcedEdges& forced);
  bool run(Budget& budget);
  // The same with blocks of a given width. Requires: it is positive.
  bool run(std::uint32_t lanes_in_block, Budget& budget);

 private:
  // One walk, for the lanes from `first` up to, not including, `last`.
  class Block {
   public:
    Block(CausalPass& pass, std::uint32_t first, std::uint32_t last);
    bool run(Budget& budget);

   private:
    static constexpr ClockPool::Slot kSeesNothing = 0xffffffffU;
    static constexpr std::uint32_t kShared = 0x80000000U;

    void visit(TxnId t3);
    bool look(TxnId t3);
    void settle_reads(TxnId t3, bool sees);
    void settle(TxnId t1, KeyId x, const ClockEntry* view);
    void settle_literally(TxnId t1, KeyId x, const ClockEntry* view);
    void release(TxnId t);
    TxnId txn_at(std::uint32_t lane, ClockEntry position) const {
      return p_.lanes_.txns(first_ + lane)[static_cast<std::size_t>(position)];
    }

    CausalPass& p_;
    std::uint32_t first_;
    std::uint32_t width_;
    LaneWrites writes_;
    ClockPool clocks_;
    std::vector<ClockPool::Slot> clock_;  // by transaction, while it is needed
    std::vector<std::uint32_t> needed_;   // by transaction: how often yet
    // By version: how many readers are to come; from the first of several on, kShared and the
    // slot of their common view.
    std::vector<std::uint32_t> readers_;
    std::vector<std::uint32_t> left_;  // by slot of a common view: how many readers are to come
    std::vector<ClockEntry> view_;     // of the transaction at hand
    std::vector<ClockEntry> nothing_;  // the view of one who sees nothing
  };

  void find_versions();

  const WeakFacts& facts_;
  const History& h_;
  std::span<const TxnId> order_;
  Lanes lanes_;
  const Choice* only_;
  ForcedEdges& forced_;
  std::vector<std::uint32_t> needed_;
  std::vector<std::uint32_t> readers_;
  std::vector<std::uint32_t> first_read_;  // by transaction, in versions_
  std::vector<std::uint32_t> versions_;  // of the external reads at cc, transaction by transaction
};

}  // namespace isoscope
