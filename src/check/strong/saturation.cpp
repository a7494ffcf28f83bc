#include "check/strong/saturation.h"

#include <algorithm>

#include "check/strong/direct.h"

namespace isoscope::strong {
namespace {

// Calls f(r) for the last reader on each chain, `except` aside.
template <class F>
void for_each_last_reader(const Facts& facts, std::span<const TxnId> readers, TxnId except, F&& f) {
  for (std::size_t i = 0; i < readers.size(); ++i) {
    const TxnId r = readers[i];
    if (r == except) continue;
    if (i + 1 < readers.size() && readers[i + 1] != except &&
        facts.chain(readers[i + 1]) == facts.chain(r))
      continue;
    f(r);
  }
}

// By version: is its order known relative to all others of its key? Then no round has to look at
// it again: what contradicted that order would be a cycle of known edges.
using Settled = std::vector<char>;

class Round {
 public:
  Round(Knowledge& known, const Clocks& clocks, Settled& settled)
      : known_(known),
        graph_(known.graph),
        facts_(known.graph.facts()),
        points_(known.graph.points()),
        level_(known.graph.level()),
        clocks_(clocks),
        settled_(settled) {}

  void run(Budget& budget) {
    for (const KeyId x : facts_.history().keys()) {
      for (const VersionId a : facts_.versions(x)) {
        if (settled_[a.index] != 0) continue;
        if (budget.expired()) return;
        bool is_settled = true;
        for (const GroupId g : facts_.groups(x)) {
          if (g == facts_.group(a)) continue;  // ordered by its chain
          if (clocks_.block().contains(facts_.chain(g))) look_back(x, a, g);
          is_settled &= !is_open(a, g);
        }
        settled_[a.index] = is_settled ? 1 : 0;
      }
    }
  }

 private:
  // Is the order of `a` and some version of the group unknown?
  bool is_open(VersionId a, GroupId g) const {
    const IdRange<VersionId> others = facts_.versions(g);
    const std::uint32_t count = known_.order.count_before(a, g);
    return count < others.size() &&
           !known_.order.is_before(a, VersionId{others.front().index + count});
  }

  void look_back(KeyId x, VersionId a, GroupId g) {
    const IdRange<VersionId> others = facts_.versions(g);
    const auto size = static_cast<std::uint32_t>(others.size());
    const std::uint32_t old = known_.order.count_before(a, g);
    if (old == size) return;
    const std::uint32_t forced = count_forced(a, facts_.chain(g));
    const auto is_forced = [&](std::uint32_t rank) {
      return facts_.position(facts_.writer(VersionId{others.front().index + rank})) < forced;
    };
    std::uint32_t count = old;
    while (count < size && is_forced(count)) ++count;
    if (count == old) return;
    known_.order.set_count_before(a, g, count, known_.rounds);
    imply(x, VersionId{others.front().index + count - 1}, a);
  }

  // How many transactions of chain c would close a cycle if they wrote a's key after a.
  std::uint32_t count_forced(VersionId a, ChainId c) const {
    const PointId commit = points_.commit(facts_.writer(a));
    std::uint32_t forced = 0;
    switch (level_) {
      case StrongLevel::Ser:
      case StrongLevel::Ua:
      case StrongLevel::Si:  // ww(a, b) would lead from C(a) to S(b)
        forced = points_.starts_among(clocks_.before(commit, c));
        break;
      case StrongLevel::Pc:  // to C(b)
        forced = points_.commits_among(clocks_.before(commit, c));
        break;
      case StrongLevel::Psi: forced = clocks_.before_with_rw(commit, c); break;
    }
    if (level_ == StrongLevel::Ua) return forced;
    // rw(r, b) would lead from S(r) to C(b).
    for (const TxnId r : facts_.readers(a))
      forced = std::max(forced, points_.commits_among(clocks_.before(points_.start(r), c)));
    return forced;
  }

  // b comes before a: adds the edges that this means, unless paths imply them.
  void imply(KeyId x, VersionId b, VersionId a) {
    const TxnId from = facts_.writer(b);
    const TxnId to = facts_.writer(a);
    if (!clocks_.reaches(points_.source(EdgeKind::Ww, from), points_.target(EdgeKind::Ww, to)))
      graph_.add({.from = from, .to = to, .key = x, .kind = EdgeKind::Ww, .round = known_.rounds});
    if (level_ == StrongLevel::Ua) return;
    for_each_last_reader(facts_, facts_.readers(b), to, [&](TxnId r) {
      // Of chains outside the block nothing is known here; an edge too many does no harm.
      if (clocks_.block().contains(facts_.chain(r)) &&
          clocks_.reaches_with_rw(points_.start(r), points_.commit(to)))
        return;
      graph_.add({.from = r,
                  .to = to,
                  .key = x,
                  .overwritten = from,
                  .kind = EdgeKind::Rw,
                  .round = known_.rounds});
    });
  }

  Knowledge& known_;
  KnownGraph& graph_;
  const Facts& facts_;
  const Points& points_;
  StrongLevel level_;
  const Clocks& clocks_;
  Settled& settled_;
};

// psi: remembers known rw edges that a known path leads back over, as many as help to choose one.
void find_returns(Knowledge& known, const Clocks& clocks) {
  constexpr std::size_t kEnough = 256;
  const Points& points = known.graph.points();
  for (const KnownEdge& e : known.graph.sorted_edges()) {
    if (e.kind != EdgeKind::Rw || !clocks.block().contains(known.graph.facts().chain(e.to)))
      continue;
    if (!clocks.reaches(points.commit(e.to), points.start(e.from))) continue;
    known.returned.push_back(e);
    if (known.returned.size() == kEnough) return;
  }
}

// A list says that `before` comes before `after`, and so it does before what follows that on its
// chain. Against its own chain it is a cycle, which the graph shows.
void add_order(Knowledge& known, VersionId before, VersionId after) {
  const Facts& facts = known.graph.facts();
  const GroupId g = facts.group(before);
  const IdRange<VersionId> later = facts.versions(facts.group(after));
  if (g == facts.group(after)) return;
  for (VersionId v = after; v <= later.back() && !known.order.is_before(before, v); ++v.index)
    known.order.set_count_before(v, g, facts.rank(before) + 1, v == after ? 0 : 1);
}

}  // namespace

void add_version_facts(Knowledge& known) {
  const Facts& facts = known.graph.facts();
  const bool wants_rw = known.graph.level() != StrongLevel::Ua;
  const auto add_rw = [&](KeyId x, std::span<const TxnId> readers, TxnId overwritten, TxnId to) {
    for_each_last_reader(facts, readers, to, [&](TxnId r) {
      known.graph.add({.from = r,
                       .to = to,
                       .key = x,
                       .overwritten = overwritten,
                       .kind = EdgeKind::Rw,
                       .round = known.rounds});
    });
  };
  for (const KeyId x : facts.history().keys()) {
    if (!wants_rw || facts.initial_readers(x).empty()) continue;
    for (const GroupId g : facts.groups(x))
      add_rw(x, facts.initial_readers(x), kInitialTxn, facts.writer(facts.versions(g).front()));
  }
  for (const auto& [from, to, x] : facts.history().version_edges()) {
    const VersionId before = facts.version_of(from, x);
    const VersionId after = facts.version_of(to, x);
    if (before.is_none() || after.is_none()) continue;
    known.graph.add({.from = from, .to = to, .key = x, .kind = EdgeKind::Ww});
    if (wants_rw) add_rw(x, facts.readers(before), from, to);
    add_order(known, before, after);
  }
  // Versions of one chain are ordered by it, which takes a path to say: the first round.
  known.rounds = 1;
  for (const KeyId x : facts.history().keys()) {
    for (const VersionId v : facts.versions(x)) {
      if (!wants_rw || facts.rank(v) == 0) continue;
      const VersionId before{v.index - 1};
      add_rw(x, facts.readers(before), facts.writer(before), facts.writer(v));
    }
  }
}

Saturated saturate(Knowledge& known, Budget& budget, const SaturationOptions& options) {
  const StrongLevel level = known.graph.level();
  const std::vector<ChainBlock> blocks = chain_blocks(known.graph, options.max_clock_numbers);
  DirectRules direct(known);
  Settled settled(known.graph.facts().num_versions(), 0);
  for (std::uint32_t round = 0;; ++round) {
    if (budget.expired_now()) return Saturated::OutOfTime;
    if (!known.graph.sort()) {
      // An edge against an rw edge is shorter than most cycles.
      if (level == StrongLevel::Ua) find_opposed_rw(known, budget);
      return Saturated::Cycle;
    }
    if (round == options.max_rounds) return Saturated::Paused;
    if (options.progress) options.progress("deriving the order of versions", -1);
    ++known.rounds;
    const std::size_t edges = known.graph.edges().size();
    for (const ChainBlock& block : blocks) {
      if (options.facts_only && level != StrongLevel::Psi) break;
      const Clocks clocks(known.graph, block, budget);
      if (level == StrongLevel::Psi) find_returns(known, clocks);
      if (!options.facts_only) Round(known, clocks, settled).run(budget);
      if (budget.expired_now()) return Saturated::OutOfTime;
    }
    if (level == StrongLevel::Ua && !options.facts_only) direct.run_round(budget);
    if (level == StrongLevel::Ua && options.facts_only) find_opposed_rw(known, budget);
    if (budget.expired_now()) return Saturated::OutOfTime;
    if (!known.returned.empty()) return Saturated::Cycle;
    if (known.graph.edges().size() == edges) {
      known.is_saturated = !options.facts_only;
      return Saturated::Fixpoint;
    }
  }
}

}  // namespace isoscope::strong
