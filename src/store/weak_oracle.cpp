#include "store/weak_oracle.h"

#include <algorithm>

#include "store/forced_order.h"
#include "store/txn_set.h"
#include "support/assert.h"

namespace isoscope::store {

template <class Set>
WeakOracle<Set>::WeakOracle(const Executable& program, ById<CallId, WeakLevel> levels)
    : program_(program), levels_(std::move(levels)) {
  reset();
}

template <class Set>
void WeakOracle<Set>::reset() {
  const std::size_t num_calls = program_.outline().calls.size();
  before_.assign(num_calls, {});
  past_.assign(num_calls, {});
  session_.assign(program_.outline().sessions.size(), {});
  last_call_.assign(session_.size(), kInitialWriter);
  std::fill(writers_.begin(), writers_.end(), Set{});
  saved_.reset();
  ended_.clear();
}

template <class Set>
Set& WeakOracle<Set>::writers(ProgramKey x) {
  return writers_.grown(x);
}

template <class Set>
void WeakOracle<Set>::begin(CallId call) {
  const ProgramSession session = program_.outline().calls[call].session;
  pending_.call = call;
  pending_.reads.clear();
  pending_.reader = {
      .level = levels_[call], .session = session_[session], .past = session_[session]};
  // What its session has seen, it has seen.
  if (last_call_[session] != kInitialWriter) pending_.reader.past |= past_[last_call_[session]];
  saved_.reset();
}

// Edges that are known already force nothing; those to the same transaction are kept together.
template <class Set>
void WeakOracle<Set>::force(Set from, CallId to) {
  from -= before_[to];
  if (from.empty()) return;
  for (Edges& known : edges_) {
    if (known.to != to) continue;
    known.from |= from;
    return;
  }
  edges_.push_back({.from = from, .to = to});
}

// Into edges_, what it forces that the pending transaction reads x from w. False if it forces
// a transaction before T0.
template <class Set>
bool WeakOracle<Set>::collect(ProgramKey x, CallId w) {
  edges_.clear();
  return collect_forced(
      pending_.reader, x, w, [&](CallId t) -> const Set& { return past_[t]; },
      [&](ProgramKey y) -> const Set& { return writers(y); },
      [&](const Set& from, CallId to) { force(from, to); });
}

// Do the collected edges close no cycle? One would go from target to target, through what is known
// to precede the sources of their edges.
template <class Set>
bool WeakOracle<Set>::is_acyclic() {
  for (Edges& edges : edges_) {
    edges.past = edges.from;
    edges.from.for_each([&](CallId t) { edges.past |= before_[t]; });
    if (edges.past.contains(edges.to)) return false;
  }
  if (edges_.size() < 2) return true;
  // A target that no other target precedes cannot be on a cycle. Take such targets away.
  std::vector<const Edges*> left;
  for (const Edges& edges : edges_) left.push_back(&edges);
  for (;;) {
    Set targets;
    for (const Edges* edges : left) targets.insert(edges->to);
    const std::size_t before = left.size();
    std::erase_if(left, [&](const Edges* edges) { return !edges->past.intersects(targets); });
    if (left.empty()) return true;
    if (left.size() == before) return false;
  }
}

template <class Set>
bool WeakOracle<Set>::allows(ProgramKey x, CallId w) {
  return collect(x, w) && is_acyclic();
}

template <class Set>
void WeakOracle<Set>::take(ProgramKey x, CallId w) {
  const bool is_possible = collect(x, w);
  ISO_DEBUG_ASSERT(is_possible);
  if (is_possible && !edges_.empty()) {
    if (!saved_) saved_ = before_;
    ForcedOrder<Set> order(before_);
    for (const Edges& edges : edges_) {
      const bool is_added = order.add(edges.from, edges.to);
      ISO_DEBUG_ASSERT(is_added);
      static_cast<void>(is_added);
    }
  }
  pending_.reads.push_back({x, w});
  pending_.reader.reads = pending_.reads;
  if (w == kInitialWriter) return;
  pending_.reader.past |= past_[w];
  pending_.reader.past.insert(w);
  pending_.reader.read_from.insert(w);
}

template <class Set>
void WeakOracle<Set>::end(bool is_committed, std::span<const ProgramKey> written) {
  const CallId call = pending_.call;
  ForcedOrder<Set>(before_).append(call, pending_.reader.past);
  past_[call] = pending_.reader.past;
  const ProgramSession session = program_.outline().calls[call].session;
  session_[session].insert(call);
  last_call_[session] = call;
  ended_.push_back(call);
  if (!is_committed) return;
  for (const ProgramKey x : written) writers(x).insert(call);
}

template <class Set>
std::span<const CallId> WeakOracle<Set>::commit_order() {
  commit_order_.clear();
  Set placed;
  while (commit_order_.size() < ended_.size()) {
    const auto next = std::find_if(ended_.begin(), ended_.end(), [&](CallId call) {
      return !placed.contains(call) && before_[call].is_subset_of(placed);
    });
    ISO_ASSERT(next != ended_.end());  // what is forced has no cycle
    placed.insert(*next);
    commit_order_.push_back(*next);
  }
  return commit_order_;
}

template <class Set>
void WeakOracle<Set>::abandon() {
  if (saved_) before_ = std::move(*saved_);
  saved_.reset();
}

template class WeakOracle<TxnSet<1>>;
template class WeakOracle<TxnSet<4>>;
template class WeakOracle<TxnSet<16>>;

}  // namespace isoscope::store
