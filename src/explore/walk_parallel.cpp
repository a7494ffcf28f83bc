// The part of a walk that keeps psi and ua for all transactions: see sight.h. At psi the rows of
// the forced order are what is seen, and stay closed; at ua they are the arbitration. And the part
// that keeps levels of forcing rules: see level_witness.h.
#include <algorithm>

#include "explore/sight.h"
#include "explore/walk.h"
#include "store/txn_set.h"

namespace isoscope::explore {

// Will the pending transaction, which stands before a read, surely commit and write x? That is
// known only if all that it may read until then is small.
template <class Set>
bool Walk<Set>::will_write(ProgramKey x) {
  if (remembered_ == nullptr || num_large_ > 0 || has_large_initial_) return false;
  const Outlook* outlook = remembered_->outlook();
  return outlook != nullptr &&
         std::binary_search(outlook->writes.begin(), outlook->writes.end(), x);
}

// A committed block joins the history, or leaves it: versions that it has read and replaced. At
// psi and ua no other block has replaced the same one.
template <class Set>
void Walk<Set>::supersede(const Block<Set>& block, bool is_added) {
  for (const ReadEvent<Set>& read : trail_.reads_of(block)) {
    if (!writers_[read.key].contains(block.call)) continue;
    Superseded& versions = superseded_[read.key];
    if (read.writer == kInitialWriter) {
      versions.is_initial = is_added;
    } else if (is_added) {
      versions.writers.insert(read.writer);
    } else {
      versions.writers.erase(read.writer);
    }
  }
}

// Has the pending transaction read and written a key, while another writer of the key has read the
// same version? None of the two sees the other then.
template <class Set>
bool Walk<Set>::loses_update() const {
  const auto writes = std::span<const WriteEvent>(trail_.writes).subspan(pending_.writes_begin);
  for (std::size_t i = pending_.reads_begin; i < trail_.reads.size(); ++i) {
    const ReadEvent<Set>& read = trail_.reads[i];
    if (!is_superseded(read.key, read.writer)) continue;
    const bool is_written = std::any_of(writes.begin(), writes.end(), [&](const WriteEvent& write) {
      return write.key == read.key;
    });
    if (is_written) return true;
  }
  return false;
}

// The same of a transaction that stands before a read, if what follows is sure.
template <class Set>
bool Walk<Set>::will_lose_update() {
  for (std::size_t i = pending_.reads_begin; i < trail_.reads.size(); ++i) {
    const ReadEvent<Set>& read = trail_.reads[i];
    if (is_superseded(read.key, read.writer) && will_write(read.key)) return true;
  }
  return false;
}

// Is the history, whose last block is the one that has just ended, possible? `forced` is its own.
template <class Set>
bool Walk<Set>::is_parallel_possible(std::uint32_t forced) {
  const auto writers = [&](ProgramKey x) -> const Set& { return writers_[x]; };
  const Sight sight(trail_, std::span<const Entry>(trail_.order).subspan(history_begin_), writers,
                    budget_);
  const std::span<Set> kept = trail_.forced(forced);
  SightRows<Set> rows;
  rows.order.entries().assign(kept.begin(), kept.end());
  if (*rules_.sight == SightRule::Ua) {
    rows.seen.resize(num_calls_);
    for (std::uint32_t i = 0; i < history_size(); ++i) {
      const Block<Set>& block = block_at(i);
      rows.seen[block.call] = session_past_[block.call] | block.read_from;
    }
  }
  // At psi the rows before this block were closed; its reads may have forced more.
  Set changed = Set::first(num_calls_);
  if (*rules_.sight == SightRule::Psi && history_size() > 1) {
    const std::span<Set> before = trail_.forced(entry(history_size() - 2).forced);
    changed = Set::of(block_at(history_size() - 1).call);
    present_.for_each([&](CallId t) {
      if (rows.order[t] != before[t.index]) changed.insert(t);
    });
  }
  if (!sight.close(rows, changed)) return false;
  std::copy(rows.order.begin(), rows.order.end(), kept.begin());
  if (sight.can_order_writers(std::move(rows))) return true;
  if (budget_.expired()) control_.stop_undecided();
  return false;
}

// The same for forcing rules; the block is on top of the trail.
template <class Set>
bool Walk<Set>::has_witness(const Block<Set>& block, bool is_left_out) {
  if (is_left_out) {
    witness_->push_left_out();
    return true;
  }
  if (witness_->push(block, session_past_[block.call], trail_)) return true;
  if (budget_.expired()) control_.stop_undecided();
  return false;
}

template bool Walk<TxnSet<1>>::has_witness(const Block<TxnSet<1>>& block, bool is_left_out);
template bool Walk<TxnSet<4>>::has_witness(const Block<TxnSet<4>>& block, bool is_left_out);
template bool Walk<TxnSet<1>>::will_write(ProgramKey x);
template bool Walk<TxnSet<4>>::will_write(ProgramKey x);
template void Walk<TxnSet<1>>::supersede(const Block<TxnSet<1>>& block, bool is_added);
template void Walk<TxnSet<4>>::supersede(const Block<TxnSet<4>>& block, bool is_added);
template bool Walk<TxnSet<1>>::will_lose_update();
template bool Walk<TxnSet<4>>::will_lose_update();
template bool Walk<TxnSet<1>>::loses_update() const;
template bool Walk<TxnSet<4>>::loses_update() const;
template bool Walk<TxnSet<1>>::is_parallel_possible(std::uint32_t forced);
template bool Walk<TxnSet<4>>::is_parallel_possible(std::uint32_t forced);

}  // namespace isoscope::explore
