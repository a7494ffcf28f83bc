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

// Calls f(x, writer) for every external read of t.
template <class F>
void for_each_read(const History& h, TxnId t, F&& f) {
  for (const EventId e : h.events(t)) {
    if (h.is_external_read(e)) f(h.key(e), h.writer(e));
  }
}

class DirectRound {
 public:
  explicit DirectRound(Knowledge& known)
      : known_(known), facts_(known.graph.facts()), h_(facts_.history()) {}

  void run(Budget& budget) {
    for (const TxnId p : facts_.txns()) {
      if (budget.expired()) return;
      for_each_read(h_, p, [&](KeyId y, TxnId c) { respect_session(p, y, c); });
      for_each_read(h_, p, [&](KeyId, TxnId q) { respect(p, q); });
      for_each_overwritten(p, [&](TxnId q) { respect(p, q); });
    }
    for_each_open_pair(known_.order, [&](KeyId x, VersionId a, VersionId b) {
      if (find_rw(known_, facts_.writer(a), facts_.writer(b))) force(x, a, b);
      if (find_rw(known_, facts_.writer(b), facts_.writer(a))) force(x, b, a);
      return !budget.expired();
    });
  }

 private:
  // Calls f(q) for every q known to come before p on a key that p writes.
  template <class F>
  void for_each_overwritten(TxnId p, F&& f) {
    for (const EventId e : h_.events(p)) {
      if (!h_.is_final_write(e)) continue;
      const VersionId v = facts_.version_of(p, h_.key(e));
      if (v.is_none()) continue;
      for (const GroupId g : facts_.groups(h_.key(e))) {
        const std::uint32_t first = facts_.versions(g).front().index;
        for (std::uint32_t i = 0; i < known_.order.count_before(v, g); ++i)
          f(facts_.writer(VersionId{first + i}));
      }
    }
  }

  // p reads y from c, although its session wrote y before: the last such write stands for all.
  void respect_session(TxnId p, KeyId y, TxnId c) {
    for (const GroupId g : facts_.groups(y)) {
      if (facts_.chain(g) != facts_.chain(p)) continue;
      VersionId last = VersionId::none();
      for (const VersionId v : facts_.versions(g)) {
        if (facts_.position(facts_.writer(v)) < facts_.position(p)) last = v;
      }
      if (!last.is_none()) overtake(p, y, c, last);
    }
  }

  // p depends on q, hence sees what q wrote.
  void respect(TxnId p, TxnId q) {
    for_each_read(h_, p, [&](KeyId y, TxnId c) {
      const VersionId v = facts_.version_of(q, y);
      if (!v.is_none()) overtake(p, y, c, v);
    });
  }

  // p reads y from c and sees the version q of y: q comes before c.
  void overtake(TxnId p, KeyId y, TxnId c, VersionId q) {
    if (facts_.writer(q) == c) return;
    if (c == kInitialTxn) {
      known_.returned.push_back({.from = p,
                                 .to = facts_.writer(q),
                                 .key = y,
                                 .kind = EdgeKind::Rw,
                                 .round = known_.rounds + 1});
      return;
    }
    force(y, q, facts_.version_of(c, y));
  }

  // `before` comes before `after`; if the opposite is known too, that is a cycle of two edges.
  void force(KeyId x, VersionId before, VersionId after) {
    if (known_.order.is_before(before, after)) return;
    ++known_.rounds;  // what follows in this pass may build on it
    const KnownEdge edge{.from = facts_.writer(before),
                         .to = facts_.writer(after),
                         .key = x,
                         .kind = EdgeKind::Ww,
                         .round = known_.rounds};
    known_.graph.add(edge);
    if (facts_.group(before) == facts_.group(after)) return;  // against its chain: a cycle as well
    known_.order.set_count_before(after, facts_.group(before), facts_.rank(before) + 1,
                                  known_.rounds);
  }

  Knowledge& known_;
  const Facts& facts_;
  const History& h_;
};

}  // namespace

std::optional<KnownEdge> find_dependency(const Knowledge& known, TxnId from, TxnId to,
                                         std::optional<std::uint32_t> round) {
  const Facts& facts = known.graph.facts();
  const History& h = facts.history();
  if (h.so(from, to)) return KnownEdge{.from = from, .to = to, .kind = EdgeKind::So};
  std::optional<KnownEdge> found;
  for (const EventId e : h.events(to)) {
    const KeyId x = h.key(e);
    if (h.is_external_read(e) && h.writer(e) == from)
      return KnownEdge{.from = from, .to = to, .key = x, .kind = EdgeKind::Wr};
    if (!h.is_final_write(e)) continue;
    const VersionId before = facts.version_of(from, x);
    const VersionId after = facts.version_of(to, x);
    if (before.is_none() || after.is_none()) continue;
    const auto since = find_order(known, before, after, round);
    if (since && (!found || *since < found->round))
      found = KnownEdge{.from = from, .to = to, .key = x, .kind = EdgeKind::Ww, .round = *since};
  }
  return found;
}

std::optional<KnownEdge> find_rw(const Knowledge& known, TxnId from, TxnId to,
                                 std::optional<std::uint32_t> round) {
  const Facts& facts = known.graph.facts();
  std::optional<KnownEdge> found;
  for_each_read(facts.history(), from, [&](KeyId y, TxnId c) {
    const VersionId after = facts.version_of(to, y);
    if (after.is_none() || c == to || from == to) return;
    const auto since = c == kInitialTxn ? std::optional(0U)
                                        : find_order(known, facts.version_of(c, y), after, round);
    if (since && (!found || *since < found->round)) {
      found = KnownEdge{.from = from,
                        .to = to,
                        .key = y,
                        .overwritten = c,
                        .kind = EdgeKind::Rw,
                        .round = *since};
    }
  });
  return found;
}

void find_opposed_rw(Knowledge& known, Budget& budget) {
  const Facts& facts = known.graph.facts();
  for (const TxnId p : facts.txns()) {
    for_each_read(facts.history(), p, [&](KeyId y, TxnId) {
      for (const VersionId v : facts.versions(y)) {
        const TxnId q = facts.writer(v);
        if (!known.returned.empty() || budget.expired()) return;
        if (q == p || !find_dependency(known, q, p)) continue;
        if (const auto rw = find_rw(known, p, q, known.rounds + 1)) known.returned.push_back(*rw);
      }
    });
  }
}

void saturate_directly(Knowledge& known, Budget& budget) { DirectRound(known).run(budget); }

}  // namespace isoscope::strong
