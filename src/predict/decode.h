#pragma once
// From a model of the clauses back to histories.
#include <vector>

#include "predict/encode.h"

namespace isoscope::predict {

// What a model chooses, in words of the observed history.
struct Chosen {
  std::vector<SessionEnd> ends;
  std::vector<TxnId> writer;  // by choice; none() where its reads are not there
};

Chosen decode(const ObservedFacts& facts, const Encoder& encoder, const SatSolver& solver,
              Boundary boundary);

struct PredictedHistory {
  History history;
  std::vector<TxnId> observed_txn;      // by transaction of `history`
  std::vector<EventId> observed_event;  // by event of `history`
};

// The history that the choices describe. `with_later_writes`: a transaction that stops at a read
// still writes what it was observed to write, for levels that look at writers of a common key.
PredictedHistory make_history(const ObservedFacts& facts, const Chosen& chosen,
                              bool with_later_writes);

std::vector<ChangedRead> changed_reads(const ObservedFacts& facts, const Chosen& chosen);

}  // namespace isoscope::predict
