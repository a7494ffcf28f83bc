#pragma once
// Decides ser, si and pc for a small history: is there an order in which its transactions, or
// their starts and commits, can happen?
//
// Transactions are placed one by one, sessions in order. What is placed is known by how far each
// session is, so there are few states and none is looked at twice:
//
//   ser   t may come next if its writers are placed, and if none that is still to come reads
//         what t overwrites from a transaction already placed
//   pc    t starts when its writers have committed; it commits when all who read what it
//         overwrites have started
//   si    as pc, and while t is under way no other writer of its keys commits
//
// Transactions may have rules of their own. For one that is free, what its reads force is said by
// pairs of transactions that have to commit in this order.
//
// Paper    [BiswasEnea-OOPSLA'19], section 4: at most (m+1)^k states for k sessions of m
//          transactions, (2m+1)^k for pc and si.
// Differs  Depth first, in the order that the caller prefers, so a consistent history costs about
//          as many steps as it has transactions. What can do no harm is taken at once, so that
//          transactions without conflicts are not permuted.
#include <cstdint>
#include <span>
#include <vector>

#include "store/txn_set.h"
#include "support/budget.h"

namespace isoscope {

enum class StrongRule : std::uint8_t { Pc, Si, Ser };

// The rules of transactions, each for its own reads and writes; the others are at ser, or free:
// they start when they commit.
template <class Set>
struct TxnRules {
  Set split;  // pc or si
  Set si;

  static TxnRules all(StrongRule rule) {
    const Set every = Set::first(Set::kCapacity);
    return {rule == StrongRule::Ser ? Set{} : every, rule == StrongRule::Si ? every : Set{}};
  }
};

// What a linearizer must know about a history. A copy is cheap, and can be told more.
template <class Set>
class LinearFacts {
 public:
  explicit LinearFacts(std::uint32_t num_txns)
      : overwrites_(std::size_t{num_txns} * num_txns), txns_(num_txns) {}

  void clear();
  // A transaction and whom it reads from. Transactions of a session come in ascending order; the
  // linearizer tries those first that are added first.
  void add_txn(CallId t, ProgramSession session, const Set& read_from);
  // `reader` reads a key from `writer` (null: from T0), and `writers` write it.
  void add_read(CallId reader, const CallId* writer, const Set& writers);
  // t and `others` write the same key.
  void add_conflict(CallId t, const Set& others);
  // All of `before` commit before t.
  void add_before(CallId t, const Set& before) { txns_[t].before |= before; }

 private:
  template <class>
  friend class Linearizer;

  struct Txn {
    Set read_from;
    Set conflicts;        // who else writes one of its keys
    Set overwritten;      // writers w for whom overwrites(t, w) is not empty
    Set initial_readers;  // who reads from T0 what it writes
    Set before;           // who has to commit first
    std::uint32_t rank = 0;
  };
  // Who reads from `writer` a key that t writes too.
  Set& overwrites(CallId t, CallId writer) {
    return overwrites_[std::size_t{t.index} * txns_.size() + writer.index];
  }
  const Set& overwrites(CallId t, CallId writer) const {
    return overwrites_[std::size_t{t.index} * txns_.size() + writer.index];
  }

  std::vector<Set> overwrites_;
  ById<CallId, Txn> txns_;
  ById<ProgramSession, Set> sessions_;
  Set all_;
};

template <class Set>
class Linearizer {
 public:
  // No if the budget expires before the answer: whoever gets a no asks the budget too.
  bool is_possible(const LinearFacts<Set>& facts, const TxnRules<Set>& rules, Budget& budget);
  bool is_possible(const LinearFacts<Set>& facts, StrongRule rule, Budget& budget) {
    return is_possible(facts, TxnRules<Set>::all(rule), budget);
  }
  // After a yes: the transactions as they commit.
  std::span<const CallId> order() const { return order_; }

 private:
  struct State {
    Set started;
    Set committed;
    friend bool operator==(const State&, const State&) = default;
  };
  struct Slot {
    State state;
    std::uint32_t question = 0;  // for which it was filled
  };

  bool search(State state);
  bool take_harmless(State& state, CallId t);
  bool may_commit(const State& state, CallId t) const;
  bool is_new(const State& state);

  const LinearFacts<Set>* facts_ = nullptr;
  Budget* budget_ = nullptr;
  TxnRules<Set> rules_;
  std::vector<CallId> order_;
  std::vector<CallId> next_;  // candidates of the states on the path
  std::vector<Slot> seen_;    // open addressing, a power of two
  std::size_t num_seen_ = 0;
  std::uint32_t question_ = 0;
};

}  // namespace isoscope
