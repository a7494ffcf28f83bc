#pragma once
// What is known about the order of the versions of each key.
//
// Versions of one chain are ordered, and what comes before a version on another chain is a prefix
// of that chain's versions (before the last of them, before all of them). So a number a version
// and group holds all that is known, and the open pairs of a version lie in one interval a group.
//
// Cost  Per key, versions × groups × 4 bytes.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "check/strong/facts.h"

namespace isoscope::strong {

class VersionOrder {
 public:
  // How many numbers it takes.
  static std::size_t size_for(const Facts& facts);
  // With `keep_rounds`, remembers when each pair became known, at some 50 bytes a change.
  VersionOrder(const Facts& facts, bool keep_rounds);

  const Facts& facts() const { return facts_; }

  // How many versions of the group are known to come before v; they are its first ones.
  std::uint32_t count_before(VersionId v, GroupId g) const { return counts_[slot(v, g)]; }
  // Makes known in a round that the first `count` versions of g come before v.
  void set_count_before(VersionId v, GroupId g, std::uint32_t count, std::uint32_t round);

  // Is `before` known to come before `after`? Requires: versions of one key.
  bool is_before(VersionId before, VersionId after) const {
    return facts_.rank(before) < count_before(after, facts_.group(before));
  }
  // The first round such that what was known before it says why `before` comes before `after`;
  // nothing if the order is open. 0 if a list says so. Requires: keep_rounds.
  std::optional<std::uint32_t> known_since(VersionId before, VersionId after) const;

 private:
  struct Change {
    std::uint32_t count;
    std::uint32_t round;
  };

  std::size_t slot(VersionId v, GroupId g) const { return begin_[v.index] + g.index; }

  const Facts& facts_;
  bool keep_rounds_;
  // Where the slots of a version would begin if its key had all groups from 0 up: those of a key
  // are numbered in a row, so that one addition finds the slot. May wrap around, and back.
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> counts_;
  std::unordered_map<std::size_t, std::vector<Change>> changes_;  // by slot, in order of time
};

// Calls f(x, a, b) once for every pair of versions of x whose order is open, as long as it answers
// true.
template <class F>
void for_each_open_pair(const VersionOrder& order, F&& f) {
  const Facts& facts = order.facts();
  for (const KeyId x : facts.history().keys()) {
    for (const VersionId a : facts.versions(x)) {
      for (const GroupId g : facts.groups(x)) {
        if (g <= facts.group(a)) continue;
        const IdRange<VersionId> others = facts.versions(g);
        // Those known to come before a are the first of the group, those after it the last.
        for (std::uint32_t i = order.count_before(a, g); i < others.size(); ++i) {
          const VersionId b{others.front().index + i};
          if (order.is_before(a, b)) break;
          if (!f(x, a, b)) return;
        }
      }
    }
  }
}

}  // namespace isoscope::strong
