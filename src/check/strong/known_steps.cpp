#include "check/strong/known_steps.h"

#include <algorithm>

namespace isoscope::strong {

KnownSteps::KnownSteps(const Knowledge& known)
    : facts_(known.graph.facts()), level_(known.graph.level()), order_(known.order) {
  // Saturation stops as soon as it finds a cycle, and may not have come to the later versions yet.
  for (const KeyId x : facts_.history().keys()) {
    for (const VersionId v : facts_.versions(x)) {
      if (facts_.rank(v) == 0) continue;
      for (const GroupId g : facts_.groups(x)) {
        const std::uint32_t before = order_.count_before(VersionId{v.index - 1}, g);
        if (g != facts_.group(v) && before > order_.count_before(v, g))
          order_.set_count_before(v, g, before, known.rounds + 1);
      }
    }
  }
}

std::optional<Entry> KnownSteps::step(EdgeKind kind, Entry from) const {
  switch (level_) {
    case StrongLevel::Ser:
      return Entry::Earlier;
    case StrongLevel::Ua:
      return kind == EdgeKind::Rw ? std::nullopt : std::optional(Entry::Earlier);
    case StrongLevel::Psi:
      if (kind != EdgeKind::Rw) return from;
      break;
    case StrongLevel::Si:
      if (kind != EdgeKind::Rw) return Entry::Earlier;
      break;
    case StrongLevel::Pc:
      if (kind != EdgeKind::Rw) return kind == EdgeKind::Ww ? Entry::Later : Entry::Earlier;
      break;
  }
  return from == Entry::Earlier ? std::optional(Entry::Later) : std::nullopt;
}

std::uint32_t KnownSteps::first_after(VersionId v, GroupId g) const {
  if (v.is_none()) return 0;
  if (g == facts_.group(v)) return facts_.rank(v) + 1;
  const IdRange<VersionId> others = facts_.versions(g);
  std::uint32_t low = 0;
  auto high = static_cast<std::uint32_t>(others.size());
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (order_.is_before(v, VersionId{others.front().index + middle})) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

std::optional<KnownEdge> KnownSteps::find(Spot from, Spot to) const {
  const History& h = facts_.history();
  const TxnId t = from.txn;
  const TxnId u = to.txn;
  if (t == u) return {};
  KnownEdge edge{.from = t, .to = u};
  if (may_enter(EdgeKind::So, from, to) && h.session(t) == h.session(u) &&
      facts_.position(t) < facts_.position(u))
    return edge;
  if (may_enter(EdgeKind::Wr, from, to)) {
    edge.kind = EdgeKind::Wr;
    for (const Access& read : facts_.read(u)) {
      edge.key = read.key;
      if (!read.version.is_none() && facts_.writer(read.version) == t) return edge;
    }
  }
  const auto is_overwritten_by_u = [&](const Access& access) {
    const VersionId w = facts_.version_of(u, access.key);
    return !w.is_none() && facts_.rank(w) >= first_after(access.version, facts_.group(w));
  };
  if (may_enter(EdgeKind::Rw, from, to)) {
    edge.kind = EdgeKind::Rw;
    for (const Access& read : facts_.read(t)) {
      if (!is_overwritten_by_u(read)) continue;
      edge.key = read.key;
      edge.overwritten = read.version.is_none() ? kInitialTxn : facts_.writer(read.version);
      return edge;
    }
  }
  if (may_enter(EdgeKind::Ww, from, to)) {
    edge.kind = EdgeKind::Ww;
    edge.overwritten = kInitialTxn;
    for (const Access& write : facts_.written(t)) {
      edge.key = write.key;
      if (is_overwritten_by_u(write)) return edge;
    }
  }
  return {};
}

}  // namespace isoscope::strong
