#include "check/weak/forced.h"
#include "check/weak/overlap.h"

namespace isoscope {

namespace {

class ReadAtomicPass {
 public:
  ReadAtomicPass(const WeakFacts& facts, ForcedEdges& forced)
      : h_(facts.h), writes_(facts.writes), forced_(forced), last_writer_(h_.num_keys()) {}

  // Transactions must come in session order, session by session.
  void add_reader(TxnId t3) {
    collect_external_reads(h_, t3, reads_);
    force_by_session(t3);
    if (reads_.size() < 2) return;
    if (reads_.size() <= kFewReads) {
      force_by_pairs();
    } else {
      force_by_writers(t3);
    }
  }

  void add_writer(TxnId t) {
    for (KeyId x : writes_.keys(t)) last_writer_[x.index] = {h_.session(t), t};
  }

  void finish() {
    heavy_.for_each(h_, writes_, [&](TxnId t2, TxnId t3, auto&& wrote) {
      for (EventId e : h_.events(t3)) {
        if (h_.is_external_read(e) && h_.writer(e) != t2 && wrote(h_.key(e)))
          forced_.add(t2, h_.writer(e));
      }
    });
  }

 private:
  void force_by_session(TxnId t3) {
    for (const auto& [x, t1] : reads_) {
      const LastWriter& last = last_writer_[x.index];
      if (last.session == h_.session(t3) && last.t2 != t1) forced_.add(last.t2, t1);
    }
  }

  // The axiom, literally. T0 commits first anyway.
  void force_by_pairs() {
    for (std::size_t s = 0; s < reads_.size(); ++s) {
      const TxnId t2 = reads_[s].t1;
      if (t2 == kInitialTxn || is_seen_before(reads_, s)) continue;
      for (const auto& [x, t1] : reads_) {
        if (t1 != t2 && (x == reads_[s].x || writes_.writes(t2, x))) forced_.add(t2, t1);
      }
    }
  }

  void force_by_writers(TxnId t3) {
    if (read_from_.empty()) {
      read_from_.resize(h_.num_keys());
      last_reader_.resize(h_.num_txns(), TxnId::none());
    }
    for (const auto& [x, t1] : reads_) {
      ReadFromTwo& from = read_from_[x.index];
      if (from.reader != t3) {
        from = {t3, t1, t1};
      } else if (from.first == from.second) {
        from.second = t1;
      }
    }
    for (const auto& [y, t2] : reads_) {
      if (t2 == kInitialTxn || last_reader_[t2.index] == t3) continue;
      last_reader_[t2.index] = t3;
      const auto wrote = writes_.keys(t2);
      if (HeavyPairs::is_heavy(wrote.size(), reads_.size())) {
        heavy_.put_off(t2, t3);
        continue;
      }
      for (KeyId x : wrote) {
        const ReadFromTwo& from = read_from_[x.index];
        if (from.reader != t3) continue;
        if (from.first != t2) forced_.add(t2, from.first);
        if (from.second != t2 && from.second != from.first) forced_.add(t2, from.second);
      }
    }
  }

  struct LastWriter {
    SessionId session = SessionId::none();
    TxnId t2 = TxnId::none();
  };
  // The first two writers of a key that a reader sees; the same one twice if there is only one.
  struct ReadFromTwo {
    TxnId reader = TxnId::none();
    TxnId first = TxnId::none();
    TxnId second = TxnId::none();
  };

  const History& h_;
  const WriteTable& writes_;
  ForcedEdges& forced_;
  HeavyPairs heavy_;
  std::vector<ExternalRead> reads_;
  std::vector<LastWriter> last_writer_;  // by key
  std::vector<ReadFromTwo> read_from_;   // by key
  std::vector<TxnId> last_reader_;       // by writer
};

}  // namespace

bool force_read_atomic(const WeakFacts& facts, ForcedEdges& forced, Budget& budget) {
  ReadAtomicPass pass(facts, forced);
  for (SessionId s : facts.h.sessions()) {
    for (TxnId t : facts.h.session_txns(s)) {
      if (budget.expired()) return false;
      if (facts.reads_at(t, WeakLevel::Ra)) pass.add_reader(t);
      pass.add_writer(t);
    }
  }
  pass.finish();
  return true;
}

}  // namespace isoscope
