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
  collect_readers();
}

void Facts::lay_chains(bool join) {
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
    const ChainId c{static_cast<std::uint32_t>(chain_begin_.size() - 1)};
    std::uint32_t position = 0;
    for (SessionId s = first; !s.is_none(); s = follower[s.index]) {
      for (const TxnId t : members[s.index]) {
        chain_[t.index] = c;
        position_[t.index] = position++;
        chain_txns_.push_back(t);
      }
    }
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
      }
      version_txn_.push_back(writers[i]);
      version_group_.push_back(GroupId{static_cast<std::uint32_t>(group_begin_.size() - 1)});
    }
  }
  key_begin_.push_back(static_cast<std::uint32_t>(group_begin_.size()));
  group_begin_.push_back(num_versions());
}

VersionId Facts::version_of(TxnId t, KeyId x) const {
  if (!is_on_chain(t)) return VersionId::none();
  const IdRange<VersionId> all = versions(x);
  std::uint32_t low = all.begin() == all.end() ? 0 : all.front().index;
  std::uint32_t high = low + static_cast<std::uint32_t>(all.size());
  const auto place = std::pair(chain(t), position(t));
  const std::uint32_t end = high;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const TxnId w = version_txn_[middle];
    if (std::pair(chain(w), position(w)) < place) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < end && version_txn_[low] == t ? VersionId{low} : VersionId::none();
}

void Facts::collect_readers() {
  struct Read {
    std::uint32_t of;  // version, or key for the initial value
    TxnId reader;
  };
  std::vector<Read> reads;
  std::vector<Read> initial_reads;
  for (const TxnId t : chain_txns_) {
    for (const EventId e : h_.events(t)) {
      if (!h_.is_external_read(e)) continue;
      if (h_.writer(e) == kInitialTxn) {
        initial_reads.push_back({h_.key(e).index, t});
      } else {
        const VersionId v = version_of(h_.writer(e), h_.key(e));
        ISO_ASSERT(!v.is_none());
        reads.push_back({v.index, t});
      }
    }
  }
  const auto distribute = [](std::vector<Read>& from, std::size_t n, std::vector<TxnId>& readers,
                             std::vector<std::uint32_t>& begin) {
    // Stable, so that readers stay in order of chain and position, and repeated reads adjacent.
    std::stable_sort(from.begin(), from.end(),
                     [](const Read& a, const Read& b) { return a.of < b.of; });
    begin.assign(n + 1, 0);
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (i > 0 && from[i].of == from[i - 1].of && from[i].reader == from[i - 1].reader) continue;
      readers.push_back(from[i].reader);
      ++begin[from[i].of + 1];
    }
    for (std::size_t i = 0; i < n; ++i) begin[i + 1] += begin[i];
  };
  distribute(reads, num_versions(), readers_, readers_begin_);
  distribute(initial_reads, h_.num_keys(), initial_readers_, initial_begin_);
}

EventId find_read(const History& h, TxnId reader, KeyId x, TxnId writer) {
  for (const EventId e : h.events(reader)) {
    if (h.is_external_read(e) && h.key(e) == x && h.writer(e) == writer) return e;
  }
  ISO_ASSERT(false);
  return EventId::none();
}

}  // namespace isoscope::strong
