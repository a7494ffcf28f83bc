#pragma once
// From one observed run to runs of the same program that an isolation level allows and no serial
// order explains.
//
// A predicted history is a consistent cut of the observed one (whole transactions, closed under so
// and observed wr, reads as observed) and, in each session, at most one boundary transaction: the
// next one, which no transaction reads from, and whose reads may see other writers of the cut:
//
//   relaxed   the boundary transaction is there whole, and all its reads are free
//   strict    it stops at one read, which sees another writer; its earlier reads are as observed,
//             and only its writes before that read count
//   strict+   as strict, but other sessions may read what it wrote before it stops; and what it was
//             observed to write later counts for the level, though not for serializability, so
//             that its going on cannot take the prediction back
//
// What happened after a changed read may not happen again, so it is left out; what is left is a run
// that the program can be steered into (validate.h), as far as the observed reads tell.
//
// Exact     decides whether the space has an unserializable history that the level allows. "No
//           serial order" becomes Horn clauses over how far each session is (encode.h), so no
//           quantifier is left. The paper's exact encoding has one, and no answer on most traces.
// Approx    only histories whose pco is cyclic, the paper's sufficient condition: so, wr, ww and rw
//           that every serial order must contain, as a least fixed point (pco.h). For comparison.
// Levels    rc, ra and cc are encoded as far as two choices contradict each other; everything else
//           that a level forbids is found by `check` on a candidate and excluded by the reads and
//           transactions of its explanation. So every level works that `check` decides.
// Parts     A trace that falls into parts which share no key and no session is decided part by
//           part: orders of the parts, one after the other, are an order of the whole (parts.h).
//           And before any clause is written, the likely predictions are tried: one or two
//           transactions that miss an update (quick.h).
// Trust     Each prediction is checked: the level holds, ser does not, and both reasons are
//           confirmed by code that shares nothing with this engine (check/check.h).
//
// Paper     [GengBlanasBondWang-PLDI'24], sections 4.1 to 4.5 and Appendix B.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/check.h"
#include "history/history.h"
#include "spec/levels.h"
#include "support/budget.h"
#include "support/result.h"

namespace isoscope::predict {

enum class Boundary : std::uint8_t { Strict, StrictPlus, Relaxed };
std::string_view name_of(Boundary boundary);  // strict, strict+, relaxed
enum class Encoding : std::uint8_t { Exact, Approx };

struct PredictOptions {
  Boundary boundary = Boundary::Relaxed;
  Encoding encoding = Encoding::Exact;
  bool minimal = true;   // the fewest changed reads first
  std::size_t most = 1;  // predictions, with different transactions in their cycles
  // Parts of the trace that share neither keys nor sessions are searched one by one, and likely
  // predictions are tried before there are clauses. Off to compare, in tests.
  bool by_parts = true;
  bool quick = true;
  Progress progress = {};
};

// A read that sees another writer than in the observed run. Ids are those of the observed history.
struct ChangedRead {
  EventId read;
  TxnId observed;
  TxnId predicted;
};

// How far a session goes.
struct SessionEnd {
  SessionId session;
  std::size_t kept = 0;            // whole transactions, as observed
  TxnId boundary = TxnId::none();  // the one after them, if it is there
  EventId stop = EventId::none();  // strict: the read at which it stops
  friend bool operator==(const SessionEnd&, const SessionEnd&) = default;
};

// What a boundary transaction writes after a read that changes is not known without the program.
inline constexpr std::string_view kUnknownValue = "?";

struct Prediction {
  History history;                  // with kUnknownValue where a value is not known
  std::vector<TxnId> observed_txn;  // by transaction of `history`: which one it is
  std::vector<ChangedRead> changed;
  std::vector<SessionEnd> ends;
  CheckAnswer allowed;         // by the level: consistent
  CheckAnswer unserializable;  // at ser: violated, by a cycle with a changed transaction if any
  // Is it certain that no prediction, but those given before, changes fewer reads?
  bool is_fewest = true;
  // Does a changed read stand for itself, or for all reads of its version in its transaction?
  bool by_event = false;
};

using PredictOutcome = Outcome;  // Predicted, None, Unknown

struct PredictAnswer : Answer {
  std::vector<Prediction> predictions;
  bool is_complete = false;  // are these all, up to the transactions of their cycles?
  // What it took.
  std::size_t reads = 0;       // external reads of the observed history
  std::size_t choices = 0;     // of them, or groups of them, that could see another writer
  std::size_t literals = 0;    // in clauses
  std::size_t candidates = 0;  // histories that the solver proposed
  double generation_seconds = 0;
  double solving_seconds = 0;
};

// Is this a run to predict from? An error if it is serializable and violates the level, or has list
// keys or inexcusable reads. Aborted transactions are none of predict's business.
//
// An observed run that no serial order explains is an answer itself: it is returned as a prediction
// without changed reads. Its `allowed` may be Violated, if the run breaks the level too.
Result<std::optional<Prediction>> check_observed(const History& observed, const Level& level,
                                                 const LevelSet& levels, Budget& budget);

// Requires: check_observed() returned nothing, and no error.
PredictAnswer predict(const History& observed, const Level& level, const LevelSet& levels,
                      const PredictOptions& options, Budget& budget);

}  // namespace isoscope::predict
