#include "check/ground/core.h"

#include <algorithm>
#include <optional>
#include <span>

#include "check/ground/search.h"
#include "history/restrict.h"
#include "relational/normal_form.h"

namespace isoscope {

GroundPart part_of(const History& h, const Assignment& levels, std::span<const TxnId> keep) {
  // A part numbers its transactions in the order of the whole.
  GroundPart part{restrict_to(h, keep), {levels.base, {}}};
  if (levels.is_mixed()) {
    part.levels.own.push_back(&levels.of(kInitialTxn));
    for (const TxnId t : keep) part.levels.own.push_back(&levels.of(t));
  }
  return part;
}

bool parts_decide(const Assignment& levels) {
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

namespace {

Outcome decide_all(Search& search) {
  return search.decide(std::vector<bool>(search.axioms().size(), true));
}

class CoreFinder {
 public:
  CoreFinder(const History& h, const Assignment& levels, Budget& budget,
             const GroundOptions& options)
      : h_(h), levels_(levels), budget_(budget), options_(options) {}

  std::vector<TxnId> find() {
    std::vector<TxnId> all;
    for (const TxnId t : h_.txns()) {
      if (h_.is_present(t) && t != kInitialTxn) all.push_back(t);
    }
    const bool monotone = parts_decide(levels_);
    return shrink(all, [&](const std::vector<TxnId>& part) {
      return is_violated(part) && (monotone || breaks_whole(part));
    });
  }

  // The first axiom of a set that suffices for the core and from which none can be left out, or
  // nothing when time runs out. Later axioms are left out first, so that a level that extends
  // another blames what it inherits, if that fails.
  std::optional<std::string> blame(std::span<const TxnId> core) {
    const GroundPart part = part_of(h_, levels_, core);
    Search search(part.h, part.levels, budget_, options_);
    if (decide_all(search) != Outcome::Violated) return std::nullopt;
    std::vector<bool> needed = search.blamed();
    for (std::size_t i = needed.size(); i-- > 0;) {
      if (!needed[i]) continue;
      needed[i] = false;
      if (search.decide(needed) == Outcome::Violated) {
        needed = search.blamed();
      } else {
        needed[i] = true;
      }
    }
    const auto first = std::find(needed.begin(), needed.end(), true);
    if (first == needed.end()) return "";
    return search.axioms()[static_cast<std::size_t>(first - needed.begin())].axiom->name;
  }

 private:
  bool is_violated(std::span<const TxnId> keep) {
    const GroundPart part = part_of(h_, levels_, keep);
    if (!part.h.faults().empty()) return false;
    Search search(part.h, part.levels, budget_, options_);
    return decide_all(search) == Outcome::Violated;
  }

  // Does the whole history have no witness for the instances about these transactions?
  bool breaks_whole(const std::vector<TxnId>& about) {
    Search search(h_, levels_, budget_, options_, &about);
    return decide_all(search) == Outcome::Violated;
  }

  template <class IsEnough>
  std::vector<TxnId> shrink(std::vector<TxnId> core, const IsEnough& is_enough) {
    for (std::size_t chunk = (core.size() + 1) / 2; chunk > 0;
         chunk = chunk == 1 ? 0 : (chunk + 1) / 2) {
      for (std::size_t begin = 0; begin < core.size();) {
        if (budget_.expired_now()) return core;
        const std::size_t end = std::min(begin + chunk, core.size());
        std::vector<TxnId> rest(core.begin(), core.begin() + static_cast<std::ptrdiff_t>(begin));
        rest.insert(rest.end(), core.begin() + static_cast<std::ptrdiff_t>(end), core.end());
        if (is_enough(rest)) {
          core = std::move(rest);
        } else {
          begin = end;
        }
      }
    }
    return core;
  }

  const History& h_;
  const Assignment& levels_;
  Budget& budget_;
  const GroundOptions& options_;
};

}  // namespace

Core find_core(const History& h, const Assignment& levels, std::string axiom, Budget& budget,
               const GroundOptions& options) {
  CoreFinder finder(h, levels, budget, options);
  std::vector<TxnId> txns = finder.find();
  auto blamed = finder.blame(txns);
  if (txns.empty()) txns.push_back(kInitialTxn);  // the initial state is already too much
  return {std::move(txns), blamed ? *std::move(blamed) : std::move(axiom)};
}

}  // namespace isoscope
