#include "check/strong/residue.h"

#include <algorithm>
#include <deque>

#include "check/strong/clocks.h"

namespace isoscope::strong {

namespace {

// How often each point waits before all go on as they come.
constexpr std::uint64_t kMaxWaits = 20;

class Run {
 public:
  explicit Run(const Knowledge& known)
      : graph_(known.graph),
        facts_(graph_.facts()),
        points_(graph_.points()),
        open_(graph_.num_points(), 0),
        time_(graph_.num_points(), 0),
        is_contested_(facts_.num_txns(), 0),
        unread_(facts_.num_versions(), 0),
        latest_(facts_.history().num_keys(), VersionId::none()),
        writing_(facts_.history().num_keys(), 0),
        waits_left_(kMaxWaits * graph_.num_points()) {
    mark_contested(known.order);
    for (std::uint32_t v = 0; v < facts_.num_versions(); ++v)
      unread_[v] = static_cast<std::uint32_t>(facts_.readers(VersionId{v}).size());
    graph_.for_each_arc([&](PointId, PointId q) { ++open_[q.index]; });
  }

  Guess run() {
    for (const PointId p : graph_.order()) {
      if (open_[p.index] == 0) ready_.push_back(p);
    }
    // Whoever waits is asked again whenever something has happened.
    std::deque<PointId> waiting;
    while (!ready_.empty() || !waiting.empty()) {
      bool moved = false;
      while (!ready_.empty()) {
        const PointId p = ready_.front();
        ready_.pop_front();
        if (waits_left_ > 0 && must_wait(p)) {
          --waits_left_;
          waiting.push_back(p);
        } else {
          pass(p);
          moved = true;
        }
      }
      if (!moved && !waiting.empty()) {
        pass(waiting.front());
        waiting.pop_front();
      }
      // Those that became ready stand behind those that waited for them.
      waiting.insert(waiting.end(), ready_.begin(), ready_.end());
      ready_.clear();
      ready_.swap(waiting);
    }
    Guess guess;
    for (const TxnId t : facts_.history().txns())
      guess.committed.push_back(time_[points_.commit(t).index]);
    return guess;
  }

 private:
  // A transaction is contested if the order of one of its versions is open.
  void mark_contested(const VersionOrder& order) {
    for (const KeyId x : facts_.history().keys()) {
      for (const VersionId a : facts_.versions(x)) {
        for (const GroupId g : facts_.groups(x)) {
          const IdRange<VersionId> others = facts_.versions(g);
          const std::uint32_t count = order.count_before(a, g);
          if (g == facts_.group(a) || count == others.size()) continue;
          if (!order.is_before(a, VersionId{others.front().index + count}))
            is_contested_[facts_.writer(a).index] = 1;
        }
      }
    }
  }

  bool must_wait(PointId p) const {
    const TxnId t = points_.txn(p);
    if (is_contested_[t.index] == 0) return false;
    for (const auto& [x, version] : facts_.written(t)) {
      const VersionId latest = latest_[x.index];
      if (points_.is_commit(p) && !latest.is_none() &&
          unread_[latest.index] > (is_reader_to_come(t, x, latest) ? 1U : 0U))
        return true;
      if (!points_.is_commit(p) && graph_.level() == StrongLevel::Si && writing_[x.index] > 0)
        return true;
    }
    return false;
  }
  // Unsplit, t itself is a reader to come.
  bool is_reader_to_come(TxnId t, KeyId x, VersionId latest) const {
    if (points_.is_split()) return false;
    const auto reads = facts_.read(t);
    return std::binary_search(reads.begin(), reads.end(), Access{x, latest});
  }

  void pass(PointId p) {
    const TxnId t = points_.txn(p);
    time_[p.index] = ++now_;
    const bool is_under_way = is_contested_[t.index] != 0 && points_.is_split();
    if (p == points_.start(t)) {
      for (const Access& read : facts_.read(t)) {
        if (!read.version.is_none()) --unread_[read.version.index];
      }
      for (const Access& write : facts_.written(t)) {
        if (is_under_way) ++writing_[write.key.index];
      }
    }
    if (points_.is_commit(p)) {
      for (const Access& write : facts_.written(t)) {
        latest_[write.key.index] = write.version;
        if (is_under_way) --writing_[write.key.index];
      }
    }
    graph_.for_each_successor(p, [&](PointId q) {
      if (--open_[q.index] == 0) ready_.push_back(q);
    });
  }

  const KnownGraph& graph_;
  const Facts& facts_;
  const Points& points_;
  std::vector<std::uint32_t> open_;  // predecessors to come, by point
  std::vector<std::uint32_t> time_;
  std::vector<char> is_contested_;      // by transaction: has an open choice
  std::vector<std::uint32_t> unread_;   // readers to come, by version
  std::vector<VersionId> latest_;       // by key
  std::vector<std::uint32_t> writing_;  // by key: contested writers between start and commit
  std::deque<PointId> ready_;
  std::uint64_t waits_left_;
  std::uint32_t now_ = 0;
};

// psi: does a path lead back over an rw edge? Paths follow the order of the guess, so only edges
// against it are asked.
bool has_return(const KnownGraph& graph, const Guess& guess, Budget& budget) {
  const Points& points = graph.points();
  std::vector<KnownEdge> against;
  for (const KnownEdge& e : graph.edges()) {
    if (e.kind == EdgeKind::Rw && guess.committed[e.to.index] < guess.committed[e.from.index])
      against.push_back(e);
  }
  if (against.empty()) return false;
  for (const ChainBlock& block : chain_blocks(graph)) {
    const Clocks clocks(graph, block, budget, RwPaths::None);
    for (const KnownEdge& e : against) {
      if (block.contains(graph.facts().chain(e.to)) &&
          clocks.reaches(points.commit(e.to), points.start(e.from)))
        return true;
    }
  }
  return false;
}

}  // namespace

Guess make_guess(const Knowledge& known) { return Run(known).run(); }

Guess guess_of(const KnownGraph& completed) {
  const Points& points = completed.points();
  Guess guess;
  guess.committed.resize(completed.facts().num_txns());
  std::uint32_t now = 0;
  for (const PointId p : completed.order()) {
    if (points.is_commit(p)) guess.committed[points.txn(p).index] = ++now;
  }
  return guess;
}

std::optional<KnownGraph> complete_by(const Knowledge& known, const Guess& guess, Budget& budget) {
  if (known.graph.level() == StrongLevel::Ua) return {};
  const Facts& facts = known.graph.facts();
  KnownGraph graph = known.graph;
  std::vector<VersionId> order;
  for (const KeyId x : facts.history().keys()) {
    const IdRange<VersionId> versions = facts.versions(x);
    order.assign(versions.begin(), versions.end());
    std::sort(order.begin(), order.end(), [&](VersionId v, VersionId w) {
      return guess.committed[facts.writer(v).index] < guess.committed[facts.writer(w).index];
    });
    // Each before the next is enough: paths do the rest.
    for (std::size_t i = 1; i < order.size(); ++i) {
      const TxnId from = facts.writer(order[i - 1]);
      const TxnId to = facts.writer(order[i]);
      graph.add({.from = from, .to = to, .key = x, .kind = EdgeKind::Ww});
      for (const TxnId r : facts.readers(order[i - 1])) {
        if (r != to)
          graph.add({.from = r, .to = to, .key = x, .overwritten = from, .kind = EdgeKind::Rw});
      }
    }
  }
  if (!graph.sort()) return {};
  if (known.graph.level() == StrongLevel::Psi && has_return(graph, guess, budget)) return {};
  if (budget.expired_now()) return {};
  return graph;
}

bool has_few_open_pairs(const VersionOrder& order, std::size_t limit) {
  std::size_t count = 0;
  for_each_open_pair(order, [&](KeyId, VersionId, VersionId) { return ++count <= limit; });
  return count <= limit;
}

Residue::Residue(const Knowledge& known, bool prune) : known_(known) {
  collect_choices();
  collect_edges();
  cut_to_components(prune);
}

void Residue::collect_choices() {
  const Facts& facts = known_.graph.facts();
  for_each_open_pair(known_.order, [&](KeyId, VersionId v, VersionId w) {
    choices_.push_back(Choice::between(facts.writer(v), facts.writer(w)));
    return true;
  });
  std::sort(choices_.begin(), choices_.end());
  choices_.erase(std::unique(choices_.begin(), choices_.end()), choices_.end());
}

std::optional<ChoiceLit> Residue::find(TxnId first, TxnId second) const {
  const Choice choice = Choice::between(first, second);
  const auto found = std::lower_bound(choices_.begin(), choices_.end(), choice);
  if (found == choices_.end() || *found != choice) return {};
  return ChoiceLit::of(static_cast<std::uint32_t>(found - choices_.begin()), first == choice.a);
}

void Residue::collect_edges() {
  const Facts& facts = known_.graph.facts();
  const auto add = [&](KeyId x, VersionId before, VersionId after) {
    const TxnId from = facts.writer(before);
    const TxnId to = facts.writer(after);
    const ChoiceLit lit = *find(from, to);
    edges_.push_back({lit, {.from = from, .to = to, .key = x, .kind = EdgeKind::Ww}});
    for (const TxnId r : facts.readers(before)) {
      if (r == to) continue;
      edges_.push_back(
          {lit, {.from = r, .to = to, .key = x, .overwritten = from, .kind = EdgeKind::Rw}});
    }
  };
  for_each_open_pair(known_.order, [&](KeyId x, VersionId v, VersionId w) {
    add(x, v, w);
    add(x, w, v);
    return true;
  });
}

void Residue::cut_to_components(bool prune) {
  const Points& points = known_.graph.points();
  const auto source = [&](const KnownEdge& e) { return points.source(e.kind, e.from); };
  const auto target = [&](const KnownEdge& e) { return points.target(e.kind, e.to); };
  const Digraph everything = Digraph::of(known_.graph.num_points(), [&](auto&& add) {
    known_.graph.for_each_arc([&](PointId p, PointId q) { add(p.index, q.index); });
    for (const KnownEdge& e : known_.graph.edges()) {
      if (!known_.graph.is_on_paths(e.kind)) add(source(e).index, target(e).index);
    }
    for (const ChoiceEdge& e : edges_) add(source(e.edge).index, target(e.edge).index);
  });
  Components components = strongly_connected_components(everything);
  if (!prune) {
    components.of.assign(components.of.size(), 0);
    components.count = 1;
  }
  std::vector<std::uint32_t> size(components.count, 0);
  for (const std::uint32_t c : components.of) ++size[c];
  const auto together = [&](PointId p, PointId q) {
    return components.of[p.index] == components.of[q.index];
  };

  node_.assign(known_.graph.num_points(), Digraph::kNone);
  for (std::uint32_t p = 0; p < node_.size(); ++p) {
    if (size[components.of[p]] == 1) continue;
    node_[p] = static_cast<Node>(points_.size());
    points_.push_back({p});
  }
  num_components_ = static_cast<std::size_t>(
      std::count_if(size.begin(), size.end(), [](std::uint32_t n) { return n > 1; }));
  known_arcs_ = Digraph::of(points_.size(), [&](auto&& add) {
    known_.graph.for_each_arc([&](PointId p, PointId q) {
      if (together(p, q) && node(p) != Digraph::kNone) add(node(p), node(q));
    });
  });

  const auto loose = std::stable_partition(edges_.begin(), edges_.end(), [&](const ChoiceEdge& e) {
    return together(source(e.edge), target(e.edge));
  });
  loose_edges_.assign(loose, edges_.end());
  edges_.erase(loose, edges_.end());
}

Answers answers_of(const Residue& residue, const Guess& guess) {
  Answers answers;
  for (const Choice& c : residue.choices())
    answers.push_back(guess.committed[c.a.index] < guess.committed[c.b.index]);
  return answers;
}

}  // namespace isoscope::strong
