#pragma once
// From a candidate back to a History and its witnesses: the counterpart of facts.h and encode.h.
#include <vector>

#include "synth/facts.h"

namespace isoscope::synthesis {

// Orders as the search numbers transactions.
struct FoundWitness {
  std::vector<int> order;
  std::optional<Relation> vis = {};
  std::vector<int> snap =
      {};  // over co, snap: of each slot, how many transactions its snapshot has
};

// The candidate as a history: reads before writes where nothing orders them, unused keys left out,
// transactions renumbered along so where their numbers do not follow it. `witnesses` are those of
// the allowed levels.
SynthFound decode(const Frame& frame, const Candidate& candidate,
                  const std::vector<FoundWitness>& witnesses,
                  const std::vector<const Level*>& allow);

}  // namespace isoscope::synthesis
