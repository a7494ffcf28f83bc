#pragma once
// What the level language says about statements and locks: current, waited, locks, writesrow.
//
//   current(r)       the statement of r also writes, deletes or locks the row of its key (KEY SHARE
//                    is not enough): r reads what is there, not what its snapshot shows
//   locks(t, x)      t updates, deletes or locks the row of x (not KEY SHARE); an INSERT does not
//   writesrow(t, x)  t committed and writes, inserts or deletes the row of x
//   waited(t, r)     in a statement before that of r, the transaction of r locked some row in a
//                    mode that excludes a mode in which t locked it, so one had to wait for the
//                    other
//
// Locks are taken by transactions that abort, too. Exclusive locks (UPDATE, DELETE, FOR UPDATE)
// exclude each other and shared ones (FOR SHARE). KEY SHARE excludes only what deletes the row:
// whether an exclusive lock is FOR UPDATE or FOR NO KEY UPDATE, a history does not say.
//
// Recorded runs number their commits. Writers of a row, and transactions that lock it in modes that
// exclude each other, commit one after the other, so the numbers are facts about their order:
// known_order(). Between other transactions a number is only the order of records in a log.
//
// Cost  O(events + locks) to make; waited() walks over the claims of each row that was locked.
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "history/history.h"

namespace isoscope {

class StatementFacts {
 public:
  // Requires: `h` outlives the facts.
  explicit StatementFacts(const History& h);

  bool is_current(EventId read) const;
  bool locks(TxnId t, KeyId x) const;
  bool writes_row(TxnId t, KeyId x) const;
  // Calls `report` with each t for which waited(t, read), perhaps more than once.
  void for_each_waited(EventId read, const std::function<void(TxnId)>& report) const;
  // Pairs (before, after) whose closure is what commit numbers tell about the order of commits.
  std::vector<std::pair<TxnId, TxnId>> known_order() const;

 private:
  enum class Mode : std::uint8_t { KeyShare, Share, Exclusive, Delete };
  struct Claim {
    TxnId txn;
    std::uint32_t statement = 0;
    RowId row;
    Mode mode = Mode::Exclusive;
    bool by_insert = false;  // makes the reads of its statement current, but locks nothing
  };

  static bool excludes(const Claim& a, const Claim& b);
  // Those of one transaction.
  std::span<const Claim> claims(TxnId t) const;

  const History& h_;
  std::vector<Claim> claims_;               // by transaction
  std::vector<std::uint32_t> begin_;        // of a transaction's in claims_; one more at the end
  std::vector<std::vector<Claim>> of_row_;  // by row, without inserts
};

}  // namespace isoscope
