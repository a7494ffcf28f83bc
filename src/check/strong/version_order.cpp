#include "check/strong/version_order.h"

namespace isoscope::strong {

std::size_t VersionOrder::size_for(const Facts& facts) {
  std::size_t slots = 0;
  for (const KeyId x : facts.history().keys())
    slots += facts.versions(x).size() * facts.groups(x).size();
  return slots;
}

VersionOrder::VersionOrder(const Facts& facts, bool keep_rounds)
    : facts_(facts), keep_rounds_(keep_rounds), begin_(facts.num_versions()) {
  std::size_t slots = 0;
  for (const KeyId x : facts.history().keys()) {
    const IdRange<GroupId> groups = facts.groups(x);
    for (const VersionId v : facts.versions(x)) {
      begin_[v.index] = slots - groups.front().index;
      slots += groups.size();
    }
  }
  counts_.assign(size_for(facts), 0);
  for (const KeyId x : facts.history().keys()) {
    for (const VersionId v : facts.versions(x)) counts_[slot(v, facts.group(v))] = facts.rank(v);
  }
}

void VersionOrder::set_count_before(VersionId v, GroupId g, std::uint32_t count,
                                    std::uint32_t round) {
  counts_[slot(v, g)] = count;
  if (keep_rounds_) changes_[slot(v, g)].push_back({count, round});
}

std::optional<std::uint32_t> VersionOrder::known_since(VersionId before, VersionId after) const {
  const GroupId g = facts_.group(before);
  if (g == facts_.group(after)) return before < after ? std::optional(1U) : std::nullopt;
  const auto found = changes_.find(slot(after, g));
  if (found == changes_.end()) return {};
  for (const Change& change : found->second) {
    const std::uint32_t rank = facts_.rank(before);
    // A version before the one that was forced follows through session order, one step later.
    if (change.count > rank) return change.count == rank + 1 ? change.round : change.round + 1;
  }
  return {};
}

}  // namespace isoscope::strong
