#include "explore/explore_ce.h"

#include <algorithm>

#include "store/forced_order.h"
#include "store/txn_set.h"
#include "support/assert.h"

namespace isoscope::explore {

template <class Set>
void ExploreCe<Set>::explore() {
  if (this->is_over()) return;
  const std::optional<CallId> call = next();
  if (!call) return this->report_end();
  this->begin(*call);
  this->walk(trail_.reads.size(), true);
}

// The paper's Next: the first call in oracle order that is not in the history. Sessions are whole
// prefixes, so it is the next of its session.
template <class Set>
std::optional<CallId> ExploreCe<Set>::next() const {
  const Set absent = Set::first(this->num_calls_) - this->present_;
  if (absent.empty()) return std::nullopt;
  return absent.front();
}

// Choice 0 is to go on, the others are swaps.
template <class Set>
void ExploreCe<Set>::on_block() {
  this->open_choice();
  const std::size_t depth = this->path_.size() - 1;
  const bool goes_on = this->may_choose(depth, 0);
  if (goes_on) explore();
  if ((!goes_on || !this->is_given()) && block_at(history_size() - 1).is_committed) explore_swaps();
  this->close_choice();
}

// For the transaction t that the history ends with, every swap of a read with t: the paper's
// ComputeReorderings, from the latest read to the earliest, as far as Optimality goes.
template <class Set>
void ExploreCe<Set>::explore_swaps() {
  const std::uint32_t size = history_size();
  const Block<Set> t = block_at(size - 1);
  if (t.writes_begin == t.writes_end) return;
  Set keep = t.past;
  keep.insert(t.call);
  for (std::uint32_t position = size - 1; position-- > 0;) {
    const Block<Set> block = block_at(position);
    if (keep.contains(block.call)) continue;
    for (std::uint32_t read = block.reads_end; read-- > block.reads_begin;) {
      if (trail_.reads[read].is_swapped || !reads_latest(position, read, keep)) return;
      if (!writers_[trail_.reads[read].key].contains(t.call)) continue;
      const std::uint32_t number = ++this->path_.back();
      if (control_.is_over(this->budget_, this->path_)) return;
      if (!this->may_choose(this->path_.size() - 1, number)) continue;
      if (control_.is_draining() && !this->is_given()) {
        return this->give_rest(this->path_.size() - 1, number);
      }
      swap(position, read, keep);
      if (this->is_given()) return;
    }
  }
}

// The paper's readLatest(h, r, t), where `keep` is t and its causal past.
template <class Set>
bool ExploreCe<Set>::reads_latest(std::uint32_t position, std::uint32_t read, const Set& keep) {
  const Latest shape = trail_.reads[read].latest;
  if (shape != Latest::Depends) return shape == Latest::Yes;
  // Most often a later writer would do even in the history as it is.
  if (is_some_later_write_valid(position, read, entry(history_size() - 1).forced)) return false;
  const typename Trail<Set>::Mark mark = trail_.mark();
  const Block<Set>& block = block_at(position);
  const std::uint32_t forced = append_kept(position, keep);
  const bool is_consistent = add_edges(forced, block.edges_begin, trail_.reads[read].edges_end);
  ISO_ASSERT(is_consistent);  // a part of a consistent history
  const bool is_latest = !is_some_later_write_valid(position, read, forced);
  trail_.cut(mark);
  return is_latest;
}

// Could the read show a later writer of its past instead, under this forced order?
template <class Set>
bool ExploreCe<Set>::is_some_later_write_valid(std::uint32_t position, std::uint32_t read,
                                               std::uint32_t forced) {
  const ReadEvent<Set>& event = trail_.reads[read];
  const Set known = writers_[event.key] & event.past;
  const Reader<Set> reader = reader_before(block_at(position), read);
  for (std::uint32_t i = position; i-- > 0;) {
    const CallId call = block_at(i).call;
    if (call == event.writer) return false;
    if (known.contains(call) && is_valid(reader, event.key, call, forced)) return true;
  }
  return false;
}

template <class Set>
bool ExploreCe<Set>::is_valid(const Reader<Set>& reader, ProgramKey x, CallId w,
                              std::uint32_t forced) {
  scratch_.clear();
  if (!collect(reader, x, w, scratch_)) return false;
  if (scratch_.empty()) return true;
  const std::uint32_t copy = trail_.copy_forced(forced);
  ForcedOrder<Set> order(trail_.forced(copy));
  const bool is_possible =
      std::all_of(scratch_.begin(), scratch_.end(),
                  [&](const ForcedEdges<Set>& edges) { return order.add(edges.from, edges.to); });
  trail_.cut_forced(copy - 1);
  return is_possible;
}

template <class Set>
Reader<Set> ExploreCe<Set>::reader_before(const Block<Set>& block, std::uint32_t read) const {
  return {.level = rules_.weak[block.call],
          .session = session_past_[block.call],
          .past = trail_.reads[read].past,
          .read_from = trail_.reads[read].read_from,
          .reads = std::span<const ReadEvent<Set>>(trail_.reads)
                       .subspan(block.reads_begin, read - block.reads_begin)};
}

template <class Set>
std::uint32_t ExploreCe<Set>::append_kept(std::uint32_t position, const Set& keep) {
  const std::uint32_t size = history_size();
  for (std::uint32_t i = 0; i < position; ++i) {
    const Entry copy = entry(i);
    trail_.order.push_back(copy);
  }
  std::uint32_t forced = trail_.copy_forced(position == 0 ? 0 : entry(position - 1).forced);
  for (std::uint32_t i = position + 1; i < size; ++i) {
    const Block<Set>& block = block_at(i);
    if (!keep.contains(block.call)) continue;
    ForcedOrder<Set>(trail_.forced(forced)).append(block.call, block.past);
    const bool is_consistent = add_edges(forced, block.edges_begin, block.edges_end);
    ISO_ASSERT(is_consistent);  // a part of a consistent history
    trail_.order.push_back({entry(i).block, forced});
    forced = trail_.copy_forced(forced);
  }
  return forced;
}

// The paper's Swap: the history up to the read, what its new writer t needs, then the read's
// transaction up to the read, which now reads from t. Explores it if it is consistent.
template <class Set>
void ExploreCe<Set>::swap(std::uint32_t position, std::uint32_t read, const Set& keep) {
  const typename Trail<Set>::Mark mark = trail_.mark();
  const std::uint32_t size = history_size();
  const CallId t = block_at(size - 1).call;
  const Block<Set> block = block_at(position);
  const std::size_t old_begin = history_begin_;
  const std::size_t new_begin = trail_.order.size();
  const typename Base::Pending old_pending = pending_;
  typename Base::Pending pending;
  pending.forced = append_kept(position, keep);
  if (add_swapped(block, read, t, pending)) {
    const auto for_each_deleted = [&](auto&& f) {
      for (std::uint32_t i = position; i < size; ++i) {
        if (!keep.contains(block_at(i).call)) f(entry(i).block);
      }
    };
    for_each_deleted([&](BlockId deleted) { this->unregister_block(deleted); });
    history_begin_ = new_begin;
    pending_ = pending;
    const ReadEvent<Set>& last = trail_.reads.back();
    this->executor_->restore(block.call,
                             std::span<const std::int64_t>(trail_.numbers)
                                 .subspan(last.state_begin, last.state_end - last.state_begin));
    this->executor_->answer(this->value(t, last.key));
    if (is_strongly_possible()) this->walk(trail_.reads.size(), true);
    history_begin_ = old_begin;
    pending_ = old_pending;
    for_each_deleted([&](BlockId deleted) { this->register_block(deleted); });
  }
  trail_.cut(mark);
}

// With a strong rule, that is when explore-ce is made to walk through a level that it is not made
// for: may the swapped history stand?
template <class Set>
bool ExploreCe<Set>::is_strongly_possible() {
  if (!rules_.strong) return true;
  this->order_history();
  return this->is_strongly_consistent(false);
}

// Copies the block up to the read to the top of the trail, as a pending transaction whose last
// read now is from t. False if that contradicts the forced order.
template <class Set>
bool ExploreCe<Set>::add_swapped(const Block<Set>& block, std::uint32_t read, CallId t,
                                 typename Base::Pending& pending) {
  const ReadEvent<Set> swapped = trail_.reads[read];
  pending.call = block.call;
  pending.reads_begin = narrow(trail_.reads.size());
  pending.fixed_begin = narrow(trail_.fixed.size());
  pending.writes_begin = narrow(trail_.writes.size());
  pending.edges_begin = narrow(trail_.edges.size());
  pending.past = swapped.past | past(t);
  pending.past.insert(t);
  pending.read_from = swapped.read_from;
  pending.read_from.insert(t);
  for (std::uint32_t i = block.edges_begin; i < swapped.edges_end; ++i) {
    const ForcedEdges<Set> copy = trail_.edges[i];
    trail_.edges.push_back(copy);
  }
  if (!collect(reader_before(block, read), swapped.key, t, trail_.edges) ||
      !add_edges(pending.forced, pending.edges_begin, trail_.edges.size()))
    return false;
  for (std::uint32_t i = block.writes_begin; i < swapped.writes_end; ++i) {
    const WriteEvent copy = trail_.writes[i];
    trail_.writes.push_back(copy);
  }
  for (std::uint32_t i = block.fixed_begin; i < swapped.fixed_end; ++i) {
    const FixedRead copy = trail_.fixed[i];
    trail_.fixed.push_back(copy);
  }
  for (std::uint32_t i = block.reads_begin; i <= read; ++i) {
    ReadEvent<Set> copy = trail_.reads[i];
    copy.writes_end = copy.writes_end - block.writes_begin + pending.writes_begin;
    copy.fixed_end = copy.fixed_end - block.fixed_begin + pending.fixed_begin;
    copy.edges_end = copy.edges_end - block.edges_begin + pending.edges_begin;
    copy.untried = {};
    trail_.reads.push_back(copy);
  }
  trail_.reads.back().writer = t;
  trail_.reads.back().latest = Latest::No;  // t is not in its past
  trail_.reads.back().is_swapped = true;
  return true;
}

template class ExploreCe<TxnSet<1>>;
template class ExploreCe<TxnSet<4>>;

}  // namespace isoscope::explore
