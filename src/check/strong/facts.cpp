#include "check/strong/facts.h"

#include <algorithm>
#include <utility>

#include "support/assert.h"

namespace isoscope::strong {

namespace {

// Up to this many sessions are chains as they are: joining them would save little.
constexpr std::size_t kFewSessions = 64;

// For each session, the session that continues its chain, or none(): one whose first transaction
// reads from the last of this one.
std::vector<SessionId> join_sessions(const History& h,
                                     const std::vector<std::vector<TxnId>>& members) {
  const std::size_t n = members.size();
  std::vector<SessionId> follower(n, SessionId::none());
  std::vector<std::uint32_t> head(n);  // of the chain that the session ends
  for (std::uint32_t s = 0; s < n; ++s) head[s] = s;
  const auto head_of = [&](std::uint32_t s) {
    while (head[s] != s) s = head[s] = head[head[s]];
    return s;
  };
  for (std::uint32_t s = 0; s < n; ++s) {
    if (members[s].empty()) continue;
    for (const EventId e : h.events(members[s].front())) {
      if (!h.is_external_read(e) || h.writer(e) == kInitialTxn) continue;
      const TxnId writer = h.writer(e);
      const std::uint32_t before = h.session(writer).index;
      // The last condition keeps a chain from biting its tail where so and wr form a cycle.
      if (members[before].back() == writer && follower[before].is_none() && head_of(before) != s) {
        follower[before] = SessionId{s};
        head[s] = before;
        break;
      }
    }
  }
  return follower;
}

}  // namespace

Facts::Facts(const History& h, bool join) : h_(h) {
  lay_chains(join);
  collect_versions();
  collect_written();
  collect_readers();
}

Facts::Facts(const History& h, std::span<const std::vector<TxnId>> chains) : h_(h) {
  follow_sessions();
  chain_begin_.push_back(0);
  for (const std::vector<TxnId>& chain : chains) {
    lay_chain(chain);
    chain_begin_.push_back(static_cast<std::uint32_t>(chain_txns_.size()));
  }
  collect_versions();
  collect_written();
  collect_readers();
}

std::vector<std::vector<TxnId>> Facts::follow_sessions() {
  const std::size_t n = h_.num_txns();
  chain_.assign(n, ChainId::none());
  position_.assign(n, 0);
  next_.assign(n, TxnId::none());
  previous_.assign(n, TxnId::none());
  std::vector<std::vector<TxnId>> members(h_.num_sessions());
  for (const SessionId s : h_.sessions()) {
    for (const TxnId t : h_.session_txns(s)) {
      if (!h_.is_present(t)) continue;
      if (!members[s.index].empty()) {
        next_[members[s.index].back().index] = t;
        previous_[t.index] = members[s.index].back();
      }
      members[s.index].push_back(t);
    }
  }
  return members;
}

// Puts the transactions at the end of the chain that is being laid.
void Facts::lay_chain(std::span<const TxnId> txns) {
  const ChainId c{static_cast<std::uint32_t>(chain_begin_.size() - 1)};
  for (const TxnId t : txns) {
    chain_[t.index] = c;
    position_[t.index] = static_cast<std::uint32_t>(chain_txns_.size()) - chain_begin_.back();
    chain_txns_.push_back(t);
  }
}

void Facts::lay_chains(bool join) {
  const std::vector<std::vector<TxnId>> members = follow_sessions();
  const std::vector<SessionId> follower = join && members.size() > kFewSessions
                                              ? join_sessions(h_, members)
                                              : std::vector(members.size(), SessionId::none());
  std::vector<char> follows(members.size(), 0);
  for (const SessionId s : follower) {
    if (!s.is_none()) follows[s.index] = 1;
  }
  chain_begin_.push_back(0);
  for (const SessionId first : h_.sessions()) {
    if (follows[first.index] != 0 || members[first.index].empty()) continue;
    for (SessionId s = first; !s.is_none(); s = follower[s.index]) lay_chain(members[s.index]);
    chain_begin_.push_back(static_cast<std::uint32_t>(chain_txns_.size()));
  }
}

void Facts::collect_versions() {
  std::vector<TxnId> writers;
  const auto in_chain_order = [&](TxnId a, TxnId b) {
    return std::pair(chain(a), position(a)) < std::pair(chain(b), position(b));
  };
  for (const KeyId x : h_.keys()) {
    key_begin_.push_back(static_cast<std::uint32_t>(group_begin_.size()));
    writers.assign(h_.writers(x).begin(), h_.writers(x).end());
    std::erase(writers, kInitialTxn);
    std::sort(writers.begin(), writers.end(), in_chain_order);
    for (std::size_t i = 0; i < writers.size(); ++i) {
      if (i == 0 || chain(writers[i]) != chain(writers[i - 1])) {
        group_begin_.push_back(num_versions());
        group_chain_.push_back(chain(writers[i]));
        group_key_.push_back(x);
      }
      version_txn_.push_back(writers[i]);
      version_group_.push_back(GroupId{static_cast<std::uint32_t>(group_begin_.size() - 1)});
    }
  }
  key_begin_.push_back(static_cast<std::uint32_t>(group_begin_.size()));
  group_begin_.push_back(num_versions());
}

void Facts::collect_written() {
  written_begin_.assign(h_.num_txns() + 1, 0);
  for (const TxnId t : version_txn_) ++written_begin_[t.index + 1];
  for (std::size_t i = 1; i < written_begin_.size(); ++i)
    written_begin_[i] += written_begin_[i - 1];
  written_.resize(version_txn_.size());
  std::vector<std::uint32_t> free(written_begin_.begin(), written_begin_.end() - 1);
  // Keys ascend, and so do those of each transaction.
  for (const KeyId x : h_.keys()) {
    for (const VersionId v : versions(x)) written_[free[writer(v).index]++] = {x, v};
  }
}

VersionId Facts::version_of(TxnId t, KeyId x) const {
  const auto all = written(t);
  const auto found = std::lower_bound(all.begin(), all.end(), x,
                                      [](const Access& a, KeyId key) { return a.key < key; });
  return found != all.end() && found->key == x ? found->version : VersionId::none();
}

void Facts::collect_readers() {
  read_begin_.assign(1, 0);
  for (const TxnId t : h_.txns()) {
    if (is_on_chain(t)) {
      for (const EventId e : h_.events(t)) {
        if (!h_.is_external_read(e)) continue;
        const VersionId v =
            h_.writer(e) == kInitialTxn ? VersionId::none() : version_of(h_.writer(e), h_.key(e));
        ISO_ASSERT(h_.writer(e) == kInitialTxn || !v.is_none());
        read_.push_back({h_.key(e), v});
      }
      const auto first = read_.begin() + read_begin_.back();
      std::sort(first, read_.end());
      read_.erase(std::unique(first, read_.end()), read_.end());
    }
    read_begin_.push_back(static_cast<std::uint32_t>(read_.size()));
  }

  // In chain order, so that the readers of a version are.
  readers_begin_.assign(num_versions() + 1, 0);
  initial_begin_.assign(h_.num_keys() + 1, 0);
  for (const Access& a : read_)
    ++(a.version.is_none() ? initial_begin_[a.key.index + 1] : readers_begin_[a.version.index + 1]);
  for (std::size_t i = 1; i < readers_begin_.size(); ++i)
    readers_begin_[i] += readers_begin_[i - 1];
  for (std::size_t i = 1; i < initial_begin_.size(); ++i)
    initial_begin_[i] += initial_begin_[i - 1];
  readers_.resize(readers_begin_.back());
  initial_readers_.resize(initial_begin_.back());
  std::vector<std::uint32_t> free(readers_begin_.begin(), readers_begin_.end() - 1);
  std::vector<std::uint32_t> initial_free(initial_begin_.begin(), initial_begin_.end() - 1);
  for (const TxnId t : chain_txns_) {
    for (const Access& a : read(t)) {
      if (a.version.is_none()) {
        initial_readers_[initial_free[a.key.index]++] = t;
      } else {
        readers_[free[a.version.index]++] = t;
      }
    }
  }
}

EventId find_read(const History& h, TxnId reader, KeyId x, TxnId writer) {
  for (const EventId e : h.events(reader)) {
    if (h.is_external_read(e) && h.key(e) == x && h.writer(e) == writer) return e;
  }
  for (const EventId e : h.events(reader)) {
    if (h.is_external_read(e) && h.key(e) == x && h.shows(e, writer)) return e;
  }
  ISO_ASSERT(false);
  return EventId::none();
}

}  // namespace isoscope::strong
