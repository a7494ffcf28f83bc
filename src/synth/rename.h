#pragma once
// The same history under other names: transactions and keys permuted.
#include <cstdint>
#include <functional>

#include "synth/facts.h"

namespace isoscope::synthesis {

// n! k!, or nothing if that is more than a search can afford to rule out for each history found.
std::optional<std::uint64_t> num_renamings(const Scope& scope);

// Calls `f` for each renaming of the candidate that the frame can express, the candidate itself
// among them; the same one may come several times. Requires: num_renamings() has a value.
void for_each_renaming(const Facts& facts, const Candidate& candidate,
                       const std::function<void(const Candidate&)>& f);

}  // namespace isoscope::synthesis
