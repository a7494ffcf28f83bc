#include "check/weak/forced.h"
#include "check/weak/overlap.h"

namespace isoscope {

namespace {

class ReadCommittedPass {
 public:
  ReadCommittedPass(const WeakFacts& facts, ForcedEdges& forced)
      : h_(facts.h), writes_(facts.writes), forced_(forced) {}

  void add_reader(TxnId t3) {
    collect_external_reads(h_, t3, reads_);
    if (reads_.size() < 2) return;
    if (reads_.size() <= kFewReads) {
      force_by_pairs();
    } else {
      force_by_next_reads(t3);
    }
  }

  void finish() {
    std::vector<std::pair<TxnId, TxnId>> seen(h_.num_keys(), {TxnId::none(), TxnId::none()});
    heavy_.for_each(h_, writes_, [&](TxnId t2, TxnId t3, auto&& wrote) {
      bool sees_t2 = false;
      for (EventId e : h_.events(t3)) {
        if (!h_.is_external_read(e)) continue;
        const KeyId x = h_.key(e);
        const TxnId t1 = h_.writer(e);
        if (sees_t2 && wrote(x) && seen[x.index] != std::pair{t2, t3}) {
          seen[x.index] = {t2, t3};
          if (t1 != t2) forced_.add(t2, t1);
        }
        sees_t2 = sees_t2 || t1 == t2;
      }
    });
  }

 private:
  // The axiom, literally. T0 commits first anyway.
  void force_by_pairs() {
    for (std::size_t s = 0; s + 1 < reads_.size(); ++s) {
      const TxnId t2 = reads_[s].t1;
      if (t2 == kInitialTxn || is_seen_before(reads_, s)) continue;
      for (std::size_t r = s + 1; r < reads_.size(); ++r) {
        const auto [x, t1] = reads_[r];
        if (t1 != t2 && (x == reads_[s].x || writes_.writes(t2, x))) forced_.add(t2, t1);
      }
    }
  }

  // From the last read to the first, so that the next read of each key is at hand.
  void force_by_next_reads(TxnId t3) {
    if (next_.empty()) {
      next_.resize(h_.num_keys());
      first_read_.resize(h_.num_txns());
    }
    for (std::size_t s = reads_.size(); s-- > 0;)
      first_read_[reads_[s].t1.index] = static_cast<std::uint32_t>(s);
    for (std::size_t s = reads_.size(); s-- > 0;) {
      const auto [y, t2] = reads_[s];
      if (t2 != kInitialTxn) {
        force_by_next_read(t2, y, t3);
        if (first_read_[t2.index] == s) {
          const auto wrote = writes_.keys(t2);
          if (HeavyPairs::is_heavy(wrote.size(), reads_.size())) {
            heavy_.put_off(t2, t3);
          } else {
            for (KeyId x : wrote) force_by_next_read(t2, x, t3);
          }
        }
      }
      next_[y.index] = {t3, t2};
    }
  }

  void force_by_next_read(TxnId t2, KeyId x, TxnId t3) {
    const NextRead& next = next_[x.index];
    if (next.reader == t3 && next.t1 != t2) forced_.add(t2, next.t1);
  }

  struct NextRead {
    TxnId reader = TxnId::none();
    TxnId t1 = TxnId::none();
  };

  const History& h_;
  const WriteTable& writes_;
  ForcedEdges& forced_;
  HeavyPairs heavy_;
  std::vector<ExternalRead> reads_;
  std::vector<NextRead> next_;             // by key
  std::vector<std::uint32_t> first_read_;  // by writer; of the reader at hand
};

}  // namespace

bool force_read_committed(const WeakFacts& facts, ForcedEdges& forced, Budget& budget) {
  ReadCommittedPass pass(facts, forced);
  for (TxnId t3 : facts.h.txns()) {
    if (budget.expired()) return false;
    if (facts.reads_at(t3, WeakLevel::Rc)) pass.add_reader(t3);
  }
  pass.finish();
  return true;
}

}  // namespace isoscope
