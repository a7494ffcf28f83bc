#include "check/ground/ground.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "check/ground/core.h"
#include "check/ground/search.h"

namespace isoscope {
namespace {

Verdict violated(const History& h, const Assignment& levels, std::string axiom, Budget& budget,
                 const GroundOptions& options) {
  if (options.progress) options.progress("explaining the violation", -1);
  Budget part = budget.within(options.core_seconds);
  GroundOptions quiet = options;  // what it does next is all explanation
  quiet.progress = {};
  Core core = find_core(h, levels, std::move(axiom), part, quiet);
  Violation violation;
  violation.anomaly = Anomaly::Unexplainable;
  violation.axiom = std::move(core.axiom);
  violation.core = std::move(core.txns);
  return Verdict::violated(std::move(violation));
}

Verdict too_many(const History& h, const GroundOptions& options) {
  return Verdict::unknown(
      fmt::format("the limit of {} transactions for levels that are grounded (the history has {})",
                  options.max_transactions, h.num_txns()));
}

}  // namespace

Verdict log_refutation(const History& h, const Assignment& levels, Budget& budget, ClauseLog& log) {
  GroundOptions options;
  options.log = &log;
  if (h.num_txns() > options.max_transactions) return too_many(h, options);
  Search search(h, levels, budget, options);
  Verdict verdict;
  verdict.outcome = search.decide(std::vector<bool>(search.axioms().size(), true));
  if (verdict.outcome == Outcome::Unknown) verdict.limit = search.limit();
  if (verdict.outcome == Outcome::Violated) search.close_log();
  return verdict;
}

Verdict check_ground(const History& h, const Assignment& levels, Budget& budget,
                     const GroundOptions& options) {
  if (!h.faults().empty()) {
    const ReadFault& fault = h.faults().front();
    Violation violation;
    violation.anomaly = anomaly_of(fault.kind);
    violation.fault = fault;
    return Verdict::violated(std::move(violation));
  }
  if (h.num_txns() > options.max_transactions) return too_many(h, options);
  Search search(h, levels, budget, options);
  const Outcome outcome = search.decide(std::vector<bool>(search.axioms().size(), true));
  Verdict verdict = outcome == Outcome::Consistent ? Verdict::consistent(search.witness())
                    : outcome == Outcome::Violated
                        ? violated(h, levels, search.first_blamed(), budget, options)
                        : Verdict::unknown(search.limit());
  search.report(verdict.stats);
  return verdict;
}

}  // namespace isoscope
