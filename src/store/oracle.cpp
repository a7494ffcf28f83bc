#include "store/oracle.h"

#include <fmt/format.h>

#include "store/checked_oracle.h"
#include "store/strong_oracle.h"
#include "store/txn_set.h"
#include "store/weak_oracle.h"

namespace isoscope::store {

namespace {

std::unique_ptr<Oracle> make_weak(const Executable& program,
                                  const ById<CallId, WeakLevel>& levels) {
  const std::size_t num_calls = program.outline().calls.size();
  if (num_calls <= TxnSet<1>::kCapacity)
    return std::make_unique<WeakOracle<TxnSet<1>>>(program, levels);
  if (num_calls <= TxnSet<4>::kCapacity)
    return std::make_unique<WeakOracle<TxnSet<4>>>(program, levels);
  return std::make_unique<WeakOracle<TxnSet<16>>>(program, levels);
}

}  // namespace

Result<std::unique_ptr<Oracle>> make_oracle(const Executable& program, const LevelPlan* plan,
                                            const Budget& budget) {
  if (plan == nullptr) return std::unique_ptr<Oracle>();
  const std::size_t num_calls = program.outline().calls.size();
  if (num_calls > kMaxCalls) {
    return Error{.what = fmt::format("the program has {} transactions, and a weak store holds at "
                                     "most {}",
                                     num_calls, kMaxCalls),
                 .hint = "--store serial has no such limit"};
  }
  if (plan->kind == LevelPlan::Kind::Strong)
    return std::unique_ptr<Oracle>(std::make_unique<StrongOracle>(program, plan->strong, budget));
  std::unique_ptr<Oracle> weak = make_weak(program, plan->weak);
  if (plan->kind == LevelPlan::Kind::Weak) return weak;
  return std::unique_ptr<Oracle>(
      std::make_unique<CheckedOracle>(program, *plan, std::move(weak), budget));
}

}  // namespace isoscope::store
