#include "check/ground/core.h"

#include <algorithm>
#include <optional>
#include <span>

#include "check/ground/normal_form.h"
#include "check/ground/search.h"
#include "history/restrict.h"

namespace isoscope {
namespace {

// A part of a history, with the levels of its transactions.
struct Part {
  History h;
  Assignment levels;
};

Part part_of(const History& h, const Assignment& levels, std::span<const TxnId> keep) {
  // A part numbers its transactions in the order of the whole.
  Part part{restrict_to(h, keep), {levels.base, {}}};
  if (levels.is_mixed()) {
    part.levels.own.push_back(&levels.of(kInitialTxn));
    for (const TxnId t : keep) part.levels.own.push_back(&levels.of(t));
  }
  return part;
}

bool all_monotone(const Assignment& levels) {
  const auto monotone = [](const Level* level) {
    return level == nullptr ||
           std::all_of(level->axioms.begin(), level->axioms.end(),
                       [](const Axiom& axiom) { return is_monotone(normalize(axiom)); });
  };
  std::vector<const Level*> all = levels.own;
  all.push_back(levels.base);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return std::all_of(all.begin(), all.end(), monotone);
}

bool is_violated(const History& h, const Assignment& levels, std::span<const TxnId> keep,
                 Budget& budget, const GroundOptions& options) {
  const Part part = part_of(h, levels, keep);
  if (!part.h.faults().empty()) return false;
  Search search(part.h, part.levels, budget, options);
  return search.decide(std::vector<bool>(search.axioms().size(), true)) == Outcome::Violated;
}

void shrink(std::vector<TxnId>& core, const History& h, const Assignment& levels, Budget& budget,
            const GroundOptions& options) {
  for (std::size_t chunk = (core.size() + 1) / 2; chunk > 0;
       chunk = chunk == 1 ? 0 : (chunk + 1) / 2) {
    for (std::size_t begin = 0; begin < core.size();) {
      if (budget.expired_now()) return;
      const std::size_t end = std::min(begin + chunk, core.size());
      std::vector<TxnId> rest(core.begin(), core.begin() + static_cast<std::ptrdiff_t>(begin));
      rest.insert(rest.end(), core.begin() + static_cast<std::ptrdiff_t>(end), core.end());
      if (is_violated(h, levels, rest, budget, options)) {
        core = std::move(rest);
      } else {
        begin = end;
      }
    }
  }
}

// The first axiom of a set that suffices and from which none can be left out. Later axioms are
// left out first, so that a level that extends another blames what it inherits, if that fails.
std::string blame(const History& h, const Assignment& levels, std::span<const TxnId> core,
                  Budget& budget, const GroundOptions& options) {
  const Part part = part_of(h, levels, core);
  Search search(part.h, part.levels, budget, options);
  std::vector<bool> needed(search.axioms().size(), true);
  if (search.decide(needed) != Outcome::Violated) return {};
  needed = search.blamed();
  for (std::size_t i = needed.size(); i-- > 0;) {
    if (!needed[i]) continue;
    needed[i] = false;
    const Outcome without = search.decide(needed);
    if (without == Outcome::Violated) {
      needed = search.blamed();
    } else {
      needed[i] = true;
    }
  }
  const auto first = std::find(needed.begin(), needed.end(), true);
  if (first == needed.end()) return {};
  return search.axioms()[static_cast<std::size_t>(first - needed.begin())].axiom->name;
}

}  // namespace

Core find_core(const History& h, const Assignment& levels, Budget& budget,
               const GroundOptions& options) {
  Core core;
  for (const TxnId t : h.txns()) {
    if (h.is_present(t) && t != kInitialTxn) core.txns.push_back(t);
  }
  if (all_monotone(levels)) shrink(core.txns, h, levels, budget, options);
  core.axiom = blame(h, levels, core.txns, budget, options);
  return core;
}

}  // namespace isoscope
