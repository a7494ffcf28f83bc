#pragma once
// The parts of a trace that have nothing to do with each other.
//
// Two sessions belong together if both use a key that one of them writes. The history of a part is
// that of its sessions. Where every level has a Logic, the whole satisfies them if and only if each
// part does, and the same for ser: put the orders of the parts one after the other. What a read of
// a part demands is about writers of its key, all of the same part, and no path of co (or of ar and
// vis, where all of a part sees all of the parts before it) from one to the other leaves the part.
// So a prediction of a part, with all other sessions as observed, is one of the whole; and if no
// part has one, the whole has none: of a prediction of the whole, some part is unserializable, and
// the level allows it.
#include <vector>

#include "predict/predict.h"

namespace isoscope::predict {

// Sessions with committed transactions, by part; sessions and parts ascending.
std::vector<std::vector<SessionId>> parts_of(const History& h);

// Without looking for parts.
PredictAnswer predict_whole(const History& observed, const Level& level, const LevelSet& levels,
                            const PredictOptions& options, Budget& budget);

// Only how many reads there are, and how many with a choice.
PredictAnswer count_choices(const History& observed, const Level& level, Budget& budget);

}  // namespace isoscope::predict
