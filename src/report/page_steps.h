#pragma once
// A scene as a run, step by step: what the player of a page shows.
//
// A history says what each read saw and nothing about moments. The steps are one way in which it
// can have happened: sessions in turn, writes taking effect when their transaction commits, each
// read when the version it sees is the current one. Where no moment fits, the read is a step all
// the same, and its note says that it sees an old version: that is what the level let happen.
#include <string>
#include <vector>

#include "report/page.h"

namespace isoscope {

// Of a schedule, its own run.
SceneRun steps_of(const Scene& scene);

// A read that would see another version if the same transactions ran one after the other.
struct SerialDifference {
  std::string txn;
  std::string key;
  std::string seen;    // "0 from T0"
  std::string serial;  // "1 from T1"
};
struct SerialComparison {
  std::vector<std::string> order;  // names
  std::vector<SerialDifference> differences;
};
// One after the other in the scene's order, or in the one that its steps have committed in. Nothing
// of a schedule, which brings its own.
SerialComparison compare_with_serial(const Scene& scene);

}  // namespace isoscope
