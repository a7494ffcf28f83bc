#pragma once
// Likely predictions, found without a solver: one transaction, or two, that miss an update.
//
// The observed run has a serial order. With the versions of each key in that order, its
// dependencies (so, wr, ww, rw) all point forwards. A transaction t that reads an older version
// gets one that points back, to the next writer n of the key, and if n leads to t there is a cycle:
//
//     n --ww, rw, wr, so--> … --> t        t reads x from w        t --rw[x]--> n
//
// Two transactions that each miss an update that leads to the other close a cycle together: a long
// fork, a write skew. These two shapes are most of what is predicted. The cycle may still be undone
// by another order of versions, and the level may forbid it, so each candidate is checked like any
// other.
//
// Cost  O(n^2 / 64) bits for n transactions, and a few steps for each read and version.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "check/weak/weak.h"
#include "graph/relation.h"
#include "predict/decode.h"
#include "predict/facts.h"
#include "predict/predict.h"
#include "support/budget.h"

namespace isoscope::predict {

class QuickSearch {
 public:
  // A choice, and the writer that it sees instead of the observed one.
  struct Change {
    ChoiceId choice = {};
    TxnId writer;
  };
  using Changes = std::vector<Change>;

  // `order` is a serial order of the committed transactions. `base` is a level that the level of
  // the question implies: true, rc, ra or cc.
  QuickSearch(const ObservedFacts& facts, Boundary boundary, WeakLevel base,
              std::span<const TxnId> order, Budget& budget);

  // The most promising first, at most so many.
  std::vector<Changes> single_changes(std::size_t most) const;  // of one read
  std::vector<Changes> missed_updates(std::size_t most) const;  // by one or two transactions

  // The run with these changes: all that comes before the last of the transactions concerned in the
  // serial order, or all that can be kept. Nothing if what they would read is then not there.
  std::optional<Chosen> before(const Changes& changes) const;
  std::optional<Chosen> with_all(const Changes& changes) const;

 private:
  struct Parent {
    TxnId txn;
    ChoiceId choice;  // by which it is read from, or none
    EventId event;    // of the child; none for so
    bool is_causal;   // so or wr
  };
  // t does not see what o wrote, but the versions before.
  struct Missed {
    TxnId t;
    TxnId o;
    Changes changes;
  };

  void collect_versions();
  void collect_parents();
  void collect_ancestors();
  std::uint32_t position_of(TxnId t) const { return t == kInitialTxn ? 0 : position_[t.index]; }
  // The version of the choice's key that follows w in the order, but not by the reader itself.
  TxnId next_version(const Choice& choice, TxnId w) const;
  TxnId previous_version(const Choice& choice) const;
  // Does the parent count, where t stops at this choice or its read of it changes?
  bool counts(const Parent& parent, ChoiceId changed) const;
  bool leads_to(TxnId n, TxnId t, ChoiceId changed) const;
  bool conflicts_directly(TxnId n, TxnId t, ChoiceId changed) const;
  // Does the base level surely forbid that the choice sees w, where n overwrites it?
  bool is_forbidden(ChoiceId c, TxnId w, TxnId n) const;
  std::vector<Missed> missed() const;
  std::optional<Chosen> cut(const Changes& changes, std::uint32_t end) const;

  const ObservedFacts& facts_;
  Boundary boundary_;
  WeakLevel base_;
  Budget& budget_;
  std::vector<TxnId> order_;
  std::vector<std::uint32_t> position_;       // in the order, from 1
  std::vector<std::vector<TxnId>> versions_;  // by key, without T0, in the order
  std::vector<std::vector<Parent>> parents_;  // by transaction
  Relation ancestors_;                        // t to all that lead to it
};

}  // namespace isoscope::predict
