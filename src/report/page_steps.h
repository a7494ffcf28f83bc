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

// The value of a key, and who wrote it.
struct KeyState {
  std::string key;
  std::string value;
  std::string writer;
};

struct SceneStep {
  std::size_t box = 0;
  std::size_t op = kNoIndex;      // none: the transaction ends
  std::string text;               // "T2 reads x = 0 from T0"
  std::string note;               // "x is 1 since T1 committed"; mostly empty
  std::vector<KeyState> changed;  // by this step: keys with their values from now on
};

struct SceneRun {
  std::vector<KeyState> start;  // all keys, in order of appearance
  std::vector<SceneStep> steps;
  bool is_cut = false;  // there are more steps than a page can hold
};
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
// One after the other in the scene's order, or in the one that its steps have committed in.
SerialComparison compare_with_serial(const Scene& scene);

}  // namespace isoscope
