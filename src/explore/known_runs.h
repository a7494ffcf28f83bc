#pragma once
// Runs of whole transactions that were executed before. What a transaction does depends only on the
// values that it reads, so where it would read the same values again, the run is looked up instead
// of executed: a scan then costs a comparison a row.
//
// The runs of a call share beginnings. A look-up follows one run as long as the latest values are
// those that it read; where a value differs, it goes on with the run that read that value there.
//
// Reads of keys that no call ever writes always show the same and are not compared, and a key is
// compared once.
//
// Cost  One comparison a distinct key; the memory is bounded: beyond the bound all runs are
//       forgotten.
#include <cstdint>
#include <optional>
#include <vector>

#include "explore/trail.h"

namespace isoscope::explore {

struct KnownRun {
  // A key whose value decides what comes next, in the order of first reads.
  struct Probe {
    ProgramKey key = {};
    std::int64_t value = 0;
  };
  struct Read {
    ProgramKey key;
    std::uint32_t num_writes = 0;  // of the transaction before it
    std::uint32_t num_fixed = 0;   // likewise
  };
  std::vector<Probe> probes = {};
  std::vector<Read> reads = {};
  std::vector<FixedRead> fixed = {};
  std::vector<WriteEvent> writes = {};
  std::vector<std::int64_t> locals = {};
  std::vector<ProgramKey> read_keys = {};     // sorted, without those of fixed reads
  std::vector<ProgramKey> written_keys = {};  // sorted; none if it aborts
  std::optional<AssertionId> failed_assertion = {};
  bool is_committed = false;

  std::size_t size() const {
    return 4 + reads.size() + fixed.size() + probes.size() + writes.size() + locals.size();
  }
};

class KnownRuns {
 public:
  static constexpr std::size_t kMostSize = 500'000;  // of some 16 bytes

  explicit KnownRuns(std::size_t num_calls, std::size_t most_size = kMostSize)
      : calls_(num_calls), most_size_(most_size) {}

  // The run of the call that reads these values: `value_of(key)` tells them. Null if
  // there is none yet.
  template <class ValueOf>
  const KnownRun* find(CallId call, const ValueOf& value_of) {
    const std::vector<Node>& nodes = calls_[call];
    at_ = {};
    if (nodes.empty()) return nullptr;
    for (;; ++at_.position) {
      const Node& node = nodes[at_.node];
      if (at_.position == node.run.probes.size()) return &node.run;
      const KnownRun::Probe& probe = node.run.probes[at_.position];
      const std::int64_t value = value_of(probe.key);
      if (value == probe.value) continue;
      const std::uint32_t other = alternative(nodes, value);
      if (other == 0) return nullptr;
      at_.node = other;
    }
  }

  // Requires: find() for this call has just returned null. The result is valid until the next call.
  const KnownRun& add(CallId call, KnownRun run) {
    size_ += run.size();
    if (size_ > most_size_) {
      const std::size_t size = run.size();
      clear();
      size_ = size;
      at_ = {};
    }
    std::vector<Node>& nodes = calls_[call];
    if (!nodes.empty())
      nodes[at_.node].alternatives.push_back({at_.position, narrow(nodes.size())});
    nodes.push_back({std::move(run), {}});
    return nodes.back().run;
  }

  // Numbers of keys have changed their meaning.
  void clear() {
    for (std::vector<Node>& nodes : calls_) nodes.clear();
    size_ = 0;
  }

 private:
  struct Alternative {
    std::uint32_t position = 0;  // of the probe whose value differs
    std::uint32_t node = 0;
  };
  struct Node {
    KnownRun run;
    std::vector<Alternative> alternatives;
  };
  struct Place {
    std::uint32_t node = 0;
    std::uint32_t position = 0;
  };

  // The first run is no alternative of another.
  std::uint32_t alternative(const std::vector<Node>& nodes, std::int64_t value) const {
    for (const Alternative& each : nodes[at_.node].alternatives) {
      if (each.position == at_.position && nodes[each.node].run.probes[at_.position].value == value)
        return each.node;
    }
    return 0;
  }

  ById<CallId, std::vector<Node>> calls_;
  std::size_t most_size_;
  std::size_t size_ = 0;
  Place at_;  // where the last look-up ended
};

}  // namespace isoscope::explore
