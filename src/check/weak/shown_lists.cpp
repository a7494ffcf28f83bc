#include "check/weak/forced.h"
#include "check/weak/overlap.h"

namespace isoscope {

namespace {

class ShownListsPass {
 public:
  ShownListsPass(const WeakFacts& facts, ForcedEdges& forced)
      : h_(facts.h),
        writes_(facts.writes),
        forced_(forced),
        read_from_(h_.num_keys()),
        first_shown_(h_.num_txns()) {}

  // ra: whatever t3 reads at all must not be older than what it sees.
  void add_atomic(TxnId t3) {
    for (EventId e : h_.events(t3)) enter(e, t3);
    for (EventId e : h_.events(t3)) {
      for (TxnId t2 : h_.also_shown(e)) {
        if (first_shown_[t2.index].reader == t3) continue;
        first_shown_[t2.index] = {t3, e};
        force(t2, t3);
      }
    }
  }

  // rc: the same, for what it reads later. From the last read to the first, so that the next read
  // of each key is at hand.
  void add_committed(TxnId t3) {
    const auto events = h_.events(t3);
    for (EventId e : events) {
      for (TxnId t2 : h_.also_shown(e)) {
        if (first_shown_[t2.index].reader != t3) first_shown_[t2.index] = {t3, e};
      }
    }
    for (std::size_t i = events.size(); i-- > 0;) {
      const EventId e{events.front().index + static_cast<std::uint32_t>(i)};
      for (TxnId t2 : h_.also_shown(e)) {
        if (first_shown_[t2.index].read != e) continue;
        first_shown_[t2.index].read = EventId::none();  // a list may show two of its elements
        force(t2, t3);
      }
      enter(e, t3);
    }
  }

 private:
  void enter(EventId e, TxnId t3) {
    if (h_.is_external_read(e)) read_from_[h_.key(e).index] = {t3, h_.writer(e)};
  }

  // Walks through what t2 wrote. A transaction that wrote much and appended to a list pays for
  // that once per reader of the list.
  void force(TxnId t2, TxnId t3) {
    for (KeyId x : writes_.keys(t2)) {
      const ReadFrom& from = read_from_[x.index];
      if (from.reader == t3 && from.t1 != t2) forced_.add(t2, from.t1);
    }
  }

  struct ReadFrom {
    TxnId reader = TxnId::none();
    TxnId t1 = TxnId::none();
  };
  struct FirstShown {
    TxnId reader = TxnId::none();
    EventId read = EventId::none();
  };

  const History& h_;
  const WriteTable& writes_;
  ForcedEdges& forced_;
  std::vector<ReadFrom> read_from_;      // by key: the latest that was entered
  std::vector<FirstShown> first_shown_;  // by writer
};

}  // namespace

bool force_by_lists(const WeakFacts& facts, ForcedEdges& forced, Budget& budget) {
  ShownListsPass pass(facts, forced);
  for (TxnId t3 : facts.h.txns()) {
    if (budget.expired()) return false;
    if (facts.reads_at(t3, WeakLevel::Ra)) pass.add_atomic(t3);
    if (facts.reads_at(t3, WeakLevel::Rc)) pass.add_committed(t3);
  }
  return true;
}

}  // namespace isoscope
