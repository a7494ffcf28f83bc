#pragma once
// What a violation stands on, as literals: the transactions and the reads that its edges mention.
//
// Whatever else a history contains, if it contains these, the same edges are there and the same
// explanation holds. So they are excluded together, and with them every history that has them.
#include <functional>
#include <span>
#include <vector>

#include "graph/relation.h"
#include "predict/decode.h"
#include "predict/encode.h"
#include "spec/level.h"
#include "verdict/verdict.h"

namespace isoscope::predict {

// How a candidate was judged.
struct Judged {
  // A transaction that is there writes all that it was observed to write, also after its stop.
  bool all_writes_count = false;
  // By axioms that may speak of what a transaction does not do: how much of a transaction is there
  // counts then, too.
  bool by_text = false;
  Boundary boundary = Boundary::Relaxed;
  std::span<const SessionEnd> ends = {};
};

// The violation is one of `made`.
std::vector<Lit> facts_of(Encoder& encoder, const ObservedFacts& facts,
                          const PredictedHistory& made, const Violation& violation,
                          const Judged& judged);

// All that these transactions of `made` do, and read from each other.
std::vector<Lit> facts_of_txns(Encoder& encoder, const ObservedFacts& facts,
                               const PredictedHistory& made, std::span<const TxnId> txns,
                               const Judged& judged);

// What of a violated history has to be there again, for a history to be violated too?
enum class Growth : std::uint8_t {
  Monotone,   // the transactions of the explanation, whatever else is there
  ByKey,      // the events of some keys, and no other writer of those keys
  Arbitrary,  // all of it, for all that is known
};
// By the texts of the levels; built-in levels with a Logic are Monotone. nlu, where a writer
// between two others takes a demand away, is ByKey.
Growth growth_of(const Assignment& levels, bool by_text);

// For Growth::ByKey: who writes these keys, who does not though it could, and what is read of them.
std::vector<Lit> facts_of_keys(Encoder& encoder, const ObservedFacts& facts,
                               const PredictedHistory& made, std::span<const KeyId> keys,
                               const Judged& judged);

// Keys of h such that `is_enough` of the history of their events alone, and of no part of them.
// Requires: is_enough(h).
std::vector<KeyId> shrink_keys(const History& h,
                               const std::function<bool(const History&)>& is_enough);

// For a history without a cycle of pco: what else could close one. `pco` is closed, so a history
// whose facts are all among those of `made`, or bring nothing into pco that is not there, has no
// cycle either.
std::vector<Lit> facts_beyond(Encoder& encoder, const ObservedFacts& facts,
                              const PredictedHistory& made, const Chosen& chosen,
                              const Relation& pco);

}  // namespace isoscope::predict
