// The part of a walk that keeps psi and ua for all transactions: see sight.h. At psi the rows of
// the forced order are what is seen, and stay closed; at ua they are the arbitration.
#include "explore/sight.h"
#include "explore/walk.h"
#include "store/txn_set.h"

namespace isoscope::explore {

// Is the history, whose last block is the one that has just ended, possible? `forced` is its own.
template <class Set>
bool Walk<Set>::is_parallel_possible(std::uint32_t forced) {
  const auto writers = [&](ProgramKey x) -> const Set& { return writers_[x.index]; };
  const Sight sight(trail_, std::span<const Entry>(trail_.order).subspan(history_begin_), writers,
                    budget_);
  const std::span<Set> kept = trail_.forced(forced);
  SightRows<Set> rows;
  rows.order.assign(kept.begin(), kept.end());
  if (*rules_.sight == SightRule::Ua) {
    rows.seen.resize(num_calls_);
    for (std::uint32_t i = 0; i < history_size(); ++i) {
      const Block<Set>& block = block_at(i);
      rows.seen[block.call] = session_past_[block.call] | block.read_from;
    }
  }
  if (!sight.close(rows)) return false;
  std::copy(rows.order.begin(), rows.order.end(), kept.begin());
  if (sight.can_order_writers(std::move(rows))) return true;
  if (budget_.expired()) control_.stop_undecided();
  return false;
}

template bool Walk<TxnSet<1>>::is_parallel_possible(std::uint32_t forced);
template bool Walk<TxnSet<4>>::is_parallel_possible(std::uint32_t forced);

}  // namespace isoscope::explore
