#pragma once
// What a violation stands on, as literals: the transactions and the reads that its edges mention.
//
// Whatever else a history contains, if it contains these, the same edges are there and the same
// explanation holds. So they are excluded together, and with them every history that has them.
#include <vector>

#include "predict/decode.h"
#include "predict/encode.h"
#include "verdict/verdict.h"

namespace isoscope::predict {

// The violation is one of `made`. Where `all_writes_count`, a transaction that is there writes all
// that it was observed to write, also after its stop.
std::vector<Lit> facts_of(Encoder& encoder, const ObservedFacts& facts,
                          const PredictedHistory& made, const Violation& violation,
                          bool all_writes_count);

}  // namespace isoscope::predict
