#pragma once
// From a model of the clauses back to histories.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "predict/encode.h"

namespace isoscope::predict {

// What a model chooses, in words of the observed history.
struct Chosen {
  std::vector<SessionEnd> ends;
  ById<ChoiceId, TxnId> writer;  // none() where its reads are not there
};

Chosen decode(const ObservedFacts& facts, const Encoder& encoder, const SatSolver& solver,
              Boundary boundary);

struct PredictedHistory {
  History history;
  std::vector<TxnId> observed_txn;      // by transaction of `history`
  std::vector<EventId> observed_event;  // by event of `history`
};

// What is there besides external reads, and the writes and locks before a transaction stops.
struct Extent {
  // A transaction that stops at a read still writes and locks what it was observed to write and
  // lock, for levels that look at writers of a common key.
  bool later_writes = false;
  // Reads of own writes, for levels that give every statement a snapshot.
  bool own_reads = false;
};

// The history that the choices describe, with its statements and locks. What a transaction writes
// after a read that changes may be any value: it is kUnknownValue. A delete stays one.
PredictedHistory make_history(const ObservedFacts& facts, const Chosen& chosen, Extent extent);

// The same by the ends of sessions; those of which nothing is said are as observed. `writer` is
// asked for reads that are there.
PredictedHistory make_history(const History& observed, std::span<const SessionEnd> ends,
                              const std::function<TxnId(EventId)>& writer, Extent extent);

// Everything as observed.
Chosen as_observed(const ObservedFacts& facts);

// The same history, event by event, with these values in place of what its writes wrote, by event.
History with_written(const History& h, std::span<const std::optional<std::int64_t>> written);

std::vector<ChangedRead> changed_reads(const ObservedFacts& facts, const Chosen& chosen);

}  // namespace isoscope::predict
