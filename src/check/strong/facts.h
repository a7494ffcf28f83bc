#pragma once
// A history as the strong checkers look at it: chains of transactions, and the versions of keys.
//
// A chain is a run of transactions of which each precedes the next in so or wr. Sessions are
// chains; where there are very many of them, sessions that follow one another are joined.
// Reachability is kept per chain (clocks.h), hence fewer chains mean less memory.
//
// A version is one committed final write: a key and its writer. The versions of a key are grouped
// by chain, in chain order, because versions on one chain are ordered already:
//
//     key x      group 0 (chain s1)   T1 < T4 < T9
//                group 1 (chain s3)   T2 < T7          what is open is how the groups interleave
//
// T0 comes first on every key and precedes all others, so it is no version and on no chain; who
// reads a key's initial value is kept by key.
//
// Cost  O(events log events) time, about 24 bytes a read or write.
#include <cstdint>
#include <span>
#include <vector>

#include "check/strong/strong.h"
#include "history/history.h"
#include "verdict/verdict.h"

namespace isoscope::strong {

using ChainId = Id<struct ChainTag>;
using VersionId = Id<struct VersionTag>;  // grouped by key, then chain, then position
using GroupId = Id<struct GroupTag>;      // the versions of one key on one chain

// A key that a transaction reads or writes, and which version of it; none() is the initial value.
struct Access {
  KeyId key;
  VersionId version;
  friend auto operator<=>(const Access&, const Access&) = default;
};

class Facts {
 public:
  // With `join`, long rows of short sessions become chains; else sessions are the chains.
  Facts(const History& h, bool join);
  // With chains that cover all present transactions but T0. Requires: each of a chain is known to
  // come before the next, as if by so or wr.
  Facts(const History& h, std::span<const std::vector<TxnId>> chains);

  const History& history() const { return h_; }
  std::uint32_t num_txns() const { return static_cast<std::uint32_t>(h_.num_txns()); }

  // Transactions. Requires: `t` is present and not T0.
  ChainId chain(TxnId t) const { return chain_[t.index]; }
  std::uint32_t position(TxnId t) const { return position_[t.index]; }
  // The next or previous present transaction of its session, or none().
  TxnId next(TxnId t) const { return next_[t.index]; }
  TxnId previous(TxnId t) const { return previous_[t.index]; }
  bool is_on_chain(TxnId t) const { return !chain_[t.index].is_none(); }

  std::uint32_t num_chains() const { return static_cast<std::uint32_t>(chain_begin_.size() - 1); }
  std::span<const TxnId> txns(ChainId c) const {
    return {chain_txns_.data() + chain_begin_[c.index],
            chain_txns_.data() + chain_begin_[c.index + 1]};
  }
  // All transactions but T0 and absent ones, chain by chain.
  std::span<const TxnId> txns() const { return chain_txns_; }

  // Versions.
  std::uint32_t num_versions() const { return static_cast<std::uint32_t>(version_txn_.size()); }
  std::uint32_t num_groups() const { return static_cast<std::uint32_t>(group_begin_.size() - 1); }
  IdRange<VersionId> versions(KeyId x) const {
    return {group_begin_[key_begin_[x.index]], group_begin_[key_begin_[x.index + 1]]};
  }
  IdRange<GroupId> groups(KeyId x) const { return {key_begin_[x.index], key_begin_[x.index + 1]}; }
  IdRange<VersionId> versions(GroupId g) const {
    return {group_begin_[g.index], group_begin_[g.index + 1]};
  }
  TxnId writer(VersionId v) const { return version_txn_[v.index]; }
  GroupId group(VersionId v) const { return version_group_[v.index]; }
  // Its place among the versions of its group.
  std::uint32_t rank(VersionId v) const { return v.index - group_begin_[group(v).index]; }
  ChainId chain(GroupId g) const { return group_chain_[g.index]; }
  KeyId key(VersionId v) const { return group_key_[group(v).index]; }
  // What t writes, and what it reads from others: each once, by key. Empty for T0.
  std::span<const Access> written(TxnId t) const { return accesses(written_, written_begin_, t); }
  std::span<const Access> read(TxnId t) const { return accesses(read_, read_begin_, t); }
  // The version of x that t writes, or none(). O(log of the keys that t writes).
  VersionId version_of(TxnId t, KeyId x) const;

  // Who reads a version, or the initial value of a key: each once, in order of chain and position.
  std::span<const TxnId> readers(VersionId v) const {
    return {readers_.data() + readers_begin_[v.index],
            readers_.data() + readers_begin_[v.index + 1]};
  }
  std::span<const TxnId> initial_readers(KeyId x) const {
    return {initial_readers_.data() + initial_begin_[x.index],
            initial_readers_.data() + initial_begin_[x.index + 1]};
  }

 private:
  static std::span<const Access> accesses(const std::vector<Access>& all,
                                          const std::vector<std::uint32_t>& begin, TxnId t) {
    return {all.data() + begin[t.index], all.data() + begin[t.index + 1]};
  }
  // Returns the present transactions of each session.
  std::vector<std::vector<TxnId>> follow_sessions();
  void lay_chains(bool join);
  void lay_chain(std::span<const TxnId> txns);
  void collect_versions();
  void collect_written();
  void collect_readers();

  const History& h_;
  // By transaction.
  std::vector<ChainId> chain_;
  std::vector<std::uint32_t> position_;
  std::vector<TxnId> next_;
  std::vector<TxnId> previous_;
  std::vector<Access> written_;
  std::vector<std::uint32_t> written_begin_;
  std::vector<Access> read_;
  std::vector<std::uint32_t> read_begin_;
  // By chain.
  std::vector<TxnId> chain_txns_;
  std::vector<std::uint32_t> chain_begin_;
  // By version, group, key.
  std::vector<TxnId> version_txn_;
  std::vector<GroupId> version_group_;
  std::vector<std::uint32_t> group_begin_;  // first version; one more at the end
  std::vector<ChainId> group_chain_;
  std::vector<KeyId> group_key_;
  std::vector<std::uint32_t> key_begin_;  // first group; one more at the end
  std::vector<TxnId> readers_;
  std::vector<std::uint32_t> readers_begin_;
  std::vector<TxnId> initial_readers_;
  std::vector<std::uint32_t> initial_begin_;
};

// An external read of x in `reader` that names `writer`, or else a list that shows it. Requires:
// there is one.
EventId find_read(const History& h, TxnId reader, KeyId x, TxnId writer);

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
