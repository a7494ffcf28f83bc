#pragma once
// What every execution over vis, ar or co, snap owes besides its orders, in the language of the
// levels: its reads show the last version that they see.
#include "spec/level.h"

namespace isoscope {

// EXT over vis, ar; Snapshot and CurrentRead over co, snap. Requires: not over co.
const Level& external_consistency(Framework framework);

}  // namespace isoscope
