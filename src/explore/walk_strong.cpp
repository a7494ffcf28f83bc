// The part of a walk that asks the linearizer: pc, si and ser, for all transactions or for some.
#include "explore/walk.h"
#include "store/txn_set.h"
#include "support/assert.h"

namespace isoscope::explore {

template <class Set>
void Walk<Set>::order_history() {
  pending_.facts = ++num_facts_;
  fill_facts();
  const bool is_possible = linearizer_.is_possible(history_facts_, txn_rules_, budget_);
  // Whole transactions are only added where they keep the rule. A walk whose time is over does not
  // look at the order any more.
  ISO_ASSERT(is_possible || budget_.expired());
  pending_.order_begin = static_cast<std::uint32_t>(trail_.numbers.size());
  for (const CallId call : linearizer_.order()) trail_.numbers.push_back(call.index);
}

// Who wrote x last, in the order that order_history() found.
template <class Set>
CallId Walk<Set>::last_writer(ProgramKey x) const {
  const Set& all = writers_[x];
  if (all.empty()) return kInitialWriter;
  for (std::uint32_t i = pending_.order_begin + history_size(); i-- > pending_.order_begin;) {
    const CallId call{static_cast<std::uint32_t>(trail_.numbers[i])};
    if (all.contains(call)) return call;
  }
  return kInitialWriter;
}

// May the last read show w? Reading what the order found for the history shows last is always
// possible: then the transaction comes last.
template <class Set>
bool Walk<Set>::is_strongly_valid_write(CallId w) {
  ReadEvent<Set>& last = trail_.reads.back();
  const bool is_first = trail_.reads.size() - 1 == pending_.reads_begin;
  if (writers_[last.key].empty()) {
    last.is_current = is_first || trail_.reads[trail_.reads.size() - 2].is_current;
    return true;
  }
  // A snapshot shows a key as it showed it before.
  const bool has_snapshot = rules_.has_snapshot(pending_.call);
  for (std::size_t i = pending_.reads_begin; has_snapshot && i + 1 < trail_.reads.size(); ++i) {
    if (trail_.reads[i].key != last.key) continue;
    last.is_current = trail_.reads[trail_.reads.size() - 2].is_current;
    return trail_.reads[i].writer == w;
  }
  last.is_current =
      (is_first || trail_.reads[trail_.reads.size() - 2].is_current) && last_writer(last.key) == w;
  return last.is_current || is_strongly_consistent(false);
}

template <class Set>
void Walk<Set>::fill_facts() {
  facts_of_ = pending_.facts;
  history_facts_.clear();
  for (std::uint32_t i = 0; i < history_size(); ++i) {
    const CallId call = block_at(i).call;
    history_facts_.add_txn(call, program_.outline().calls[call].session, block_at(i).read_from);
  }
  for (std::uint32_t i = 0; i < history_size(); ++i) {
    const Block<Set>& block = block_at(i);
    for (const ReadEvent<Set>& read : trail_.reads_of(block)) {
      if (!rules_.has_snapshot(block.call)) continue;
      history_facts_.add_read(block.call, read.writer == kInitialWriter ? nullptr : &read.writer,
                              writers_[read.key]);
    }
    if (!block.is_committed) continue;
    for (const WriteEvent& write : trail_.writes_of(block)) {
      Set others = writers_[write.key];
      others.erase(block.call);
      history_facts_.add_conflict(block.call, others);
    }
  }
  // What the reads of the pending transaction force is no fact of the history: they may be filled
  // in while it has one of its choices, and have to do for the others.
  if (!rules_.strong && history_size() > 0)
    add_forced(history_facts_, entry(history_size() - 1).forced);
}

// Of a mixture: what reads force at the weak levels.
template <class Set>
void Walk<Set>::add_forced(LinearFacts<Set>& facts, std::uint32_t forced) {
  const std::span<const Set> rows = trail_.forced(forced);
  for (std::uint32_t i = 0; i < history_size(); ++i)
    facts.add_before(block_at(i).call, rows[block_at(i).call.index]);
}

template <class Set>
bool Walk<Set>::is_strongly_consistent(bool is_at_end) {
  if (facts_of_ != pending_.facts) fill_facts();
  facts_ = history_facts_;
  const CallId last = pending_.call;
  facts_.add_txn(last, program_.outline().calls[last].session, pending_.read_from);
  if (!rules_.strong) add_forced(facts_, pending_.forced);
  for (std::size_t i = pending_.reads_begin; i < trail_.reads.size(); ++i) {
    const ReadEvent<Set>& read = trail_.reads[i];
    if (!rules_.has_snapshot(last)) continue;
    facts_.add_read(last, read.writer == kInitialWriter ? nullptr : &read.writer,
                    writers_[read.key]);
  }
  if (is_at_end) {
    for (std::size_t i = pending_.writes_begin; i < trail_.writes.size(); ++i) {
      const ProgramKey x = trail_.writes[i].key;
      facts_.add_conflict(last, writers_[x]);
      // Whoever read x before is now overwritten.
      for (const Reading& read : readings_[x]) {
        facts_.add_read(read.reader, read.writer == kInitialWriter ? nullptr : &read.writer,
                        Set::of(last));
      }
    }
  }
  return linearizer_.is_possible(facts_, txn_rules_, budget_);
}

template void Walk<TxnSet<1>>::order_history();
template bool Walk<TxnSet<1>>::is_strongly_valid_write(CallId w);
template bool Walk<TxnSet<1>>::is_strongly_consistent(bool is_at_end);
template void Walk<TxnSet<4>>::order_history();
template bool Walk<TxnSet<4>>::is_strongly_valid_write(CallId w);
template bool Walk<TxnSet<4>>::is_strongly_consistent(bool is_at_end);

}  // namespace isoscope::explore
