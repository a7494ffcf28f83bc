#include "predict/excluded.h"

#include "verdict/involved.h"

namespace isoscope::predict {
namespace {

class Collector {
 public:
  Collector(Encoder& encoder, const ObservedFacts& facts, const PredictedHistory& made,
            bool all_writes_count)
      : encoder_(encoder),
        facts_(facts),
        h_(made.history),
        made_(made),
        all_writes_count_(all_writes_count) {}

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
  void add_read(EventId e) {
    if (const auto choice = facts_.choice_of(made_.observed_event[e.index]))
      lits_.push_back(encoder_.sees(*choice, made_.observed_txn[h_.writer(e).index]));
  }
  // If t writes the key at all.
  void add_write(TxnId t, KeyId x) {
    if (t == kInitialTxn || all_writes_count_ || !h_.writes(t, x)) return;
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
  bool all_writes_count_;
  std::vector<Lit> lits_;
};

}  // namespace

std::vector<Lit> facts_of(Encoder& encoder, const ObservedFacts& facts,
                          const PredictedHistory& made, const Violation& violation,
                          bool all_writes_count) {
  const History& h = made.history;
  Collector collector(encoder, facts, made, all_writes_count);
  for (const Edge& edge : violation.cycle) collector.add(edge);
  if (violation.cycle.empty()) {
    // No cycle of forced edges: all that the transactions of the core do.
    for (const TxnId t : involved_txns(h, violation)) {
      collector.add_txn(t);
      for (const EventId e : h.events(t)) {
        if (h.is_read(e) && h.is_external_read(e)) collector.add_read(e);
        if (h.is_write(e)) collector.add_write(t, h.key(e));
      }
    }
  }
  return collector.take();
}

}  // namespace isoscope::predict
