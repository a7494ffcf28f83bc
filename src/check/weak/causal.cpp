#include "check/weak/causal.h"

#include <algorithm>

namespace isoscope {

CausalPass::CausalPass(const WeakFacts& facts, std::span<const TxnId> order, const Choice* only,
                       ForcedEdges& forced)
    : facts_(facts),
      h_(facts.h),
      order_(order),
      lanes_(facts, order),
      only_(only),
      forced_(forced) {
  find_versions();
}

// Looks up once which version each read sees, and counts for how long things are needed.
void CausalPass::find_versions() {
  needed_.assign(h_.num_txns(), 0);
  readers_.assign(facts_.writes.num_versions(), 0);
  first_read_.reserve(h_.num_txns() + 1);
  for (TxnId t3 : h_.txns()) {
    first_read_.push_back(static_cast<std::uint32_t>(versions_.size()));
    if (!h_.is_present(t3)) continue;
    if (t3 != kInitialTxn) ++needed_[facts_.previous[t3.index].index];
    const bool is_causal = facts_.levels.of(t3) == WeakLevel::Cc;
    for (EventId e : h_.events(t3)) {
      if (!h_.is_external_read(e)) continue;
      const TxnId t1 = h_.writer(e);
      ++needed_[t1.index];
      for (TxnId shown : h_.also_shown(e)) ++needed_[shown.index];
      if (!is_causal) continue;
      versions_.push_back(facts_.writes.version(t1, h_.key(e)));
      if (t1 != kInitialTxn) ++readers_[versions_.back()];
    }
  }
}

bool CausalPass::run(Budget& budget) {
  // Wide blocks need fewer walks and narrow ones less memory: 256 MB if all clocks live at once.
  constexpr std::size_t kMaxEntries = std::size_t{1} << 26U;
  return run(
      static_cast<std::uint32_t>(std::clamp<std::size_t>(kMaxEntries / h_.num_txns(), 64, 512)),
      budget);
}

bool CausalPass::run(std::uint32_t lanes_in_block, Budget& budget) {
  const auto count = static_cast<std::uint32_t>(lanes_.count());
  for (std::uint32_t first = 0; first < count; first += lanes_in_block) {
    const std::uint32_t last = std::min(count, first + lanes_in_block);
    if (!Block(*this, first, last).run(budget)) return false;
  }
  return true;
}

CausalPass::Block::Block(CausalPass& pass, std::uint32_t first, std::uint32_t last)
    : p_(pass),
      first_(first),
      width_((last - first + 7) / 8 * 8),
      writes_(pass.facts_, pass.lanes_, first, last),
      clocks_(width_),
      clock_(pass.h_.num_txns(), kSeesNothing),
      needed_(pass.needed_),
      readers_(pass.readers_),
      view_(width_),
      nothing_(width_) {}

bool CausalPass::Block::run(Budget& budget) {
  for (TxnId t : p_.order_) {
    if (budget.expired()) return false;
    if (t != kInitialTxn && p_.h_.is_present(t)) visit(t);
  }
  return true;
}

void CausalPass::Block::visit(TxnId t3) {
  bool sees = look(t3);
  if (p_.facts_.levels.of(t3) == WeakLevel::Cc) settle_reads(t3, sees);

  release(p_.facts_.previous[t3.index]);
  for (EventId e : p_.h_.events(t3)) {
    if (!p_.h_.is_external_read(e)) continue;
    release(p_.h_.writer(e));
    for (TxnId shown : p_.h_.also_shown(e)) release(shown);
  }
  const std::uint32_t lane = p_.lanes_.lane(t3) - first_;
  if (lane < width_) {
    if (!sees) std::fill(view_.begin(), view_.end(), 0);
    view_[lane] = static_cast<ClockEntry>(p_.lanes_.position(t3)) + 1;
    sees = true;
  }
  if (sees && needed_[t3.index] > 0) clock_[t3.index] = clocks_.take(view_.data());
}

// What t3 sees: what its predecessor in the session and those it reads from saw, and themselves.
// Returns false, and leaves the view as it is, if that is nothing in these lanes.
bool CausalPass::Block::look(TxnId t3) {
  bool sees = false;
  const auto add = [&](TxnId t) {
    if (clock_[t.index] == kSeesNothing) return;
    const ClockEntry* clock = clocks_.at(clock_[t.index]);
    if (sees) {
      clocks_.join(view_.data(), clock);
    } else {
      std::copy_n(clock, width_, view_.data());
    }
    sees = true;
  };
  const auto add_writer = [&](TxnId t1) {
    // Who sees t1 has seen what t1 saw.
    const std::uint32_t lane = p_.lanes_.lane(t1) - first_;
    const bool is_seen =
        sees && lane < width_ && static_cast<ClockEntry>(p_.lanes_.position(t1)) < view_[lane];
    if (!is_seen) add(t1);
  };
  add(p_.facts_.previous[t3.index]);
  for (EventId e : p_.h_.events(t3)) {
    if (!p_.h_.is_external_read(e)) continue;
    writes_.prefetch(p_.h_.key(e));
    add_writer(p_.h_.writer(e));
    for (TxnId shown : p_.h_.also_shown(e)) add_writer(shown);
  }
  return sees;
}

// Adds t3's view to that of the other readers of each version that it reads.
void CausalPass::Block::settle_reads(TxnId t3, bool sees) {
  std::uint32_t read = p_.first_read_[t3.index];
  for (EventId e : p_.h_.events(t3)) {
    if (!p_.h_.is_external_read(e)) continue;
    const std::uint32_t version = p_.versions_[read++];
    const TxnId t1 = p_.h_.writer(e);
    if (t1 == kInitialTxn) {
      if (sees) settle(t1, p_.h_.key(e), view_.data());
      continue;
    }
    std::uint32_t& readers = readers_[version];
    if ((readers & kShared) == 0) {
      --readers;
      if (!sees) continue;
      if (readers == 0) {
        settle(t1, p_.h_.key(e), view_.data());
        continue;
      }
      const ClockPool::Slot slot = clocks_.take(view_.data());
      if (slot >= left_.size()) left_.resize(clocks_.capacity());
      left_[slot] = readers;
      readers = slot | kShared;
    } else {
      const ClockPool::Slot slot = readers & ~kShared;
      if (sees) clocks_.join(clocks_.at(slot), view_.data());
      if (--left_[slot] > 0) continue;
      settle(t1, p_.h_.key(e), clocks_.at(slot));
      clocks_.give_back(slot);
    }
  }
}

// All readers of t1's version of x together see `view`.
void CausalPass::Block::settle(TxnId t1, KeyId x, const ClockEntry* view) {
  if (p_.only_ != nullptr) return settle_literally(t1, x, view);
  // What t1 sees, and t1 itself, commit before or at t1 as it is.
  const ClockPool::Slot slot = clock_[t1.index];
  const ClockEntry* before_t1 = slot == kSeesNothing ? nothing_.data() : clocks_.at(slot);
  for (LaneWrites::Group& group : writes_.groups(x)) {
    const ClockEntry last = writes_.last_between(group, before_t1[group.lane], view[group.lane]);
    if (last >= 0) p_.forced_.add(txn_at(group.lane, last), t1);
  }
}

void CausalPass::Block::settle_literally(TxnId t1, KeyId x, const ClockEntry* view) {
  if (!(*p_.only_)[t1.index]) return;
  for (const LaneWrites::Group& group : writes_.groups(x)) {
    for (ClockEntry position : writes_.positions(group)) {
      if (position >= view[group.lane]) break;
      const TxnId t2 = txn_at(group.lane, position);
      if (t2 != t1 && (*p_.only_)[t2.index]) p_.forced_.add(t2, t1);
    }
  }
}

void CausalPass::Block::release(TxnId t) {
  if (--needed_[t.index] == 0 && clock_[t.index] != kSeesNothing)
    clocks_.give_back(clock_[t.index]);
}

bool force_causal(const WeakFacts& facts, std::span<const TxnId> order, ForcedEdges& forced,
                  Budget& budget) {
  return CausalPass(facts, order, nullptr, forced).run(budget);
}

}  // namespace isoscope
