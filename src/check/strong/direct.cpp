#include "check/strong/direct.h"

namespace isoscope::strong {
namespace {

// Since when it is known that a version comes before another, if it is known, and before `round`
// where one is given (then the answer is exact).
std::optional<std::uint32_t> find_order(const Knowledge& known, VersionId before, VersionId after,
                                        std::optional<std::uint32_t> round) {
  if (!known.order.is_before(before, after)) return {};
  if (!round) return 0;
  const auto since = known.order.known_since(before, after);
  return since && *since <= *round ? since : std::nullopt;
}

// A list that `to` reads and that shows an element of `from`, or none().
KeyId list_that_shows(const History& h, TxnId from, TxnId to) {
  if (!h.has_lists()) return KeyId::none();
  for (const EventId e : h.events(to)) {
    if (h.is_external_read(e) && h.shows(e, from)) return h.key(e);
  }
  return KeyId::none();
}

}  // namespace

std::optional<KnownEdge> find_dependency(const Knowledge& known, TxnId from, TxnId to,
                                         std::optional<std::uint32_t> round) {
  const Facts& facts = known.graph.facts();
  if (facts.history().so(from, to)) return KnownEdge{.from = from, .to = to, .kind = EdgeKind::So};
  for (const Access& read : facts.read(to)) {
    if (!read.version.is_none() && facts.writer(read.version) == from)
      return KnownEdge{.from = from, .to = to, .key = read.key, .kind = EdgeKind::Wr};
  }
  if (const KeyId x = list_that_shows(facts.history(), from, to); !x.is_none())
    return KnownEdge{.from = from, .to = to, .key = x, .kind = EdgeKind::Wr};
  std::optional<KnownEdge> found;
  for (const Access& write : facts.written(to)) {
    const VersionId before = facts.version_of(from, write.key);
    if (before.is_none()) continue;
    const auto since = find_order(known, before, write.version, round);
    if (since && (!found || *since < found->round)) {
      found = KnownEdge{
          .from = from, .to = to, .key = write.key, .kind = EdgeKind::Ww, .round = *since};
    }
  }
  return found;
}

std::optional<KnownEdge> find_rw(const Knowledge& known, TxnId from, TxnId to,
                                 std::optional<std::uint32_t> round) {
  const Facts& facts = known.graph.facts();
  std::optional<KnownEdge> found;
  for (const auto& [key, version] : facts.read(from)) {
    const VersionId after = facts.version_of(to, key);
    if (after.is_none() || after == version || from == to) continue;
    const bool is_initial = version.is_none();
    const auto since = is_initial ? std::optional(0U) : find_order(known, version, after, round);
    if (since && (!found || *since < found->round)) {
      found = KnownEdge{.from = from,
                        .to = to,
                        .key = key,
                        .overwritten = is_initial ? kInitialTxn : facts.writer(version),
                        .kind = EdgeKind::Rw,
                        .round = *since};
    }
  }
  return found;
}

void find_opposed_rw(Knowledge& known, Budget& budget) {
  const Facts& facts = known.graph.facts();
  for (const TxnId p : facts.txns()) {
    for (const Access& read : facts.read(p)) {
      for (const VersionId v : facts.versions(read.key)) {
        if (budget.expired()) return;
        const TxnId q = facts.writer(v);
        if (q == p || !find_dependency(known, q, p)) continue;
        if (const auto rw = find_rw(known, p, q, known.rounds + 1)) {
          known.returned.push_back(*rw);
          return;
        }
      }
    }
  }
}

void DirectRules::run_round(Budget& budget) {
  const bool is_first = !done_;
  if (is_first) done_.emplace(facts_, false);
  for (const TxnId p : facts_.txns()) {
    if (is_first) respect_facts(p);
    if (budget.expired()) return;
  }
  for (const KeyId x : facts_.history().keys()) {
    for (const VersionId a : facts_.versions(x)) {
      if (budget.expired()) return;
      for (const GroupId g : facts_.groups(x)) {
        const std::uint32_t first = facts_.versions(g).front().index;
        // Versions of one session are ordered from the start, and count as done.
        const bool is_own = g == facts_.group(a);
        const std::uint32_t done = is_own && is_first ? 0 : done_->count_before(a, g);
        const std::uint32_t count = known_.order.count_before(a, g);
        for (std::uint32_t i = done; i < count; ++i) on_ordered(VersionId{first + i}, a);
        done_->set_count_before(a, g, count, 0);
      }
    }
  }
}

// p sees what its session wrote before it, and whom it reads from; and whoever writes what it read
// from T0 overwrites it. Of its session, the last write to a key stands for all.
void DirectRules::respect_facts(TxnId p) {
  for (const Access& read : facts_.read(p)) {
    for (const GroupId g : facts_.groups(read.key)) {
      if (facts_.chain(g) != facts_.chain(p)) continue;
      const IdRange<VersionId> own = facts_.versions(g);
      std::uint32_t earlier = 0;
      while (earlier < own.size() &&
             facts_.position(facts_.writer(VersionId{own.front().index + earlier})) <
                 facts_.position(p))
        ++earlier;
      if (earlier > 0) overtake(p, read, VersionId{own.front().index + earlier - 1});
    }
    if (!read.version.is_none()) {
      respect(p, facts_.writer(read.version));
    } else if (!facts_.written(p).empty()) {
      for (const VersionId v : facts_.versions(read.key)) overwrite(p, facts_.writer(v));
    }
  }
  const History& h = facts_.history();
  if (!h.has_lists()) return;
  for (const EventId e : h.events(p)) {
    for (const TxnId q : h.also_shown(e)) respect(p, q);
  }
}

void DirectRules::on_ordered(VersionId before, VersionId after) {
  const TxnId q = facts_.writer(before);
  const TxnId p = facts_.writer(after);
  respect(p, q);
  for (const TxnId r : facts_.readers(before)) overwrite(r, p);
}

// rw(r, w): r comes first on what both write.
void DirectRules::overwrite(TxnId r, TxnId w) {
  if (r == w) return;
  for (const Access& write : facts_.written(r)) {
    const VersionId v = facts_.version_of(w, write.key);
    if (!v.is_none()) force(write.version, v);
  }
}

// p depends on q, hence sees what q wrote.
void DirectRules::respect(TxnId p, TxnId q) {
  for (const Access& read : facts_.read(p)) {
    const VersionId v = facts_.version_of(q, read.key);
    if (!v.is_none()) overtake(p, read, v);
  }
}

// p sees the version q of what it reads: q comes before the version that it read.
void DirectRules::overtake(TxnId p, const Access& read, VersionId q) {
  if (q == read.version) return;
  if (!read.version.is_none()) return force(q, read.version);
  known_.returned.push_back({.from = p,
                             .to = facts_.writer(q),
                             .key = read.key,
                             .kind = EdgeKind::Rw,
                             .round = known_.rounds + 1});
}

// `before` comes before `after`; if the opposite is known too, that is a cycle of two edges.
void DirectRules::force(VersionId before, VersionId after) {
  if (known_.order.is_before(before, after)) return;
  ++known_.rounds;  // what follows in this round may build on it
  known_.graph.add({.from = facts_.writer(before),
                    .to = facts_.writer(after),
                    .key = facts_.key(before),
                    .kind = EdgeKind::Ww,
                    .round = known_.rounds});
  const GroupId g = facts_.group(before);
  if (g == facts_.group(after)) return;  // against its session: a cycle as well
  known_.order.set_count_before(after, g, facts_.rank(before) + 1, known_.rounds);
}

}  // namespace isoscope::strong
