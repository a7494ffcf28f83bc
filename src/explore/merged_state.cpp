// What makes two states of a merged search equal.
#include <algorithm>

#include "explore/merged.h"
#include "explore/releveled.h"
#include "store/txn_set.h"
#include "support/assert.h"

namespace isoscope::explore {

// What claims about the finished run look at.
template <class Set>
void Merged<Set>::note_mentioned() {
  const Program* text = text_of(program_);
  ISO_ASSERT(text != nullptr);
  const auto& calls = program_.outline().calls;
  for (const CallId call : calls.ids()) {
    // What is run again depends on the end of the attempt before it.
    if (calls[call].attempt > 1) mentioned_.push_back({call_before(call), std::nullopt});
  }
  for (const FinalAssertion& claim : text->final_assertions()) {
    for (const FinalInput& input : claim.inputs) {
      if (input.final_key) continue;
      // Any of its attempts may be the one that counts.
      CallId call = input.call;
      do {
        mentioned_.push_back({call, input.local});
        ++call;
      } while (calls.contains(call) && calls[call].attempt > 1);
    }
  }
  std::sort(mentioned_.begin(), mentioned_.end());
  mentioned_.erase(std::unique(mentioned_.begin(), mentioned_.end()), mentioned_.end());
}

template <class Set>
void Merged<Set>::note_readable() {
  const Outline& outline = program_.outline();
  readable_.resize(outline.calls.size());
  const std::size_t num_families = program_.keys().num_families();
  for (const Session& session : outline.sessions) {
    Readable later{.by_any = ById<FamilyId, bool>(num_families, false),
                   .by_weak = ById<FamilyId, bool>(num_families, false)};
    for (CallId call = session.end(); call > session.first;) {
      call = call_before(call);
      const Kind kind = kinds_[call];
      later.has_causal = later.has_causal || is_causal(kind);
      later.has_direct = later.has_direct || kind <= Kind::Ra;
      for (const FamilyId family : program_.may_read(call)) {
        later.by_any[family] = true;
        if (is_weak(kind)) later.by_weak[family] = true;
      }
      readable_[call] = later;
    }
  }
  for (const ProgramKey x : program_.final_keys()) {
    is_final_.grown(x, false) = true;
  }
}

// Has the running call not been in this state since it began?
template <class Set>
bool Merged<Set>::is_new_inside() {
  StateHasher hasher;
  for (const std::uint64_t word : running_.before) hasher.add(word);
  hasher.add(running_.call.index);
  for (const std::int64_t word : executor_->state()) hasher.add(static_cast<std::uint64_t>(word));
  hasher.add(trail_.writes.size() - running_.block.writes_begin);
  for (std::size_t i = running_.block.writes_begin; i < trail_.writes.size(); ++i) {
    hasher.add(trail_.writes[i].key.index);
    hasher.add(static_cast<std::uint64_t>(trail_.writes[i].value));
  }
  const auto add_places = [&](const Places& places) {
    for (const ProgramKey key : places.ids()) {
      if (places[key] == 0) continue;
      hasher.add(key.index);
      hasher.add(places[key]);
    }
    hasher.add(~std::uint64_t{0});  // no key
  };
  add_places(running_.oldest);
  add_places(running_.past);
  // Earlier reads may turn out to be too old.
  if (running_.kind >= Kind::Ra) {
    for (const ReadPlace& read : running_.reads) {
      if (versions_[read.key].size() == 1) continue;
      hasher.add(read.key.index);
      hasher.add(read.place);
    }
  }
  return seen_.insert(hasher.result());
}

template <class Set>
StateSet::Hash Merged<Set>::hash() {
  StateHasher hasher;
  for (const SessionState& session : sessions_) {
    hasher.add(std::uint64_t{session.next.index} << 1 | (session.is_under_way ? 1U : 0U));
    if (!session.is_under_way) continue;
    const auto writes = trail_.writes_of(trail_.blocks[session.block]);
    hasher.add(writes.size());
    for (const WriteEvent& write : writes) {
      hasher.add(write.key.index);
      hasher.add(static_cast<std::uint64_t>(write.value));
    }
  }
  hash_versions(hasher);
  for (const Mentioned& each : mentioned_) {
    if (block_of_[each.call] == kNotBegun) continue;
    const Block<Set>& block = trail_.blocks[block_of_[each.call]];
    hasher.add(each.local ? static_cast<std::uint64_t>(trail_.locals_of(block)[*each.local])
                          : std::uint64_t{block.is_committed});
  }
  return hasher.result();
}

template <class Set>
void Merged<Set>::hash_versions(StateHasher& hasher) {
  // What is to come.
  std::vector<const Readable*> to_come;
  std::vector<const SessionState*> going_on;
  bool has_causal = false;
  bool has_direct = false;
  for (const SessionState& session : sessions_) {
    CallId next = session.next;
    if (session.is_under_way) ++next;
    if (session.next < session.end) going_on.push_back(&session);
    if (next == session.end) continue;
    to_come.push_back(&readable_[next]);
    has_causal = has_causal || readable_[next].has_causal;
    has_direct = has_direct || readable_[next].has_direct;
  }
  const auto is_in = [&](ById<FamilyId, bool> Readable::*families, ProgramKey key) {
    return std::any_of(to_come.begin(), to_come.end(), [&](const Readable* readable) {
      return (readable->*families)[family_of_[key]];
    });
  };
  // Keys of which more than the latest version matters, and the oldest that does: only where all
  // that is to come at weak levels sees its causal past, there are versions that no call reads.
  struct Listed {
    ProgramKey key = {};
    std::uint32_t oldest = 0;
  };
  std::vector<Listed> listed;
  for (const ProgramKey key : versions_.ids()) {
    if (versions_[key].size() == 1) continue;
    if (is_in(&Readable::by_weak, key)) {
      std::uint32_t oldest = has_direct ? 0 : narrow(versions_[key].size() - 1);
      for (const SessionState* session : going_on)
        oldest = std::min(oldest, at(session->past, key));
      listed.push_back({key, oldest});
      continue;
    }
    const bool is_final = is_final_.contains(key) && is_final_[key];
    const std::int64_t latest = versions_[key].back().value;
    if (latest == versions_[key].front().value || (!is_final && !is_in(&Readable::by_any, key)))
      continue;
    hasher.add(key.index);
    hasher.add(static_cast<std::uint64_t>(latest));
  }
  hasher.add(~std::uint64_t{0});  // no key
  const auto add_places = [&](const Places& places) {
    for (const Listed& each : listed) {
      const std::uint32_t place = at(places, each.key);
      hasher.add(place > each.oldest ? place - each.oldest : 0);
    }
  };
  for (const Listed& each : listed) {
    hasher.add(each.key.index);
    hasher.add(versions_[each.key].size() - each.oldest);
    for (std::size_t i = each.oldest; i < versions_[each.key].size(); ++i) {
      const Version& version = versions_[each.key][i];
      hasher.add(static_cast<std::uint64_t>(version.value));
      if (version.writer == kInitialWriter) continue;
      if (has_direct) add_places(own_[version.writer]);
      if (has_causal) add_places(past_[version.writer]);
    }
  }
  if (listed.empty()) return;
  for (const SessionState* session : going_on) {
    if (has_direct) add_places(session->own);
    if (!has_causal) continue;
    add_places(session->past);
    if (session->is_under_way) add_places(session->pending_past);
  }
}

template void Merged<TxnSet<1>>::note_mentioned();
template void Merged<TxnSet<1>>::note_readable();
template bool Merged<TxnSet<1>>::is_new_inside();
template StateSet::Hash Merged<TxnSet<1>>::hash();
template void Merged<TxnSet<4>>::note_mentioned();
template void Merged<TxnSet<4>>::note_readable();
template bool Merged<TxnSet<4>>::is_new_inside();
template StateSet::Hash Merged<TxnSet<4>>::hash();

}  // namespace isoscope::explore
