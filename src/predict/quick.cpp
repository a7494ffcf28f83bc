#include "predict/quick.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace isoscope::predict {
namespace {

constexpr ChoiceId kNoChoice = ChoiceId::none();
// Versions that are tried for a read, nearest to the observed one first.
constexpr std::size_t kVersionsTried = 8;

}  // namespace

QuickSearch::QuickSearch(const ObservedFacts& facts, Boundary boundary, WeakLevel base,
                         std::span<const TxnId> order, Budget& budget)
    : facts_(facts),
      boundary_(boundary),
      base_(base),
      budget_(budget),
      position_(facts.history().num_txns(), 0),
      versions_(facts.history().num_keys()),
      parents_(facts.history().num_txns()),
      ancestors_(facts.history().num_txns()) {
  for (const TxnId t : order) {
    if (t == kInitialTxn) continue;
    order_.push_back(t);
    position_[t.index] = static_cast<std::uint32_t>(order_.size());
  }
  collect_versions();
  collect_parents();
  collect_ancestors();
}

void QuickSearch::collect_versions() {
  for (const Choice& choice : facts_.choices()) {
    std::vector<TxnId>& versions = versions_[choice.key.index];
    if (!versions.empty()) continue;
    versions = facts_.writers(choice.key);
    std::ranges::sort(versions, {}, [&](TxnId t) { return position_of(t); });
  }
}

void QuickSearch::collect_parents() {
  const History& h = facts_.history();
  for (const std::vector<TxnId>& session : facts_.sessions()) {
    for (std::size_t i = 1; i < session.size(); ++i)
      parents_[session[i].index].push_back({session[i - 1], kNoChoice, EventId::none(), true});
  }
  const auto first_write = [&](TxnId t, KeyId x) {
    for (const EventId e : h.events(t)) {
      if (h.is_write(e) && h.key(e) == x) return e;
    }
    return EventId::none();
  };
  for (const ChoiceId c : facts_.choices().ids()) {
    if (budget_.expired()) return;
    const Choice& choice = facts_.choices()[c];
    if (choice.observed != kInitialTxn)
      parents_[choice.txn.index].push_back({choice.observed, c, choice.reads.front(), true});
    const TxnId next = next_version(choice, choice.observed);
    if (!next.is_none())
      parents_[next.index].push_back({choice.txn, kNoChoice, first_write(next, choice.key), false});
  }
  for (const KeyId x : h.keys()) {
    const std::vector<TxnId>& versions = versions_[x.index];
    for (std::size_t i = 1; i < versions.size(); ++i) {
      parents_[versions[i].index].push_back(
          {versions[i - 1], kNoChoice, first_write(versions[i], x), false});
    }
  }
}

void QuickSearch::collect_ancestors() {
  for (const TxnId t : order_) {
    if (budget_.expired()) return;
    for (const Parent& parent : parents_[t.index]) {
      ancestors_.insert(t.index, parent.txn.index);
      ancestors_.add_successors(t.index, parent.txn.index);
    }
  }
}

TxnId QuickSearch::next_version(const Choice& choice, TxnId w) const {
  for (const TxnId t : versions_[choice.key.index]) {
    if (position_of(t) > position_of(w) && t != choice.txn) return t;
  }
  return TxnId::none();
}

TxnId QuickSearch::previous_version(const Choice& choice) const {
  TxnId previous = kInitialTxn;
  for (const TxnId t : versions_[choice.key.index]) {
    if (t == choice.observed) return previous;
    if (t != choice.txn) previous = t;
  }
  return TxnId::none();  // it is the initial one
}

bool QuickSearch::counts(const Parent& parent, ChoiceId changed) const {
  if (changed == kNoChoice || parent.event.is_none()) return true;
  if (parent.choice == changed) return false;
  return boundary_ == Boundary::Relaxed || parent.event < facts_.choices()[changed].reads.front();
}

bool QuickSearch::leads_to(TxnId n, TxnId t, ChoiceId changed) const {
  return std::ranges::any_of(parents_[t.index], [&](const Parent& parent) {
    return counts(parent, changed) &&
           (parent.txn == n || ancestors_.contains(parent.txn.index, n.index));
  });
}

bool QuickSearch::conflicts_directly(TxnId n, TxnId t, ChoiceId changed) const {
  return std::ranges::any_of(parents_[t.index], [&](const Parent& parent) {
    return counts(parent, changed) && parent.txn == n && !parent.is_causal;
  });
}

bool QuickSearch::is_forbidden(ChoiceId c, TxnId w, TxnId n) const {
  if (base_ != WeakLevel::Ra && base_ != WeakLevel::Cc) return false;
  if (w != kInitialTxn && !facts_.hb(w, n)) return false;
  const TxnId t = facts_.choices()[c].txn;
  return facts_.history().so(n, t) ||
         std::ranges::any_of(parents_[t.index], [&](const Parent& parent) {
           return parent.is_causal && counts(parent, c) &&
                  (parent.txn == n || (base_ == WeakLevel::Cc && facts_.hb(n, parent.txn)));
         });
}

std::vector<QuickSearch::Changes> QuickSearch::single_changes(std::size_t most) const {
  struct Candidate {
    std::uint32_t rank;  // among those of its transaction
    bool is_indirect;
    std::size_t distance;  // in versions
    Change change;
  };
  std::vector<Candidate> found;
  for (const ChoiceId c : facts_.choices().ids()) {
    if (budget_.expired()) return {};
    const Choice& choice = facts_.choices()[c];
    // Older versions, nearest first; then those of transactions that come later.
    std::vector<TxnId> writers;
    for (const TxnId w : choice.writers) {
      if (position_of(w) < position_of(choice.observed)) writers.push_back(w);
    }
    std::ranges::sort(writers, {}, [&](TxnId w) { return -std::int64_t{position_of(w)}; });
    if (writers.size() > kVersionsTried)
      writers.erase(writers.begin() + kVersionsTried, writers.end() - 1);
    for (std::size_t i = 0; i < writers.size(); ++i) {
      const TxnId n = next_version(choice, writers[i]);
      if (n.is_none() || is_forbidden(c, writers[i], n) || !leads_to(n, choice.txn, c)) continue;
      found.push_back({0, !conflicts_directly(n, choice.txn, c), i, {c, writers[i]}});
    }
    std::size_t num_later = 0;
    for (const TxnId w : choice.writers) {
      if (position_of(w) <= position_of(choice.txn) || facts_.hb(choice.txn, w)) continue;
      if (!ancestors_.contains(w.index, choice.txn.index)) continue;
      found.push_back({0, true, kVersionsTried + num_later, {c, w}});
      if (++num_later == kVersionsTried) break;
    }
  }
  std::ranges::stable_sort(found, {}, [](const Candidate& candidate) {
    return std::tuple(candidate.is_indirect, candidate.distance);
  });
  // One of each transaction, then the second of each: what fails for one read of a transaction
  // often fails for its others.
  std::map<TxnId, std::uint32_t> ranks;
  for (Candidate& candidate : found)
    candidate.rank = ranks[facts_.choices()[candidate.change.choice].txn]++;
  std::ranges::stable_sort(found, {}, [](const Candidate& candidate) {
    return std::tuple(candidate.is_indirect, candidate.rank);
  });
  std::vector<Changes> all;
  for (std::size_t i = 0; i < std::min(most, found.size()); ++i) all.push_back({found[i].change});
  return all;
}

std::vector<QuickSearch::Missed> QuickSearch::missed() const {
  std::vector<Missed> all;
  for (const TxnId t : order_) {
    std::map<TxnId, Changes> by_writer;
    for (const ChoiceId c : facts_.choices_of(t)) {
      const Choice& choice = facts_.choices()[c];
      const TxnId previous = previous_version(choice);
      if (previous.is_none() || is_forbidden(c, previous, choice.observed)) continue;
      Changes& changes = by_writer[choice.observed];
      if (boundary_ == Boundary::Relaxed || changes.empty()) changes.push_back({c, previous});
    }
    for (auto& [o, changes] : by_writer) all.push_back({t, o, std::move(changes)});
  }
  return all;
}

std::vector<QuickSearch::Changes> QuickSearch::missed_updates(std::size_t most) const {
  const std::vector<Missed> all = missed();
  std::vector<Changes> found;
  for (const Missed& one : all) {
    if (found.size() >= most / 2) break;
    if (one.changes.size() > 1 && leads_to(one.o, one.t, kNoChoice)) found.push_back(one.changes);
  }
  const auto are_apart = [&](TxnId a, TxnId b) {
    return facts_.session_of(a) != facts_.session_of(b) && !facts_.hb(a, b) && !facts_.hb(b, a);
  };
  for (const Missed& one : all) {
    if (budget_.expired_now()) break;
    for (const Missed& other : all) {
      if (found.size() >= most) break;
      if (!(one.t < other.t) || !ancestors_.contains(other.t.index, one.o.index) ||
          !ancestors_.contains(one.t.index, other.o.index) || !are_apart(one.t, other.t))
        continue;
      // What each misses must not be what the other is before.
      if (one.o == other.t || other.o == one.t) continue;
      Changes both = one.changes;
      both.insert(both.end(), other.changes.begin(), other.changes.end());
      found.push_back(std::move(both));
    }
  }
  std::ranges::stable_sort(found, {}, &Changes::size);
  return found;
}

std::optional<Chosen> QuickSearch::cut(const Changes& changes, std::uint32_t end) const {
  const auto changed_txn = [&](const Change& change) {
    return facts_.choices()[change.choice].txn;
  };
  const auto is_gone = [&](TxnId t) {
    return position_of(t) >= end || std::ranges::any_of(changes, [&](const Change& change) {
             return facts_.hb(changed_txn(change), t);
           });
  };
  Chosen chosen;
  chosen.writer.assign(facts_.choices().size(), TxnId::none());
  for (const std::vector<TxnId>& session : facts_.sessions()) {
    SessionEnd ending{.session = facts_.history().session(session.front())};
    for (const TxnId t : session) {
      ChoiceId stop = kNoChoice;
      for (const Change& change : changes) {
        if (changed_txn(change) == t) stop = change.choice;
      }
      if (stop == kNoChoice && is_gone(t)) break;
      for (const ChoiceId c : facts_.choices_of(t)) {
        const bool is_later =
            stop != kNoChoice && boundary_ != Boundary::Relaxed &&
            facts_.choices()[c].reads.front() > facts_.choices()[stop].reads.front();
        if (!is_later) chosen.writer[c] = facts_.choices()[c].observed;
      }
      if (stop == kNoChoice) {
        ++ending.kept;
        continue;
      }
      ending.boundary = t;
      if (boundary_ != Boundary::Relaxed) ending.stop = facts_.choices()[stop].reads.front();
      break;
    }
    chosen.ends.push_back(ending);
  }
  for (const Change& change : changes) chosen.writer[change.choice] = change.writer;
  // Everything that is read must be kept, and every change be there.
  const auto is_kept = [&](TxnId t) {
    return t == kInitialTxn || facts_.position(t) < chosen.ends[facts_.session_of(t)].kept;
  };
  for (const Change& change : changes) {
    const TxnId t = changed_txn(change);
    if (chosen.ends[facts_.session_of(t)].boundary != t || !is_kept(change.writer))
      return std::nullopt;
    for (const ChoiceId c : facts_.choices_of(t)) {
      if (!chosen.writer[c].is_none() && !is_kept(chosen.writer[c])) return std::nullopt;
    }
  }
  return chosen;
}

std::optional<Chosen> QuickSearch::before(const Changes& changes) const {
  std::uint32_t end = 0;
  for (const Change& change : changes) {
    end = std::max(
        {end, position_of(facts_.choices()[change.choice].txn), position_of(change.writer) + 1});
  }
  return cut(changes, end);
}

std::optional<Chosen> QuickSearch::with_all(const Changes& changes) const {
  return cut(changes, static_cast<std::uint32_t>(order_.size()) + 1);
}

}  // namespace isoscope::predict
