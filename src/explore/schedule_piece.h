#pragma once
// A piece of an exploration by schedules (schedules.h), in words.
//
// A frame is a node on the way from the root: which sessions were tried there, in order, and whose
// step was taken. That is all it takes to come to the same place. Frames from `base` on belong to
// the piece: it goes on with the children that follow, up to the limit, and with the rounds after
// that. The nodes above belong to another worker, which hears at the end what was added to them.
#include <cstdint>
#include <vector>

#include "explore/pool.h"
#include "support/by_id.h"

namespace isoscope::explore {

using LiveSession = Id<struct LiveSessionTag>;  // among the sessions that have calls

struct Frame {
  std::vector<LiveSession> tried = {};
  std::vector<LiveSession> known = {};
  std::uint32_t current = 0;  // of tried
  std::uint32_t limit = 0;
  JoinId join = 0;
};

struct Frames {
  std::vector<Frame> frames = {};
  std::uint32_t base = 0;
  bool is_round_over = false;  // of the last frame: its next round is to begin
};

std::vector<std::uint32_t> pack_frames(const Frames& all);
Frames unpack_frames(const std::vector<std::uint32_t>& words);

}  // namespace isoscope::explore
