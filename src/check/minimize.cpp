#include "check/minimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "history/restrict.h"
#include "verdict/involved.h"

namespace isoscope {

namespace {

// Leaves out as much of `items` as it can while `fails` says that the rest still fails
// [Zeller-TSE'02]: chunks of half the size, a quarter, … down to one, until nothing goes or the
// time is over.
template <class T>
std::vector<T> reduce(std::vector<T> items, Budget& budget,
                      const std::function<bool(const std::vector<T>&)>& fails) {
  std::size_t chunk = items.size() / 2;
  while (!items.empty()) {
    if (chunk == 0) chunk = 1;
    bool shrunk = false;
    for (std::size_t begin = 0; begin < items.size();) {
      if (budget.expired_now()) return items;
      std::vector<T> rest(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(begin));
      const std::size_t end = std::min(items.size(), begin + chunk);
      rest.insert(rest.end(), items.begin() + static_cast<std::ptrdiff_t>(end), items.end());
      if (fails(rest)) {
        items = std::move(rest);
        shrunk = true;
      } else {
        begin = end;
      }
    }
    if (chunk == 1 && !shrunk) break;
    chunk = chunk == 1 ? 1 : chunk / 2;
  }
  return items;
}

std::vector<TxnId> all_txns(const History& h) {
  std::vector<TxnId> txns;
  for (TxnId t : h.txns()) {
    if (t != kInitialTxn) txns.push_back(t);
  }
  return txns;
}

class Minimizer {
 public:
  Minimizer(const Level& level, const LevelSet& levels, const std::optional<ReadFault>& fault,
            Budget& budget)
      : level_(level), levels_(levels), fault_(fault), budget_(budget) {}

  // A part counts if it is violated for the same kind of reason: an excusable history must not
  // become one with an inexcusable read, nor an aborted read one out of thin air.
  bool is_violated(const History& part) {
    const auto is_same = [&](const ReadFault& f) { return fault_ && f.kind == fault_->kind; };
    if (!std::all_of(part.faults().begin(), part.faults().end(), is_same)) return false;
    if (fault_) return !part.faults().empty();
    auto assignment = assign_levels(part, level_, levels_);
    if (!assignment) return false;
    const Verdict verdict = Checker(part, {.confirm = false}).check(*assignment, budget_).verdict;
    return verdict.outcome == Outcome::Violated;
  }

 private:
  const Level& level_;
  const LevelSet& levels_;
  const std::optional<ReadFault>& fault_;
  Budget& budget_;
};

}  // namespace

Minimized minimize(const History& h, const Level& level, const LevelSet& levels,
                   const Violation& violation, Budget& budget, const Progress& progress) {
  const auto tell = [&](std::size_t left, std::string_view what) {
    if (progress) progress(fmt::format("minimizing: {} {}", left, what), -1);
  };
  Minimizer minimizer(level, levels, violation.fault, budget);
  std::vector<TxnId> keep = involved_txns(h, violation);
  // Reads that explain why an edge is forced may lean on others; then start from everything.
  if (keep.empty() || !minimizer.is_violated(restrict_to(h, keep))) keep = all_txns(h);
  keep = reduce<TxnId>(std::move(keep), budget, [&](const std::vector<TxnId>& rest) {
    tell(rest.size(), "transactions");
    return minimizer.is_violated(restrict_to(h, rest));
  });
  History small = restrict_to(h, keep);
  if (budget.expired_now()) return {.part = std::move(small), .is_minimal = false};

  std::vector<EventId> events;
  for (EventId e : small.all_events()) events.push_back(e);
  const std::vector<TxnId> txns = all_txns(small);
  events = reduce<EventId>(std::move(events), budget, [&](const std::vector<EventId>& rest) {
    tell(rest.size(), "events");
    return minimizer.is_violated(restrict_to(small, txns, rest));
  });
  return {.part = restrict_to(small, txns, events), .is_minimal = !budget.expired_now()};
}

}  // namespace isoscope
