#pragma once
// The oracle of pc, si and ser for small programs: can the transactions be put one after the other?
//
// Everything about the history that has ended is kept as the facts of a linearizer; a question adds
// what the pending transaction reads (and writes) to a copy of them.
//
// Cost  A question: a copy of n² words, n calls, and a search that mostly takes n steps.
#include <vector>

#include "store/linearizer.h"
#include "store/oracle.h"
#include "store/txn_set.h"

namespace isoscope::store {

class StrongOracle final : public Oracle {
 public:
  StrongOracle(const Executable& program, StrongRule rule, const Budget& budget);

  void reset() override;
  void begin(CallId call) override;
  bool allows(ProgramKey x, CallId w) override;
  void take(ProgramKey x, CallId w) override;
  bool allows_commit(std::span<const ProgramKey> written) override;
  void end(bool is_committed, std::span<const ProgramKey> written) override;
  void abandon() override {}
  std::span<const CallId> explanation() override;
  bool is_expired() const override { return is_expired_; }

  // Does the history that has ended satisfy another rule too?
  bool satisfies(StrongRule rule) { return is_possible(facts_, rule); }

 private:
  using Set = TxnSet<1>;
  struct Read {
    ProgramKey key;
    CallId writer = kInitialWriter;
  };
  struct Reader {
    CallId call = {};
    CallId writer = kInitialWriter;
  };
  struct Key {
    Set writers;  // committed
    std::vector<Reader> readers;
  };

  bool is_possible(const LinearFacts<Set>& facts, StrongRule rule);
  Key& key(ProgramKey x);
  void add_pending(LinearFacts<Set>& facts, const Set& read_from);
  void add_writes(LinearFacts<Set>& facts, std::span<const ProgramKey> written);

  const Executable& program_;
  const StrongRule rule_;
  Budget budget_;
  bool is_expired_ = false;
  ById<ProgramKey, Key> keys_;
  LinearFacts<Set> facts_;
  LinearFacts<Set> trial_;
  Linearizer<Set> linearizer_;
  std::vector<CallId> explanation_;

  CallId call_ = {};  // the pending one
  Set read_from_;
  std::vector<Read> reads_;  // of the pending one, in order
};

}  // namespace isoscope::store
