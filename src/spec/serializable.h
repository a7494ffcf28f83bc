#pragma once
// The level that runs are measured by: what no serial order explains is an anomaly.
#include "spec/levels.h"
#include "support/assert.h"

namespace isoscope {

// ser over co, as it is built in.
inline const Level& serializable_level() {
  static const Level* const ser = LevelSet::built_in().lookup("ser", Framework::Co);
  ISO_ASSERT(ser != nullptr);
  return *ser;
}

}  // namespace isoscope
