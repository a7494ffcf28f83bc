#pragma once
// The points of a level's graph, and where each kind of edge leaves and arrives.
//
// ser, psi and ua order whole transactions. si and pc split each transaction t in its start S(t),
// when it takes its snapshot, and its commit C(t):
//
//                    so, wr        ww            rw
//     ser, psi, ua   t  -> t       t  -> t       t  -> t
//     si             C  -> S       C  -> S       S  -> C        and S(t) -> C(t)
//     pc             C  -> S       C  -> C       S  -> C        and S(t) -> C(t)
//
// A chain of transactions is a chain of points too, S before C.
#include <cstdint>

#include "check/strong/facts.h"
#include "check/strong/strong.h"
#include "verdict/verdict.h"

namespace isoscope::strong {

using PointId = Id<struct PointTag>;

class Points {
 public:
  explicit Points(StrongLevel level)
      : split_(level == StrongLevel::Si || level == StrongLevel::Pc ? 1U : 0U),
        ww_to_commit_(level == StrongLevel::Pc) {}

  bool is_split() const { return split_ != 0; }
  std::uint32_t count(std::uint32_t txns) const { return txns << split_; }
  PointId start(TxnId t) const { return {t.index << split_}; }
  PointId commit(TxnId t) const { return {(t.index << split_) | split_}; }
  TxnId txn(PointId p) const { return {p.index >> split_}; }
  bool is_commit(PointId p) const { return split_ == 0 || (p.index & 1U) != 0; }

  PointId source(EdgeKind kind, TxnId t) const {
    return kind == EdgeKind::Rw ? start(t) : commit(t);
  }
  PointId target(EdgeKind kind, TxnId t) const {
    return kind == EdgeKind::Rw || (kind == EdgeKind::Ww && ww_to_commit_) ? commit(t) : start(t);
  }

  // The place of a point on its chain.
  std::uint32_t position(const Facts& facts, PointId p) const {
    return (facts.position(txn(p)) << split_) | (p.index & split_);
  }
  // How many transactions of a chain have their start (their commit) among its first n points.
  std::uint32_t starts_among(std::uint32_t n) const { return (n + split_) >> split_; }
  std::uint32_t commits_among(std::uint32_t n) const { return n >> split_; }

 private:
  std::uint32_t split_;
  bool ww_to_commit_;
};

}  // namespace isoscope::strong
