#pragma once
// Reads the orders back from a model of the variables of encode.h.
#include <cstdint>
#include <vector>

#include "check/ground/encode.h"
#include "history/execution.h"
#include "sat/circuit.h"

namespace isoscope {

struct Decoded {
  // Signals of the order that are true in the model but cannot be so together: the undecided edges
  // of a cycle each, with as few of them as possible. If there are any, nothing else is set.
  std::vector<std::vector<Signal>> cycles;
  std::vector<std::uint32_t> order;  // all present transactions by position
  BitMatrix vis;                     // empty but over vis, ar
  // Over co, snap, by read: how many of the first transactions of the order its snapshot has.
  std::vector<std::uint32_t> snap;
};

// Requires: the circuit's last solve() answered Sat, and the encoding has made no variable since.
// Once the budget expires, cycles are missing.
Decoded decode(const Encoding& encoding, const Circuit& circuit, Budget& budget);

// The orders as matrices of which everything is known.
WitnessBounds exact_bounds(const Decoded& decoded, Framework framework);

// The orders in terms of the history.
Witness to_witness(const Decoded& decoded, const Encoding& encoding);

}  // namespace isoscope
