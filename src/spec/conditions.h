#pragma once
// What a framework demands of its orders, whatever the level; part of spec/evaluate.h.
#include <optional>
#include <vector>

#include "spec/evaluate.h"
#include "spec/statements.h"

namespace isoscope {

// The demands, with what they need of the history looked up once.
class Conditions {
 public:
  Conditions(const History& h, const Assignment& levels);

  // The first demand that fails: on the history and the order co or ar, and then on vis or snap.
  // The second requires the first to be met, and a vis over vis, ar.
  std::optional<Failure> check_order(const Witness& witness);
  std::optional<Failure> check_views(const Witness& witness) const;

  // What every vis contains: wr, and so as far as the levels have it. Requires: over vis, ar.
  Relation least_vis() const;

 private:
  // `before` stands before `after` in every co and ar.
  struct Precedence {
    TxnId before;
    TxnId after;
    std::string_view why;
  };
  struct ExternalRead {
    EventId read;
    KeyId x;
    TxnId t1;  // the writer
    TxnId t3;  // the reader
  };

  std::optional<Failure> check_positions(const std::vector<TxnId>& order);
  std::optional<Failure> check_pairs(const Relation& vis) const;
  std::optional<Failure> check_ext(const Relation& vis) const;
  std::optional<Failure> check_snapshots(const std::vector<std::uint32_t>& snap) const;
  std::optional<Failure> check_read_states(const std::vector<std::uint32_t>& snap) const;
  bool in_order(TxnId a, TxnId b) const { return position_[a.index] < position_[b.index]; }

  const History& h_;
  Framework framework_;
  std::vector<Precedence> precedences_;
  Relation so_;  // as far as vis must contain it
  std::vector<ExternalRead> reads_;
  std::optional<StatementFacts> statements_;  // over co, snap
  std::size_t present_ = 0;
  std::vector<std::uint32_t> position_;  // in the order that is being checked
};

}  // namespace isoscope
