#include "explore/by_txn.h"

#include <algorithm>

#include "store/txn_set.h"

namespace isoscope::explore {

template <class Set>
ByTxn<Set>::ByTxn(const Executable& program, Rules rules, bool reduce, EndStates<Set>& end_states,
                  Control& control)
    : Base(program, std::move(rules), end_states, control), reduce_(reduce) {
  for (const CallId c : program.outline().calls.ids()) {
    Set sources;
    for (const CallId w : program.outline().calls.ids()) {
      if (program.keys().may_meet(program.may_read_keys(c), program.may_write_keys(w)))
        sources.insert(w);
    }
    sources_.push_back(sources);
  }
}

template <class Set>
void ByTxn<Set>::explore() {
  if (this->is_over()) return;
  if (present_.size() == this->num_calls_) return this->report_end();
  this->open_choice();
  const std::size_t depth = this->path_.size() - 1;
  for (const Session& session : program_.outline().sessions) {
    CallId call = session.first;
    while (call < session.end() && present_.contains(call)) ++call;
    if (call == session.end() || !this->may_choose(depth, call.index)) continue;
    if (control_.is_draining() && !this->is_given()) {
      this->give_rest(depth, call.index);
      break;
    }
    this->path_.back() = call.index;
    this->begin(call);
    this->walk(trail_.reads.size(), true);
    if (this->is_given()) break;
  }
  this->close_choice();
}

template <class Set>
void ByTxn<Set>::on_block() {
  if (reduce_ && is_dead_end()) return;
  explore();
}

// Is the end of the history the place where the first order has the pending transaction?
template <class Set>
bool ByTxn<Set>::is_first_order() const {
  const auto& pending = this->pending_;
  for (std::uint32_t i = history_size(); i-- > 0;) {
    const CallId call = block_at(i).call;
    if (pending.read_from.contains(call) || this->session_past_[pending.call].contains(call))
      return true;
    if (call > pending.call) return false;
  }
  return true;
}

// Was a call passed over that can no longer depend on what has passed it?
template <class Set>
bool ByTxn<Set>::is_dead_end() const {
  for (const Session& session : program_.outline().sessions) {
    CallId call = session.first;
    while (call < session.end() && present_.contains(call)) ++call;
    if (call == session.end()) continue;
    // The last greater call that came when this one could have come.
    for (std::uint32_t i = history_size(); i-- > 0;) {
      const CallId other = block_at(i).call;
      if (this->session_past_[call].contains(other)) break;
      if (other < call) continue;
      if (!may_depend(call, i)) return true;
      break;
    }
  }
  return false;
}

// May the call read from the block at `position`, from one behind it, or from one to come?
template <class Set>
bool ByTxn<Set>::may_depend(CallId call, std::uint32_t position) const {
  Set candidates = Set::first(this->num_calls_) - present_;
  candidates.erase(call);
  for (std::uint32_t i = position; i < history_size(); ++i) candidates.insert(block_at(i).call);
  // Its own session comes after it.
  const ProgramSession session = program_.outline().calls[call].session;
  const Session& own = program_.outline().sessions[session];
  candidates -= Set::between(own.first, own.end());
  return candidates.intersects(sources_[call]);
}

template class ByTxn<TxnSet<1>>;
template class ByTxn<TxnSet<4>>;

}  // namespace isoscope::explore
