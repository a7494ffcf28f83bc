#include "check/strong/propagation.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "support/assert.h"

namespace isoscope::strong {

void Propagation::Successors::add(PointId from, PointId to) {
  items.push_back({to, head[from.index]});
  head[from.index] = static_cast<std::uint32_t>(items.size() - 1);
}

void Propagation::Successors::remove_last(PointId from) {
  head[from.index] = items.back().next;
  items.pop_back();
}

Propagation::Propagation(const Knowledge& known, Budget& budget)
    : graph_(known.graph),
      facts_(known.graph.facts()),
      points_(known.graph.points()),
      level_(known.graph.level()),
      is_psi_(level_ == StrongLevel::Psi),
      chains_(facts_.num_chains()),
      order_(known.order) {
  ISO_ASSERT(known.is_saturated && fits(graph_));
  Clocks clocks(graph_, {0, chains_}, budget);
  known_ = clocks.steps();
  std::tie(rows_, rw_rows_) = std::move(clocks).take_rows();
  assumed_.head.assign(graph_.num_points(), Successors::kNone);
  rw_.head.assign(graph_.num_points(), Successors::kNone);
  for (const KnownEdge& e : graph_.edges()) {
    if (is_psi_ && e.kind == EdgeKind::Rw) rw_.add(points_.start(e.from), points_.commit(e.to));
  }
  place_.resize(graph_.num_points());
  for (std::uint32_t i = 0; i < graph_.order().size(); ++i) place_[graph_.order()[i].index] = i;
  is_raised_.assign(graph_.num_points(), 0);
}

bool Propagation::assume_order(TxnId first, TxnId second) {
  pending_.push_back({points_.source(EdgeKind::Ww, first), points_.target(EdgeKind::Ww, second)});
  return settle();
}

bool Propagation::settle() {
  while (!pending_.empty()) {
    const Pending edge = pending_.front();
    pending_.pop_front();
    if (is_broken_ || closes_cycle(edge)) {
      pending_.clear();
      return false;
    }
    if (!is_implied(edge)) add(edge);
  }
  return !is_broken_;
}

bool Propagation::closes_cycle(const Pending& edge) const {
  // psi: a path back may have an rw edge, but an rw edge only a path without.
  return edge.from == edge.to || reaches(is_psi_ && !edge.is_rw, edge.to, edge.from);
}

bool Propagation::is_implied(const Pending& edge) const {
  return reaches(is_psi_ && edge.is_rw, edge.from, edge.to);
}

void Propagation::add(const Pending& edge) {
  if (is_psi_ && edge.is_rw) {
    rw_.add(edge.from, edge.to);
    trail_.push_back({What::RwSuccessor, edge.from.index});
    raise(edge.to, true, edge.from, false, true);
  } else {
    assumed_.add(edge.from, edge.to);
    trail_.push_back({What::Successor, edge.from.index});
    raise(edge.to, false, edge.from, false, true);
    if (is_psi_) raise(edge.to, true, edge.from, true, true);
  }
  spread();
}

// Tells the successors of raised points, and theirs.
void Propagation::spread() {
  while (!raised_.empty()) {
    const PointId p = raised_.top().point;
    const bool with_rw = raised_.top().with_rw;
    raised_.pop();
    is_raised_[p.index] = static_cast<char>(is_raised_[p.index] & ~(with_rw ? 2 : 1));
    const auto tell = [&](PointId q) { raise(q, with_rw, p, with_rw, true); };
    known_.for_each(p, tell);
    assumed_.for_each(p, tell);
    if (!is_psi_ || with_rw) continue;
    raise(p, true, p, false, false);  // no rw edge is at most one
    rw_.for_each(p, [&](PointId q) { raise(q, true, p, false, true); });
  }
}

void Propagation::raise(PointId to, bool to_rw, PointId from, bool from_rw, bool with_self) {
  std::uint32_t* old = row(to_rw, to);
  const std::uint32_t* now = row(from_rw, from);
  const std::uint32_t own = facts_.chain(points_.txn(from)).index;
  const std::uint32_t self = with_self ? points_.position(facts_, from) + 1 : 0;
  // Most often there is nothing new, which this loop finds out many numbers at a time.
  bool changed = old[own] < self;
  for (std::uint32_t c = 0; c < chains_; ++c) changed |= old[c] < now[c];
  if (!changed) return;
  for (std::uint32_t c = 0; c < chains_; ++c) {
    const std::uint32_t n = c == own ? std::max(now[c], self) : now[c];
    if (n <= old[c]) continue;
    trail_.push_back({to_rw ? What::RwClock : What::Clock,
                      static_cast<std::size_t>(to.index) * chains_ + c, old[c]});
    old[c] = n;
    on_raised(to, to_rw, ChainId{c}, n);
  }
  const int bit = to_rw ? 2 : 1;
  if ((is_raised_[to.index] & bit) != 0) return;
  is_raised_[to.index] = static_cast<char>(is_raised_[to.index] | bit);
  raised_.push({place_[to.index], to, to_rw});
}

void Propagation::on_raised(PointId p, bool with_rw, ChainId c, std::uint32_t n) {
  const TxnId t = points_.txn(p);
  // Whose start (pc: whose commit) reaches the commit of t comes before t.
  if (points_.is_commit(p) && with_rw == is_psi_) {
    const std::uint32_t forced =
        level_ == StrongLevel::Pc ? points_.commits_among(n) : points_.starts_among(n);
    for (const Access& write : facts_.written(t)) force(write.version, c, forced);
  }
  // Whose commit reaches the start of t comes before what t reads.
  if (p == points_.start(t) && !with_rw && level_ != StrongLevel::Ua) {
    const std::uint32_t forced = points_.commits_among(n);
    for (const Access& read : facts_.read(t)) {
      if (!read.version.is_none()) force(read.version, c, forced);
    }
  }
}

void Propagation::force(VersionId a, ChainId c, std::uint32_t forced) {
  const IdRange<GroupId> groups = facts_.groups(facts_.key(a));
  std::uint32_t low = groups.front().index;
  std::uint32_t high = low + static_cast<std::uint32_t>(groups.size());
  const std::uint32_t end = high;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (facts_.chain(GroupId{middle}) < c) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const GroupId g{low};
  if (low == end || facts_.chain(g) != c || g == facts_.group(a)) return;
  const IdRange<VersionId> others = facts_.versions(g);
  const std::uint32_t old = order_.count_before(a, g);
  std::uint32_t count = old;
  while (count < others.size() &&
         facts_.position(facts_.writer(VersionId{others.front().index + count})) < forced)
    ++count;
  if (count == old) return;
  trail_.push_back({What::Count, a.index, old, g});
  order_.set_count_before(a, g, count, 0);
  on_ordered(VersionId{others.front().index + count - 1}, a);
  for (std::uint32_t i = old; i < count && level_ == StrongLevel::Ua; ++i)
    on_seen(VersionId{others.front().index + i}, a);
}

void Propagation::on_ordered(VersionId b, VersionId a) {
  const TxnId from = facts_.writer(b);
  const TxnId to = facts_.writer(a);
  pending_.push_back({points_.source(EdgeKind::Ww, from), points_.target(EdgeKind::Ww, to)});
  if (level_ == StrongLevel::Ua) return;
  for (const TxnId r : facts_.readers(b)) {
    if (r != to) pending_.push_back({points_.start(r), points_.commit(to), true});
  }
}

void Propagation::on_seen(VersionId b, VersionId a) {
  const TxnId from = facts_.writer(b);
  const TxnId to = facts_.writer(a);
  // `to` sees `from`: what it reads is not older.
  for (const Access& read : facts_.read(to)) {
    const VersionId seen = facts_.version_of(from, read.key);
    if (seen.is_none() || seen == read.version) continue;
    if (read.version.is_none()) {
      is_broken_ = true;
    } else {
      pending_.push_back({points_.commit(from), points_.start(facts_.writer(read.version))});
    }
  }
  // `to` overwrites what the readers of b read: where both write a key, they come first.
  for (const TxnId r : facts_.readers(b)) {
    if (r == to) continue;
    for (const Access& write : facts_.written(r)) {
      if (facts_.version_of(to, write.key).is_none()) continue;
      pending_.push_back({points_.commit(r), points_.start(to)});
      break;
    }
  }
}

void Propagation::take_back() {
  for (auto it = trail_.rbegin(); it != trail_.rend(); ++it) {
    const Change& change = *it;
    switch (change.what) {
      case What::Clock: rows_[change.slot] = change.old; break;
      case What::RwClock: rw_rows_[change.slot] = change.old; break;
      case What::Count:
        order_.set_count_before(VersionId{static_cast<std::uint32_t>(change.slot)}, change.group,
                                change.old, 0);
        break;
      case What::Successor:
        assumed_.remove_last(PointId{static_cast<std::uint32_t>(change.slot)});
        break;
      case What::RwSuccessor:
        rw_.remove_last(PointId{static_cast<std::uint32_t>(change.slot)});
        break;
    }
  }
  trail_.clear();
  is_broken_ = false;
}

namespace {

constexpr std::uint32_t kMaxRestarts = 30;

// A pair of versions for each choice, a's first: the order of one pair tells that of all.
using VersionPairs = std::vector<std::pair<VersionId, VersionId>>;

VersionPairs version_pairs(const Residue& residue) {
  const VersionOrder& order = residue.known().order;
  VersionPairs pairs(residue.choices().size());
  for_each_open_pair(order, [&](KeyId, VersionId v, VersionId w) {
    const ChoiceLit lit = *residue.find(order.facts().writer(v), order.facts().writer(w));
    pairs[lit.choice()] = lit.is_a_first() ? std::pair(v, w) : std::pair(w, v);
    return true;
  });
  return pairs;
}

// The choices, by the time when both had committed.
std::vector<std::uint32_t> in_order_of_time(const Residue& residue, const Guess& guess) {
  const auto choices = residue.choices();
  const auto time = [&](std::uint32_t c) {
    return std::max(guess.committed[choices[c].a.index], guess.committed[choices[c].b.index]);
  };
  std::vector<std::uint32_t> sequence(choices.size());
  std::iota(sequence.begin(), sequence.end(), 0U);
  std::stable_sort(sequence.begin(), sequence.end(),
                   [&](std::uint32_t c, std::uint32_t d) { return time(c) < time(d); });
  return sequence;
}

// One pass over the choices.
struct Pass {
  Answers answers;                    // those that it made, else the guessed ones
  std::optional<std::size_t> failed;  // where in the sequence both answers closed a cycle
  bool is_refutation = false;         // that was before any answer was made
};

Pass run_pass(const Residue& residue, const Answers& guessed, const VersionPairs& pairs,
              const std::vector<std::uint32_t>& sequence, Budget& budget) {
  Pass pass;
  pass.answers = guessed;
  Propagation propagation(residue.known(), budget);
  pass.is_refutation = true;
  for (std::size_t i = 0; i < sequence.size() && !pass.failed; ++i) {
    if (budget.expired()) break;
    const std::uint32_t c = sequence[i];
    const auto [v, w] = pairs[c];
    if (propagation.order().is_before(v, w) || propagation.order().is_before(w, v)) continue;
    const auto [a, b] = residue.choices()[c];
    const auto assume = [&, first = a, second = b](bool a_first) {
      const bool holds = a_first ? propagation.assume_order(first, second)
                                 : propagation.assume_order(second, first);
      if (holds) {
        propagation.keep();
      } else {
        propagation.take_back();
      }
      return holds;
    };
    if (!assume(guessed[c]) && !assume(!guessed[c])) {
      pass.failed = i;
    } else {
      pass.is_refutation = false;
    }
  }
  pass.is_refutation &= pass.failed.has_value();
  for (std::size_t c = 0; c < pairs.size(); ++c) {
    const auto [v, w] = pairs[c];
    if (propagation.order().is_before(v, w)) pass.answers[c] = true;
    if (propagation.order().is_before(w, v)) pass.answers[c] = false;
  }
  return pass;
}

}  // namespace

Speculation speculate(const Residue& residue, const Guess& guess, Budget& budget) {
  const VersionPairs pairs = version_pairs(residue);
  const Answers guessed = answers_of(residue, guess);
  std::vector<std::uint32_t> sequence = in_order_of_time(residue, guess);
  Speculation speculation;
  for (;; ++speculation.restarts) {
    Pass pass = run_pass(residue, guessed, pairs, sequence, budget);
    speculation.answers = std::move(pass.answers);
    if (budget.expired_now()) return speculation;
    if (!pass.failed || pass.is_refutation) {
      speculation.result = pass.failed ? Speculated::Refuted : Speculated::Found;
      return speculation;
    }
    if (speculation.restarts == kMaxRestarts) return speculation;
    const auto failed = sequence.begin() + static_cast<std::ptrdiff_t>(*pass.failed);
    std::rotate(sequence.begin(), failed, failed + 1);
  }
}

}  // namespace isoscope::strong
