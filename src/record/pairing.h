#pragma once
// Which message of the log is of which execution of a gated statement.
//
// Messages and executions of one gate are in the same order. Where their numbers differ, those of
// statements that failed may be missing; beyond that it is not known which belong together. So the
// numbers are counted over the whole run first (GateCounts), and then messages are handed out
// (Pairing).
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "record/decoded_log.h"

namespace isoscope::record {

// How the messages of a gate go with its executions.
enum class GateRule : std::uint8_t {
  InOrder,
  WithoutFailed,  // statements that failed left none
  First,          // one execution, which waited for a row and so ran the gate again
  None,           // not known
};
// Those that are not InOrder.
using GateRules = std::unordered_map<std::uint64_t, GateRule>;

class GateCounts {
 public:
  // `is_cut`: transactions were under way when the log ended.
  explicit GateCounts(bool is_cut) : is_cut_(is_cut) {}

  void add_message(const GateMessage& message);
  void add_execution(std::uint64_t gate, bool has_failed);
  // Every execution so far has left its messages: gates with as many of both are forgotten.
  void end_part();
  GateRules rules() const;

 private:
  struct Count {
    std::size_t messages = 0;
    std::size_t executions = 0;
    std::size_t failed = 0;
    bool has_equal = false;  // two messages in a row that are the same: perhaps of one statement
    std::optional<GateMessage> last = {};
  };
  GateRule rule_of(std::uint64_t gate, const Count& count) const;

  bool is_cut_;
  std::unordered_map<std::uint64_t, Count> counts_;
  std::vector<bool> forgotten_;  // by gate: was it executed before?
};

class Pairing {
 public:
  // `rules` outlives it.
  explicit Pairing(const GateRules& rules) : rules_(rules) {}

  void add(const std::vector<GateMessage>& messages);
  // The message of the next execution of the gate.
  std::optional<GateMessage> take(std::uint64_t gate, bool has_failed);
  // Snapshots of statements that are still to come see every transaction before this one.
  std::uint64_t oldest() const;

 private:
  struct Queue {
    std::vector<GateMessage> messages;
    std::size_t next = 0;
  };
  GateRule rule_of(std::uint64_t gate) const;

  const GateRules& rules_;
  std::unordered_map<std::uint64_t, Queue> queues_;
  std::unordered_set<std::uint64_t> done_;  // gates of the rule First
};

}  // namespace isoscope::record
