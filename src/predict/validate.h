#pragma once
// Does a prediction come true? Runs the program along it.
//
// The program runs on the store, one transaction after the other in an order that contains the
// predicted so and wr. Each read is directed to the predicted writer, provided that it is a read of
// the same key, that the writer has written it, and that the level allows it; where one of the
// three fails, the run diverges, and goes on with the latest version that the level allows.
// Boundary transactions run last and to their end. Then nothing more runs, lest something happens
// that was not predicted. If no serial order explains what has been committed, the prediction is
// validated. Under strict, what a boundary transaction reads after its stop is open; several ways
// are tried until one does all that was predicted.
// Attempts that aborted when observed are made again, with versions that their sessions know of.
//
// Paper  [GengBlanasBondWang-PLDI'24], section 5.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "predict/predict.h"
#include "program/executable.h"
#include "store/replay.h"

namespace isoscope::predict {

struct Validation {
  bool is_validated = false;
  std::vector<store::Divergence> divergences;
  History history;     // what happened, without attempts that aborted
  CheckAnswer serial;  // at ser: violated if validated
  std::string reason;  // why it is not validated, for people
  bool has_failed_assertion = false;
  // By event of the predicted history: what the run wrote there. Nothing for reads, and where the
  // run did not write that key.
  std::vector<std::optional<std::int64_t>> written;
};

// The predicted history, with what the run wrote in place of values that were not known.
History with_values(const Prediction& prediction, const Validation& validation);

// An error if the prediction's transactions are not the program's, or a transaction cannot go on.
Result<Validation> validate(const Executable& program, const Prediction& prediction,
                            const Level& level, const LevelSet& levels, Boundary boundary,
                            Budget& budget);

}  // namespace isoscope::predict
