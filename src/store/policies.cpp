#include "store/policies.h"

#include <numeric>

namespace isoscope::store {

std::optional<std::size_t> LatestPolicy::choose(ProgramKey x, std::span<const Version> versions,
                                                Oracle* oracle) {
  for (std::size_t i = versions.size(); i-- > 0;) {
    if (oracle == nullptr || oracle->allows(x, versions[i].writer)) return i;
  }
  return std::nullopt;
}

// The first legal one in a random order is any legal one, and the others need not be asked about.
std::optional<std::size_t> RandomPolicy::choose(ProgramKey x, std::span<const Version> versions,
                                                Oracle* oracle) {
  untried_.resize(versions.size());
  std::iota(untried_.begin(), untried_.end(), std::size_t{0});
  while (!untried_.empty()) {
    std::swap(untried_[rng_.below(untried_.size())], untried_.back());
    const std::size_t i = untried_.back();
    if (oracle == nullptr || oracle->allows(x, versions[i].writer)) return i;
    untried_.pop_back();
  }
  return std::nullopt;
}

FamiliarPolicy::FamiliarPolicy(const Executable& program, const Recording& recording, CallId call)
    : is_familiar_(program.outline().calls.size(), false) {
  const auto& calls = program.outline().calls;
  // No call reads from, or follows, what comes later in the order of the run.
  for (CallId before = program.outline().sessions[calls[call].session].first; before < call;
       ++before)
    is_familiar_[before] = true;
  for (std::size_t i = recording.order.size(); i-- > 0;) {
    const CallId known = recording.order[i];
    if (!is_familiar_[known]) continue;
    for (CallId before = program.outline().sessions[calls[known].session].first; before < known;
         ++before)
      is_familiar_[before] = true;
    for (const Access& access : recording.txns[known].accesses) {
      if (access.is_read && access.writer != kInitialWriter) is_familiar_[access.writer] = true;
    }
  }
}

std::optional<std::size_t> FamiliarPolicy::choose(ProgramKey x, std::span<const Version> versions,
                                                  Oracle* oracle) {
  for (std::size_t i = versions.size(); i-- > 0;) {
    const CallId writer = versions[i].writer;
    const bool is_familiar = writer == kInitialWriter || is_familiar_[writer];
    if (is_familiar && (oracle == nullptr || oracle->allows(x, writer))) return i;
  }
  return latest_.choose(x, versions, oracle);
}

ExplainedPolicy::ExplainedPolicy(std::span<const CallId> order, std::size_t num_calls)
    : rank_(num_calls, 0) {
  for (std::size_t i = 0; i < order.size(); ++i)
    rank_[order[i]] = static_cast<std::uint32_t>(i + 1);
}

std::optional<std::size_t> ExplainedPolicy::choose(ProgramKey, std::span<const Version> versions,
                                                   Oracle*) {
  std::size_t last = 0;  // the initial version
  for (std::size_t i = 1; i < versions.size(); ++i) {
    if (last == 0 || rank_[versions[i].writer] > rank_[versions[last].writer]) last = i;
  }
  return last;
}

}  // namespace isoscope::store
