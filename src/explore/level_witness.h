#pragma once
// Is there a witness of a level that consists of forcing rules (level_rules.h), for a history that
// grows by whole transactions?
//
// The orders are bit rows. With each transaction, what the rules force is added until nothing
// changes: co or ar stays closed under transitivity, vis has no more than it must. A contradiction
// means that there is no witness, now or later. If no rule asks for the order, every order that
// contains what is forced is a witness with it. Otherwise an order is looked for: the one of the
// history before, with the new transaction last, is tried first; if it breaks a rule, pairs are
// ordered both ways, one after the other.
//
// Elements are T0, which is 0, and the calls, one more than their numbers.
//
// Cost  O(n) words a forced pair; n^3 / 64 a round for compositions and closures. The search is
//       exponential, as the problem is for pc, si and ser already.
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "explore/engine.h"
#include "explore/level_rules.h"
#include "support/budget.h"

namespace isoscope::explore {

template <class Set>
class LevelWitness {
 public:
  // The transactions of larger programs do not fit into a set together with T0.
  static constexpr std::size_t kMostCalls = Set::kCapacity - 1;

  LevelWitness(std::shared_ptr<const LevelRules> rules, std::size_t num_calls, Budget& budget);

  // A call has ended; `before` are the calls of its session before it. Has the history a witness?
  // No if the budget expires: whoever gets a no asks it. A call that is left out changes nothing.
  bool push(const Block<Set>& block, const Set& before, const Trail<Set>& trail);
  void push_left_out() {
    states_.push_back(State(states_.back()));
    pushed_.emplace_back();
  }
  // The last one is taken back.
  void pop();

 private:
  // As in a history: T0, and call i is transaction i + 1.
  using Txns = typename Set::template Of<TxnId>;
  static TxnId txn_of(CallId call) {
    return call == kInitialWriter ? kInitialTxn : TxnId{call.index + 1};
  }
  using Rows = ById<TxnId, Txns>;  // those that are related to it
  struct State {
    Rows order;
    Rows sight;
    std::vector<TxnId> line;  // an order that satisfies the rules
  };
  // What is known of a key. Those that look the same are looked at once.
  struct Key {
    Txns writers;
    Txns readers;
    Rows from;  // by reader
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Value {
    Rows rows;
    std::uint64_t computed_for = 0;  // the facts, or the state, at hand
    const Key* key = nullptr;
  };

  void choose_keys();
  bool close(State& state);
  bool bind_keys(const ForcingRule& rule, std::size_t next, State& state, bool& has_changed);
  bool bind(const ForcingRule& rule, std::size_t next, State& state, bool& has_changed);
  void keep(const RuleAtom& atom, int txn, const State& state, Txns& candidates);
  bool conclude(const ForcingRule& rule, State& state, bool& has_changed);
  bool add_before(State& state, TxnId from, TxnId to, bool& has_changed) const;

  bool can_order(State& state, const std::vector<TxnId>& hint);
  bool try_line(State& state, const std::vector<TxnId>& hint);

  const Rows& value(int relation, const State& state);
  void compute(const RuleRelation& relation, const State& state, Rows& out);
  void compute_leaf(const RuleRelation& relation, const State& state, Rows& out);
  void add_of_key(RelationOp op, const Key& key, const State& state, Rows& out) const;
  Rows closure(Rows rows) const;

  const std::shared_ptr<const LevelRules> rules_;
  const std::uint32_t size_;  // transactions
  Budget& budget_;
  Txns all_;  // T0 and the calls of the history
  Txns aborted_;
  Txns readers_;
  Rows so_;
  Rows wr_;
  std::map<ProgramKey, Key> keys_;
  std::vector<const Key*> chosen_;  // different ones
  struct Pushed {
    TxnId element = {};
    std::vector<ProgramKey> read = {};
    std::vector<ProgramKey> written = {};
  };
  std::vector<std::optional<Pushed>> pushed_;  // nothing for a call that was left out
  std::vector<State> states_;                  // the first is that of T0 alone
  std::vector<Value> values_;                  // by relation
  std::uint64_t facts_ = 0;                    // numbers of what values were computed for
  std::uint64_t round_ = 0;
  std::vector<TxnId> bound_;            // by slot
  std::vector<const Key*> bound_keys_;  // by slot
};

}  // namespace isoscope::explore
