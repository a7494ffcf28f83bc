#pragma once
// The oracle of every level that has no rule of its own here: asks check's engines about the
// history so far.
//
// Three things spare most of the questions: a weaker level that says no quickly; a key that nobody
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
  void begin(std::uint32_t call) override;
  bool allows(ProgramKey x, std::uint32_t w) override;
  void take(ProgramKey x, std::uint32_t w) override;
  bool allows_commit(std::span<const ProgramKey> written) override;
  void end(bool is_committed, std::span<const ProgramKey> written) override;
  void abandon() override;
  std::span<const std::uint32_t> explanation() override { return order_; }
  bool is_expired() const override { return is_expired_; }

 private:
  struct Read {
    ProgramKey key;
    std::uint32_t writer = kInitialWriter;
  };
  struct Txn {
    std::uint32_t call = 0;
    bool is_committed = false;
    std::vector<Read> reads;
    std::vector<ProgramKey> writes;
  };

  // An order that explains the history with the pending transaction, or nothing.
  std::optional<std::vector<std::uint32_t>> explain(const Txn& pending);
  History build(const Txn& pending) const;
  // The last writer of x in order_.
  std::uint32_t latest(ProgramKey x) const;

  const Executable& program_;
  const LevelPlan plan_;
  std::unique_ptr<Oracle> weaker_;
  Budget budget_;
  bool is_expired_ = false;
  std::vector<Txn> ended_;
  std::vector<std::uint32_t> order_;   // committed calls, in an order that explains them
  std::vector<std::uint32_t> latest_;  // by key: the last writer in order_
  Txn pending_;
  bool is_fresh_ = true;  // has the pending one read only latest values?
  // What explains the history if the pending transaction commits.
  std::optional<std::vector<std::uint32_t>> order_after_;
};

}  // namespace isoscope::store
