#include "check/weak/lane_writes.h"

#include <algorithm>

namespace isoscope {

namespace {

constexpr int kNear = 8;

}  // namespace

LaneWrites::LaneWrites(const WeakFacts& facts, const Lanes& lanes, std::uint32_t first,
                       std::uint32_t last) {
  const std::size_t num_keys = facts.h.num_keys();
  const auto for_each_write = [&](auto&& f) {
    for (std::uint32_t lane = first; lane < last; ++lane) {
      for (TxnId t : lanes.txns(lane)) {
        for (KeyId x : facts.writes.keys(t)) f(lane - first, t, x);
      }
    }
  };
  // A write opens a group if its lane did not write the key before.
  std::vector<std::uint32_t> lane_of_last(num_keys, Lanes::kNone);
  std::vector<std::uint32_t> writes_begin(num_keys + 1, 0);
  begin_.assign(num_keys + 1, 0);
  for_each_write([&](std::uint32_t lane, TxnId, KeyId x) {
    ++writes_begin[x.index + 1];
    if (lane_of_last[x.index] != lane) ++begin_[x.index + 1];
    lane_of_last[x.index] = lane;
  });
  for (std::size_t x = 0; x < num_keys; ++x) {
    writes_begin[x + 1] += writes_begin[x];
    begin_[x + 1] += begin_[x];
  }
  positions_.resize(writes_begin.back());
  groups_.resize(begin_.back());
  extents_.resize(begin_.back());

  std::vector<std::uint32_t> next_group(begin_.begin(), begin_.end() - 1);
  std::vector<std::uint32_t> next_write(writes_begin.begin(), writes_begin.end() - 1);
  std::fill(lane_of_last.begin(), lane_of_last.end(), Lanes::kNone);
  for_each_write([&](std::uint32_t lane, TxnId t, KeyId x) {
    const std::uint32_t place = next_write[x.index]++;
    positions_[place] = static_cast<ClockEntry>(lanes.position(t));
    if (lane_of_last[x.index] != lane) {
      groups_[next_group[x.index]] = {lane, -1, positions_[place], kEnd};
      extents_[next_group[x.index]++] = {place, place, place};
    }
    Extent& extent = extents_[next_group[x.index] - 1];
    if (++extent.end == extent.begin + 2) groups_[next_group[x.index] - 1].next = positions_[place];
    lane_of_last[x.index] = lane;
  });
}

void LaneWrites::place_finger(Group& group, std::uint32_t place) {
  Extent& extent = extent_of(group);
  extent.finger = place;
  group.previous = place > extent.begin ? positions_[place - 1] : -1;
  group.at = positions_[place];
  group.next = place + 1 < extent.end ? positions_[place + 1] : kEnd;
}

// Both look at a few places one by one, then in strides that double, then in halves.
void LaneWrites::move_down(Group& group, ClockEntry to) {
  const Extent& extent = extent_of(group);
  std::uint32_t above = extent.finger;  // its position is not below `to`
  for (int i = 0; i < kNear && above > extent.begin; ++i) {
    if (positions_[above - 1] < to) return place_finger(group, above - 1);
    --above;
  }
  std::uint32_t stride = 1;
  while (above - extent.begin > stride && positions_[above - stride] >= to) {
    above -= stride;
    stride *= 2;
  }
  const std::uint32_t below = above - extent.begin > stride ? above - stride : extent.begin;
  const auto found = std::lower_bound(positions_.begin() + below, positions_.begin() + above, to);
  const auto place = static_cast<std::uint32_t>(found - positions_.begin());
  place_finger(group, std::max(place, extent.begin + 1) - 1);  // the first, if none is below
}

void LaneWrites::move_up(Group& group, ClockEntry to) {
  const Extent& extent = extent_of(group);
  std::uint32_t below = extent.finger;  // its position is below `to`
  for (int i = 0; i < kNear; ++i) {
    if (below + 1 == extent.end || positions_[below + 1] >= to) return place_finger(group, below);
    ++below;
  }
  std::uint32_t stride = 1;
  while (extent.end - below > stride && positions_[below + stride] < to) {
    below += stride;
    stride *= 2;
  }
  const std::uint32_t above = extent.end - below > stride ? below + stride : extent.end;
  const auto found = std::lower_bound(positions_.begin() + below, positions_.begin() + above, to);
  place_finger(group, static_cast<std::uint32_t>(found - positions_.begin()) - 1);
}

}  // namespace isoscope
