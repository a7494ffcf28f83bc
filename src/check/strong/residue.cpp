#include "check/strong/residue.h"

#include <algorithm>

namespace isoscope::strong {
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
