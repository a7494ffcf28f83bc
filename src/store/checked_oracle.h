#pragma once
// The oracle of every level that has no rule of its own here: asks check's engines about the
// history so far.
//
// Three things spare most of the questions: a weaker level that says no quickly; a key that no call
// wrote; and, at built-in levels, a transaction that has only read the latest values in the order
// that explains the history so far: it can come last and see everything.
//
// Cost  A question builds a history and checks it: tens of microseconds for ten transactions,
//       milliseconds for a thousand.
#include <memory>
#include <optional>
#include <vector>

#include "history/history.h"
#include "store/oracle.h"

namespace isoscope::store {

class CheckedOracle final : public Oracle {
 public:
  // `weaker` answers for the weaker levels of the plan.
  CheckedOracle(const Executable& program, const LevelPlan& plan, std::unique_ptr<Oracle> weaker,
                const Budget& budget);

  void reset() override;
  void begin(CallId call) override;
  bool allows(ProgramKey x, CallId w) override;
  void take(ProgramKey x, CallId w) override;
  bool allows_commit(std::span<const ProgramKey> written) override;
  void end(bool is_committed, std::span<const ProgramKey> written) override;
  void abandon() override;
  std::span<const CallId> explanation() override { return order_; }
  bool is_expired() const override { return is_expired_; }

 private:
  struct Read {
    ProgramKey key;
    CallId writer = kInitialWriter;
  };
  struct Txn {
    CallId call = {};
    bool is_committed = false;
    std::vector<Read> reads;
    std::vector<ProgramKey> writes;
  };

  // An order that explains the history with the pending transaction, or nothing.
  std::optional<std::vector<CallId>> explain(const Txn& pending);
  History build(const Txn& pending) const;
  // The last writer of x in order_.
  CallId latest(ProgramKey x) const;

  const Executable& program_;
  const LevelPlan plan_;
  std::unique_ptr<Oracle> weaker_;
  Budget budget_;
  bool is_expired_ = false;
  std::vector<Txn> ended_;
  std::vector<CallId> order_;        // committed calls, in an order that explains them
  ById<ProgramKey, CallId> latest_;  // the last writer in order_
  Txn pending_;
  bool is_fresh_ = true;  // has the pending one read only latest values?
  // What explains the history if the pending transaction commits.
  std::optional<std::vector<CallId>> order_after_;
};

}  // namespace isoscope::store
