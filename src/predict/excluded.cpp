#include "predict/excluded.h"

#include <algorithm>
#include <set>

#include "history/restrict.h"
#include "relational/normal_form.h"
#include "verdict/involved.h"

namespace isoscope::predict {
namespace {

class Collector {
 public:
  Collector(Encoder& encoder, const ObservedFacts& facts, const PredictedHistory& made,
            const Judged& judged)
      : encoder_(encoder), facts_(facts), h_(made.history), made_(made), judged_(judged) {}

  void add(const Edge& edge) {
    add_txn(edge.from);
    add_txn(edge.to);
    if (!edge.read.is_none()) add_read(edge.read);
    if (!edge.key.is_none()) {
      add_write(edge.from, edge.key);
      add_write(edge.to, edge.key);
    }
    for (const Edge& step : edge.path) add(step);
  }
  void add_txn(TxnId t) {
    if (t != kInitialTxn) lits_.push_back(encoder_.present(made_.observed_txn[t.index]));
  }
  // As much of it as there is.
  void add_extent(TxnId t) {
    if (t == kInitialTxn || judged_.boundary == Boundary::Relaxed) return;
    const TxnId observed = made_.observed_txn[t.index];
    for (const SessionEnd& end : judged_.ends) {
      if (end.boundary != observed) continue;
      if (const auto stop = facts_.choice_of(end.stop)) lits_.push_back(encoder_.stop(*stop));
      return;
    }
    lits_.push_back(encoder_.kept(observed));
  }
  void add_read(EventId e) {
    if (const auto choice = facts_.choice_of(made_.observed_event[e.index]))
      lits_.push_back(encoder_.sees(*choice, made_.observed_txn[h_.writer(e).index]));
  }
  // If t writes the key at all.
  void add_write(TxnId t, KeyId x) {
    if (t == kInitialTxn || judged_.all_writes_count || !h_.writes(t, x)) return;
    for (const EventId e : h_.events(t)) {
      if (!h_.is_write(e) || h_.key(e) != x) continue;
      lits_.push_back(encoder_.writes(made_.observed_txn[t.index],
                                      facts_.history().key(made_.observed_event[e.index])));
      return;
    }
  }

  std::vector<Lit> take() { return std::move(lits_); }

 private:
  Encoder& encoder_;
  const ObservedFacts& facts_;
  const History& h_;
  const PredictedHistory& made_;
  const Judged& judged_;
  std::vector<Lit> lits_;
};

// Does the node speak of nothing but who writes which key, and of orders? And are those that it
// asks for (`wanted`) writers of a key that is named before?
bool speaks_of_writers(const NormalNode& node, bool wanted) {
  using Kind = NormalNode::Kind;
  switch (node.kind) {
    case Kind::Atom:
      if (node.atom == FormulaOp::Member) {
        const RelationOp op = node.relation->op;
        return op == RelationOp::Co || op == RelationOp::Ar || op == RelationOp::Vis ||
               op == RelationOp::So;
      }
      return node.atom == FormulaOp::Writes || node.atom == FormulaOp::Equal;
    case Kind::Exists:
      if (wanted != node.negated) {
        const auto is_bound = [&](const Variable& v) {
          return std::ranges::any_of(node.variables,
                                     [&](const Variable& own) { return own.slot == v.slot; });
        };
        for (const Variable& v : node.variables) {
          if (v.sort != Sort::Txn) return false;
          if (std::ranges::none_of(node.children, [&](const NormalNode& child) {
                return child.kind == Kind::Atom && child.atom == FormulaOp::Writes &&
                       !child.negated && child.a.slot == v.slot && !is_bound(child.b);
              }))
            return false;
        }
      }
      return std::ranges::all_of(node.children, [&](const NormalNode& child) {
        return speaks_of_writers(child, wanted != node.negated);
      });
    case Kind::And:
    case Kind::Or:
      return std::ranges::all_of(
          node.children, [&](const NormalNode& child) { return speaks_of_writers(child, wanted); });
    case Kind::Iff:
    case Kind::Acyclic: return false;
  }
  return false;
}

bool is_by_key(const NormalNode& part) { return speaks_of_writers(part, true); }

}  // namespace

std::vector<Lit> facts_of(Encoder& encoder, const ObservedFacts& facts,
                          const PredictedHistory& made, const Violation& violation,
                          const Judged& judged) {
  const History& h = made.history;
  Collector collector(encoder, facts, made, judged);
  for (const Edge& edge : violation.cycle) collector.add(edge);
  if (violation.cycle.empty()) {
    // No cycle of forced edges: all that the transactions of the core do.
    for (const TxnId t : involved_txns(h, violation)) {
      collector.add_txn(t);
      if (judged.by_text) collector.add_extent(t);
      for (const EventId e : h.events(t)) {
        if (h.is_read(e) && h.is_external_read(e)) collector.add_read(e);
        if (h.is_write(e)) collector.add_write(t, h.key(e));
      }
    }
  }
  return collector.take();
}

std::vector<Lit> facts_of_txns(Encoder& encoder, const ObservedFacts& facts,
                               const PredictedHistory& made, std::span<const TxnId> txns,
                               const Judged& judged) {
  const History& h = made.history;
  Collector collector(encoder, facts, made, judged);
  for (const TxnId t : txns) {
    collector.add_txn(t);
    collector.add_extent(t);
    for (const EventId e : h.events(t)) {
      if (h.is_write(e)) {
        collector.add_write(t, h.key(e));
      } else if (h.is_external_read(e) && std::ranges::binary_search(txns, h.writer(e))) {
        collector.add_read(e);
      }
    }
  }
  return collector.take();
}

Growth growth_of(const Assignment& levels, bool by_text) {
  if (!by_text) return Growth::Monotone;
  std::set<const Level*> all(levels.own.begin(), levels.own.end());
  all.insert(levels.base);
  all.erase(nullptr);
  Growth growth = Growth::Monotone;
  for (const Level* level : all) {
    for (const Axiom& axiom : level->axioms) {
      const NormalForm form = normalize(axiom);
      if (is_monotone(form)) continue;
      // A level of a single transaction among others is not what the part of a key is judged by.
      if (levels.is_mixed() || !std::ranges::all_of(form.parts, is_by_key))
        return Growth::Arbitrary;
      growth = Growth::ByKey;
    }
    // Beside an axiom by key, a monotone one must not look at other keys either.
    if (growth == Growth::ByKey && !std::ranges::all_of(level->axioms, [](const Axiom& axiom) {
          return std::ranges::all_of(normalize(axiom).parts, is_by_key);
        }))
      return Growth::Arbitrary;
  }
  return growth;
}

std::vector<Lit> facts_of_keys(Encoder& encoder, const ObservedFacts& facts,
                               const PredictedHistory& made, std::span<const KeyId> keys,
                               const Judged& judged) {
  const History& h = made.history;
  Collector collector(encoder, facts, made, judged);
  std::set<KeyId> observed_keys;
  std::set<std::pair<TxnId, KeyId>> written;
  for (const TxnId t : h.txns()) {
    if (t == kInitialTxn) continue;
    for (const EventId e : h.events(t)) {
      if (std::ranges::find(keys, h.key(e)) == keys.end()) continue;
      const KeyId x = facts.history().key(made.observed_event[e.index]);
      observed_keys.insert(x);
      if (h.is_read(e)) {
        collector.add_txn(t);
        collector.add_read(e);
      } else if (written.insert({made.observed_txn[t.index], x}).second) {
        collector.add_txn(t);
        collector.add_write(t, h.key(e));
      }
    }
  }
  std::vector<Lit> lits = collector.take();
  for (const KeyId x : observed_keys) {
    for (const TxnId w : facts.writers(x)) {
      if (written.contains({w, x})) continue;
      lits.push_back(~(judged.all_writes_count ? encoder.present(w) : encoder.writes(w, x)));
    }
  }
  return lits;
}

std::vector<KeyId> shrink_keys(const History& h,
                               const std::function<bool(const History&)>& is_enough) {
  std::vector<TxnId> txns(h.txns().begin(), h.txns().end());
  std::vector<KeyId> keys(h.keys().begin(), h.keys().end());
  const auto part_of = [&](const std::vector<KeyId>& kept) {
    std::vector<EventId> events;
    for (const TxnId t : h.txns()) {
      for (const EventId e : h.events(t)) {
        if (std::ranges::find(kept, h.key(e)) != kept.end()) events.push_back(e);
      }
    }
    return restrict_to(h, txns, events);
  };
  for (std::size_t chunk = (keys.size() + 1) / 2; chunk > 0;
       chunk = chunk == 1 ? 0 : (chunk + 1) / 2) {
    for (std::size_t begin = 0; begin < keys.size();) {
      const std::size_t end = std::min(begin + chunk, keys.size());
      std::vector<KeyId> rest(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(begin));
      rest.insert(rest.end(), keys.begin() + static_cast<std::ptrdiff_t>(end), keys.end());
      if (is_enough(part_of(rest))) {
        keys = std::move(rest);
      } else {
        begin = end;
      }
    }
  }
  return keys;
}

std::vector<Lit> facts_beyond(Encoder& encoder, const ObservedFacts& facts,
                              const PredictedHistory& made, const Chosen& chosen,
                              const Relation& pco) {
  const History& observed = facts.history();
  const History& h = made.history;
  std::vector<TxnId> copy_of(observed.num_txns(), TxnId::none());
  for (std::size_t t = 0; t < made.observed_txn.size(); ++t)
    copy_of[made.observed_txn[t].index] = TxnId{static_cast<std::uint32_t>(t)};
  std::vector<Lit> lits;
  for (const std::vector<TxnId>& session : facts.sessions()) {
    for (const TxnId t : session) {
      if (copy_of[t.index].is_none()) {
        lits.push_back(encoder.present(t));
        continue;
      }
      for (const EventId e : observed.events(t)) {
        if (!observed.is_write(e)) continue;
        const KeyId x = observed.key(e);
        const auto writes = h.events(copy_of[t.index]);
        if (std::ranges::none_of(writes, [&](EventId c) {
              return h.is_write(c) && observed.key(made.observed_event[c.index]) == x;
            }))
          lits.push_back(encoder.writes(t, x));
      }
    }
  }
  // Would t, reading x from w, bring anything new?
  const auto is_new = [&](TxnId t, TxnId w, KeyId x) {
    if (!pco.contains(w.index, t.index)) return true;
    return std::ranges::any_of(facts.writers(x), [&](TxnId observed_other) {
      const TxnId other = copy_of[observed_other.index];
      if (other.is_none() || other == t || other == w) return false;
      return (pco.contains(other.index, t.index) && !pco.contains(other.index, w.index)) ||
             (pco.contains(w.index, other.index) && !pco.contains(t.index, other.index));
    });
  };
  for (const ChoiceId c : facts.choices().ids()) {
    const Choice& choice = facts.choices()[c];
    const TxnId t = copy_of[choice.txn.index];
    if (t.is_none()) continue;
    for (const TxnId w : choice.writers) {
      if (w == chosen.writer[c] || copy_of[w.index].is_none()) continue;
      if (is_new(t, copy_of[w.index], choice.key)) lits.push_back(encoder.sees(c, w));
    }
  }
  return lits;
}

}  // namespace isoscope::predict
