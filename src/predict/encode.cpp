#include "predict/encode.h"

#include <algorithm>

#include "support/assert.h"

namespace isoscope::predict {

Encoder::Encoder(const ObservedFacts& facts, Boundary boundary, WeakLevel base, SatSolver& solver,
                 Budget& budget)
    : facts_(facts),
      h_(facts.history()),
      boundary_(boundary),
      solver_(solver),
      budget_(budget),
      true_(solver.new_var()),
      kept_(h_.num_txns()),
      bound_(h_.num_txns()),
      present_(h_.num_txns()),
      sees_(facts.choices().size()),
      stop_(facts.choices().size()),
      changed_(facts.choices().size()),
      overwriting_(h_.num_txns()),
      sources_(h_.num_txns()) {
  add({true_});
  for (const ChoiceId c : facts.choices().ids()) {
    if (is_over()) break;
    for (std::size_t i = 0; i < facts.choices()[c].writers.size(); ++i)
      sees_[c].push_back(solver.new_var());
    stop_[c] = stops() ? solver.new_var() : Lit();
    changed_[c] = solver.new_var();
  }
  if (is_over()) return;
  encode_cut();
  for (const ChoiceId c : facts.choices().ids()) {
    if (is_over()) break;
    if (stops()) {
      encode_strict(c);
    } else {
      encode_relaxed(c);
    }
  }
  encode_level(base);
  encode_frontiers();
}

bool Encoder::is_over() {
  if (!is_expired_ && budget_.expired_now()) is_expired_ = true;
  return is_expired_ || is_too_large();
}

bool Encoder::is_late() {
  if (!is_expired_ && budget_.expired()) is_expired_ = true;
  return is_expired_ || is_too_large();
}

void Encoder::add(std::vector<Lit> clause) {
  num_literals_ += clause.size();
  solver_.add_clause(clause);
}

void Encoder::exclude(std::vector<Lit> lits) {
  std::sort(lits.begin(), lits.end());
  lits.erase(std::unique(lits.begin(), lits.end()), lits.end());
  for (Lit& lit : lits) lit = ~lit;
  add(std::move(lits));
}

void Encoder::require(std::vector<Lit> lits) {
  std::sort(lits.begin(), lits.end());
  lits.erase(std::unique(lits.begin(), lits.end()), lits.end());
  add(std::move(lits));
}

void Encoder::at_most_one(const std::vector<Lit>& lits) {
  for (std::size_t i = 0; i < lits.size(); ++i) {
    if (is_over()) return;
    for (std::size_t j = i + 1; j < lits.size(); ++j) add({~lits[i], ~lits[j]});
  }
}

Lit Encoder::sees(ChoiceId choice, TxnId w) const {
  const std::vector<TxnId>& writers = facts_.choices()[choice].writers;
  const auto found = std::lower_bound(writers.begin(), writers.end(), w);
  ISO_ASSERT(found != writers.end() && *found == w);
  return sees_[choice][static_cast<std::size_t>(found - writers.begin())];
}

// A consistent cut, and at most one transaction more in each session.
void Encoder::encode_cut() {
  for (const std::vector<TxnId>& session : facts_.sessions()) {
    for (std::size_t i = 0; i < session.size(); ++i) {
      const std::uint32_t t = session[i].index;
      kept_[t] = solver_.new_var();
      bound_[t] = solver_.new_var();
      present_[t] = solver_.new_var();
      add({~kept_[t], ~bound_[t]});
      add({~present_[t], kept_[t], bound_[t]});
      add({present_[t], ~kept_[t]});
      add({present_[t], ~bound_[t]});
      // Where nothing can change there is nowhere to stop.
      if (stops() && facts_.choices_of(session[i]).empty()) add({~bound_[t]});
      if (i == 0) continue;
      const Lit before = kept_[session[i - 1].index];
      add({~kept_[t], before});
      add({~bound_[t], before});
    }
  }
  for (const Choice& choice : facts_.choices()) {
    if (is_late()) return;
    add({~kept_[choice.txn.index], shows(choice.observed, choice.key)});
  }
}

// All reads of the boundary transaction are free.
void Encoder::encode_relaxed(ChoiceId c) {
  const Choice& choice = facts_.choices()[c];
  const Lit is_kept = kept(choice.txn);
  add({~is_kept, sees(c, choice.observed)});
  std::vector<Lit> some = {~bound(choice.txn)};
  for (const TxnId w : choice.writers) {
    const Lit chosen = sees(c, w);
    some.push_back(chosen);
    add({~chosen, present(choice.txn)});
    add({~chosen, kept(w)});
    if (w == choice.observed) continue;
    add({~chosen, bound(choice.txn)});
    add({~chosen, changed_[c]});
  }
  add(std::move(some));
  at_most_one(sees_[c]);
}

// The boundary transaction is as observed up to one read, which sees another writer.
void Encoder::encode_strict(ChoiceId c) {
  const Choice& choice = facts_.choices()[c];
  const std::vector<ChoiceId>& own = facts_.choices_of(choice.txn);
  add({~stop_[c], bound(choice.txn)});
  if (own.front() == c) {
    std::vector<Lit> some = {~bound(choice.txn)};
    std::vector<Lit> stops;
    for (const ChoiceId other : own) {
      some.push_back(stop_[other]);
      stops.push_back(stop_[other]);
    }
    add(std::move(some));
    at_most_one(stops);
  }
  add({~kept(choice.txn), sees(c, choice.observed)});
  std::vector<Lit> as_observed = {~sees(c, choice.observed), kept(choice.txn)};
  for (const ChoiceId other : own) {
    if (other <= c) continue;  // in program order
    add({~stop_[other], sees(c, choice.observed)});
    as_observed.push_back(stop_[other]);
  }
  add(std::move(as_observed));
  std::vector<Lit> other_writer = {~stop_[c]};
  for (const TxnId w : choice.writers) {
    const Lit chosen = sees(c, w);
    add({~chosen, shows(w, choice.key)});
    if (w == choice.observed) continue;
    other_writer.push_back(chosen);
    add({~chosen, stop_[c]});
    add({~chosen, changed_[c]});
  }
  add(std::move(other_writer));
  at_most_one(sees_[c]);
}

// What two choices of one transaction forbid each other.
void Encoder::encode_level(WeakLevel base) {
  if (base == WeakLevel::True) return;
  for (const std::vector<TxnId>& session : facts_.sessions()) {
    for (const TxnId t : session) {
      if (is_over()) return;
      if (base == WeakLevel::Rc) {
        encode_read_committed(t);
      } else {
        encode_sight(t, base);
      }
    }
  }
}

// rc: what an earlier read showed, a later one does not take back.
void Encoder::encode_read_committed(TxnId t) {
  const std::vector<ChoiceId>& own = facts_.choices_of(t);
  for (std::size_t later = 0; later < own.size(); ++later) {
    const Choice& choice = facts_.choices()[own[later]];
    for (const TxnId overwriter : facts_.writers(choice.key)) {
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        const std::vector<TxnId>& seen = facts_.choices()[own[earlier]].writers;
        if (!std::binary_search(seen.begin(), seen.end(), overwriter)) continue;
        if (is_late()) return;
        for (const TxnId w : choice.writers) {
          if (w != overwriter && is_stale(w, overwriter))
            add({~sees(own[later], w), ~sees(own[earlier], overwriter)});
        }
      }
    }
  }
}

// ra, cc: whom t sees, and what it then cannot show.
void Encoder::encode_sight(TxnId t, WeakLevel base) {
  // Through its session: the one before t is in the cut, with all its past.
  const std::uint32_t position = facts_.position(t);
  const TxnId before =
      position == 0 ? kInitialTxn : facts_.sessions()[facts_.session_of(t)][position - 1];
  std::map<TxnId, Lit> in_sight;  // through a choice
  for (const ChoiceId c : facts_.choices_of(t)) {
    const Choice& choice = facts_.choices()[c];
    for (const TxnId overwriter : facts_.writers(choice.key)) {
      if (is_late()) return;
      if (overwriter == t) continue;
      const bool is_in_session =
          before != kInitialTxn &&
          (h_.so(overwriter, t) || (base == WeakLevel::Cc && facts_.hb(overwriter, before)));
      Lit seen = true_;
      if (!is_in_session) {
        const auto [found, is_new] = in_sight.try_emplace(overwriter);
        if (is_new) found->second = shown_by_choice(t, overwriter, base);
        seen = found->second;
      }
      for (const TxnId w : choice.writers) {
        if (w != overwriter && is_stale(w, overwriter)) add({~sees(c, w), ~seen});
      }
    }
  }
}

// True if a read of t shows `other`, or (cc) a transaction that comes after it.
Lit Encoder::shown_by_choice(TxnId t, TxnId other, WeakLevel base) {
  const Lit shown = solver_.new_var();
  for (const ChoiceId c : facts_.choices_of(t)) {
    if (is_late()) break;
    for (const TxnId w : facts_.choices()[c].writers) {
      const bool shows =
          w == other || (base == WeakLevel::Cc && w != kInitialTxn && facts_.hb(other, w));
      if (shows) add({~sees(c, w), shown});
    }
  }
  return shown;
}

Lit Encoder::writes(TxnId t, KeyId x) {
  if (!stops() || t == kInitialTxn) return present(t);
  EventId first = EventId::none();
  for (const EventId e : h_.events(t)) {
    if (h_.is_write(e) && h_.key(e) == x) first = std::min(first, e);
  }
  return counts(t, x, first, writes_);
}

Lit Encoder::shows(TxnId w, KeyId x) {
  if (boundary_ != Boundary::StrictPlus || w == kInitialTxn) return kept(w);
  EventId last = EventId{0};
  for (const EventId e : h_.events(w)) {
    if (h_.is_write(e) && h_.key(e) == x) last = e;
  }
  return counts(w, x, last, shows_);
}

// t is kept, or stops after this write.
Lit Encoder::counts(TxnId t, KeyId x, EventId write,
                    std::map<std::pair<TxnId, KeyId>, Lit>& known) {
  const auto [found, is_new] = known.try_emplace({t, x});
  if (!is_new) return found->second;
  const Lit lit = solver_.new_var();
  found->second = lit;
  std::vector<Lit> because = {~lit, kept(t)};
  for (const ChoiceId c : facts_.choices_of(t)) {
    if (write < facts_.choices()[c].reads.front()) because.push_back(stop_[c]);
  }
  for (std::size_t i = 1; i < because.size(); ++i) add({~because[i], lit});
  add(std::move(because));
  return lit;
}

}  // namespace isoscope::predict
