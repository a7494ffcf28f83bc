#pragma once
// The observed history, as a prediction sees it: who might have read from whom.
//
// A choice is a read that could see another writer, or, at levels where a transaction sees one
// version of a key, all its reads of that key together. Reads of keys that no other writes are
// no choices and do not matter: of the 492 reads of a trace of Smallbank, 23 have a choice.
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/relation.h"
#include "history/history.h"
#include "support/budget.h"
#include "support/by_id.h"

namespace isoscope::predict {

using ChoiceId = Id<struct ChoiceTag>;

struct Choice {
  TxnId txn;
  KeyId key;
  std::vector<EventId> reads;  // in program order
  TxnId observed;
  std::vector<TxnId> writers;  // candidates, ascending, with the observed one; T0 is kInitialTxn
};

class ObservedFacts {
 public:
  // `by_event`: two reads of a key in one transaction may see different versions (rc, true). Once
  // the budget expires, facts are missing: whoever goes on asks it too.
  ObservedFacts(const History& h, bool by_event, Budget& budget);

  const History& history() const { return h_; }
  const ById<ChoiceId, Choice>& choices() const { return choices_; }
  // Choices of a transaction, in program order of their first reads.
  const std::vector<ChoiceId>& choices_of(TxnId t) const { return by_txn_[t]; }
  // The choice that the read belongs to, or nothing.
  std::optional<ChoiceId> choice_of(EventId read) const;
  // Sessions that have committed transactions, each with those in session order.
  const std::vector<std::vector<TxnId>>& sessions() const { return sessions_; }
  std::uint32_t session_of(TxnId t) const { return session_of_[t.index]; }
  std::uint32_t position(TxnId t) const { return position_[t.index]; }  // in its session
  // (so ∪ wr)+ of the observed run.
  bool hb(TxnId a, TxnId b) const {
    return a == kInitialTxn ? b != kInitialTxn : hb_.contains(a.index, b.index);
  }
  // Committed writers of x but T0.
  std::vector<TxnId> writers(KeyId x) const;
  std::size_t num_reads() const { return num_reads_; }

 private:
  void collect_sessions();
  void collect_hb(Budget& budget);
  void collect_choices(bool by_event, Budget& budget);

  const History& h_;
  std::vector<std::vector<TxnId>> sessions_;
  std::vector<std::uint32_t> session_of_;
  std::vector<std::uint32_t> position_;
  Relation hb_;
  ById<ChoiceId, Choice> choices_;
  ById<TxnId, std::vector<ChoiceId>> by_txn_;
  ById<EventId, ChoiceId> choice_of_event_;
  std::size_t num_reads_ = 0;
};

}  // namespace isoscope::predict
