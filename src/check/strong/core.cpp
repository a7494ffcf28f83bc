#include "check/strong/core.h"

#include <algorithm>

#include "check/strong/decide.h"
#include "history/restrict.h"

namespace isoscope::strong {
namespace {

// A smaller core is a courtesy; nobody waits longer than this for it.
constexpr double kMaxSeconds = 20;

}  // namespace

std::vector<TxnId> shrink_to_core(const History& h, StrongLevel level, Budget& budget) {
  Budget part = budget.within(kMaxSeconds);
  std::vector<TxnId> core;
  for (const TxnId t : h.txns()) {
    if (t != kInitialTxn && h.is_present(t)) core.push_back(t);
  }
  const auto is_violated = [&](const std::vector<TxnId>& keep) {
    const History restricted = restrict_to(h, keep);
    return decide(restricted, level, part, {}).outcome == Outcome::Violated;
  };
  std::size_t run = std::max<std::size_t>(core.size() / 2, 1);
  for (bool shrunk = false;; shrunk = false) {
    for (std::size_t at = 0; at < core.size() && !part.expired_now();) {
      const auto first = core.begin() + static_cast<std::ptrdiff_t>(at);
      const auto last = core.begin() + static_cast<std::ptrdiff_t>(std::min(at + run, core.size()));
      std::vector<TxnId> rest(core.begin(), first);
      rest.insert(rest.end(), last, core.end());
      if (is_violated(rest)) {
        core = std::move(rest);
        shrunk = true;
      } else {
        at += run;
      }
    }
    if (part.expired_now() || (run == 1 && !shrunk)) return core;
    run = std::max<std::size_t>(run / 2, 1);
  }
}

}  // namespace isoscope::strong
