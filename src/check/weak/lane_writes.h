#pragma once
// Who writes x in a lane, and which of them is the last within a prefix of the lane?
//
// Built for a block of lanes. The writers of a key in a lane are a group: sorted positions and a
// finger that rests where the last search ended. Searches of one group move slowly through the
// lane, so the finger is mostly right or one step away.
#include <cstdint>
#include <span>
#include <vector>

#include "check/weak/clock_pool.h"
#include "check/weak/lanes.h"

namespace isoscope {

class LaneWrites {
 public:
  struct Group {
    std::uint32_t lane;   // counted from the first of the block
    ClockEntry previous;  // the one before it, or -1
    ClockEntry at;        // the position under the finger
    ClockEntry next;      // the one after it, or kEnd
  };
  static constexpr ClockEntry kEnd = std::numeric_limits<ClockEntry>::max();

  // The block has the lanes from `first` up to, not including, `last`.
  LaneWrites(const WeakFacts& facts, const Lanes& lanes, std::uint32_t first, std::uint32_t last);

  std::span<Group> groups(KeyId x) {
    return {groups_.data() + begin_[x.index], groups_.data() + begin_[x.index + 1]};
  }
  // The positions of the group's writers, ascending.
  std::span<const ClockEntry> positions(const Group& group) const {
    const Extent& extent = extents_[static_cast<std::size_t>(&group - groups_.data())];
    return {positions_.data() + extent.begin, positions_.data() + extent.end};
  }

  // Asks for the groups of x to be in the cache soon.
  void prefetch(KeyId x) const {
    constexpr std::size_t kGroupsInLine = 64 / sizeof(Group);
    for (std::size_t i = begin_[x.index]; i < begin_[x.index + 1]; i += kGroupsInLine)
      __builtin_prefetch(groups_.data() + i);
  }

  // The position of the last writer in [from, to), or -1 if there is none.
  ClockEntry last_between(Group& group, ClockEntry from, ClockEntry to) {
    if (from >= to) return -1;
    if (group.at >= to) {
      if (group.previous < from) return -1;
      move_down(group, to);
    } else if (group.next < to) {
      move_up(group, to);
    }
    return group.at >= from && group.at < to ? group.at : -1;
  }

 private:
  struct Extent {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t finger;  // in [begin, end)
  };

  Extent& extent_of(const Group& group) {
    return extents_[static_cast<std::size_t>(&group - groups_.data())];
  }
  void place_finger(Group& group, std::uint32_t place);
  // To the last writer below `to`. Require: it is not yet below; it is, and the next one too.
  void move_down(Group& group, ClockEntry to);
  void move_up(Group& group, ClockEntry to);

  std::vector<std::uint32_t> begin_;  // of groups, by key
  std::vector<Group> groups_;         // by key and lane
  std::vector<Extent> extents_;       // of each group, in positions_
  std::vector<ClockEntry> positions_;
};

}  // namespace isoscope
