#pragma once
// Locks on numbers that a program chooses: pg_advisory_xact_lock and its variants.
//
// They are held to the end of the transaction, or until what a block did is taken back. Unlike row
// locks they queue: whoever asks for a lock that excludes one which another transaction waits for
// goes behind it, even if no holder is in the way. A transaction that has the lock in another mode
// already, so that a waiter must wait for it anyway, goes before that waiter.
//
//     holders  T1 shared           queue  T2 exclusive, T3 shared
//
// T3 waits for T2, which waits for T1. To wait for a place in a queue is weaker than to wait for a
// holder: where it closes a cycle, the server reorders the queue and aborts no transaction.
#include <cstdint>
#include <map>
#include <vector>

#include "sql/server/digest.h"
#include "sql/server/ids.h"

namespace isoscope::sql::server {

class AdvisoryLocks {
 public:
  // One number of 64 bits, or two of 32: other keys than those of one number.
  using Key = std::vector<std::int64_t>;

  struct Request {
    TxnNo txn = {};
    CommandNo command = {};
    Key key = {};
    bool is_shared = false;
    bool is_tried = false;      // does not queue
    bool passes_queue = false;  // the server lets it go before those that it waits behind
  };
  struct Answer {
    bool is_granted = false;
    std::vector<TxnNo> holders = {};  // that it waits for
    std::vector<TxnNo> ahead = {};    // in the queue, that it waits behind
  };
  Answer ask(const Request& request);

  // What the transaction took by this command and later ones is taken back.
  void undo(TxnNo txn, CommandNo command);
  void end(TxnNo txn) { undo(txn, {}); }

  void add_to(Digest& digest) const;

 private:
  struct Claim {
    TxnNo txn = {};
    bool is_shared = false;
    CommandNo command = {};
  };
  struct Entry {
    std::vector<Claim> held = {};
    std::vector<Claim> queue = {};  // in the order in which they are served
  };
  static bool excludes(const Claim& claim, const Request& request) {
    return claim.txn != request.txn && !(claim.is_shared && request.is_shared);
  }
  // Puts the request into the queue; its place there.
  static std::size_t enqueue(Entry& entry, const Request& request);

  std::map<Key, Entry> entries_;  // only those with holders or waiters
};

}  // namespace isoscope::sql::server
