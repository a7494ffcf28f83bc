#pragma once
// The prediction space as clauses.
//
//   kept(t)     t is in the cut: kept(t) implies its session before it, and whom it reads from
//   bound(t)    t is its session's boundary transaction: the next after the cut
//   sees(c, w)  choice c is made, for w; for kept transactions the observed one
//   stop(c)     strict: the boundary transaction stops at the first read of choice c
//
// Unserializability, exactly: a serial order is a path through the lattice of
// frontiers (how far each session is) from nothing to everything that is there. A step over t is
// blocked if t reads from a writer that is still to come, or overwrites a version that another
// still to come reads from a writer already there. With R(f) for "frontier f can be reached":
//
//   R(nothing),   R(f) and t next and not blocked  implies  R(f + t),   not R(everything)
//
// R may be true of more than is reachable, never of less, so a model has no serial order. Frontiers
// count writers only: whoever writes nothing that others could read comes as early as it can, right
// after the last writer that it reads from, because that hinders no other.
//
// Levels: two choices of a transaction contradict each other at rc, ra, cc if one brings a writer
// into sight that overwrote, in the causal order of the cut, what the other shows. All further
// demands of a level are added as they turn up (exclude()).
//
// Cost  frontiers × sessions clauses; at most 729 frontiers for three sessions of eight.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "check/weak/weak.h"
#include "predict/facts.h"
#include "predict/predict.h"
#include "sat/solver.h"

namespace isoscope::predict {

// Literals beyond which "no serial order" is no longer written down, but found out by search: about
// 120 MB, and some seconds.
inline constexpr double kMaxFrontierLiterals = 30e6;

// Literals of all other clauses, beyond which it is no use to go on: some 300 MB with what the
// solver makes of them.
inline constexpr std::size_t kMaxLiterals = 10'000'000;

class Encoder {
 public:
  // `base`: true, rc, ra or cc, whichever is known to be weaker than the level.
  Encoder(const ObservedFacts& facts, Boundary boundary, WeakLevel base, SatSolver& solver,
          Budget& budget);

  // Did the time run out half way? Then the clauses mean nothing.
  bool is_expired() const { return is_expired_; }

  // Are there more than kMaxLiterals? Then clauses may be missing.
  bool is_too_large() const { return num_literals_ - num_frontier_literals_ > kMaxLiterals; }

  // Is "no serial order" among the clauses? Else the caller searches, and excludes what it finds.
  bool is_exact() const { return is_exact_; }

  Lit kept(TxnId t) const { return t == kInitialTxn ? true_ : kept_[t.index]; }
  Lit present(TxnId t) const { return t == kInitialTxn ? true_ : present_[t.index]; }
  Lit bound(TxnId t) const { return bound_[t.index]; }
  Lit sees(ChoiceId choice, TxnId w) const;
  Lit stop(ChoiceId choice) const { return stop_[choice]; }
  // One for each choice: it sees another writer than observed.
  std::span<const Lit> changed() const { return changed_.entries(); }
  // t is there and its write to x counts.
  Lit writes(TxnId t, KeyId x);
  // Not all of these together.
  void exclude(std::vector<Lit> facts);
  // At least one of these.
  void require(std::vector<Lit> facts);
  // The steps of a serial order of all that is there: some step must be blocked, or another
  // transaction be there.
  void exclude_order(std::span<const TxnId> order);

  std::size_t num_literals() const { return num_literals_; }

 private:
  // Is the time over? The second looks at the clock only now and then.
  bool is_over();
  bool is_late();
  void add(std::vector<Lit> clause);
  void at_most_one(const std::vector<Lit>& lits);
  void encode_cut();
  bool stops() const { return boundary_ != Boundary::Relaxed; }
  // Others may read x from w: it is in the cut, or, under strict+, stops after its last write to x.
  Lit shows(TxnId w, KeyId x);
  Lit counts(TxnId t, KeyId x, EventId write, std::map<std::pair<TxnId, KeyId>, Lit>& known);
  void encode_relaxed(ChoiceId choice);
  void encode_strict(ChoiceId choice);
  void encode_level(WeakLevel base);
  void encode_read_committed(TxnId t);
  void encode_sight(TxnId t, WeakLevel base);
  Lit shown_by_choice(TxnId t, TxnId other, WeakLevel base);
  void encode_frontiers();
  // What may block the step over t: by frontiers of all transactions, and of writers only.
  std::vector<Lit> blockers(TxnId t, std::span<const std::uint32_t> frontier);
  std::vector<Lit> writer_blockers(TxnId t, std::span<const std::uint32_t> frontier);
  bool is_placed_writer(TxnId w, std::span<const std::uint32_t> frontier) const {
    return w == kInitialTxn || num_writers_before_[w.index] < frontier[facts_.session_of(w)];
  }
  // Whoever comes between the last placed writer of its session and t, t included, waits for a
  // writer.
  void add_waiting(TxnId t, std::span<const std::uint32_t> frontier, std::vector<Lit>& clause);
  void collect_writers();
  // t reads something from w.
  Lit reads_from(TxnId t, TxnId w);
  // t overwrites something that u reads from w.
  Lit overwrites(TxnId t, TxnId u, TxnId w);
  bool is_stale(TxnId w, TxnId by) const { return w == kInitialTxn || facts_.hb(w, by); }

  const ObservedFacts& facts_;
  const History& h_;
  Boundary boundary_;
  SatSolver& solver_;
  Budget& budget_;
  Lit true_;
  std::vector<Lit> kept_;
  std::vector<Lit> bound_;
  std::vector<Lit> present_;
  ById<ChoiceId, std::vector<Lit>> sees_;  // in the order of its writers
  ById<ChoiceId, Lit> stop_;
  ById<ChoiceId, Lit> changed_;
  std::map<std::pair<TxnId, KeyId>, Lit> writes_;
  std::map<std::pair<TxnId, KeyId>, Lit> shows_;
  std::map<std::pair<TxnId, TxnId>, Lit> reads_from_;
  std::map<std::tuple<TxnId, TxnId, TxnId>, Lit> overwrites_;
  // By writer t: (u, w) such that overwrites(t, u, w) is possible.
  std::vector<std::vector<std::pair<TxnId, TxnId>>> overwriting_;
  std::vector<std::vector<TxnId>> sources_;        // by t: whom it may read from, without T0
  std::vector<std::uint8_t> is_writer_;            // by transaction: of something that others read
  std::vector<std::uint32_t> num_writers_before_;  // by transaction: in its session
  std::vector<std::vector<TxnId>> writers_;        // by session
  bool is_exact_ = true;
  bool is_expired_ = false;
  std::size_t num_literals_ = 0;
  std::size_t num_frontier_literals_ = 0;
};

}  // namespace isoscope::predict
