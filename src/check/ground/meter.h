#pragma once
// How far grounding may go. Loops ask stopped(); once it says yes it stays so, whatever they
// computed is of no use, and limit() says why.
#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "sat/circuit.h"
#include "support/budget.h"

namespace isoscope {

class Meter {
 public:
  Meter(Budget& budget, const Circuit& circuit, std::size_t max_gates)
      : budget_(budget), circuit_(circuit), max_gates_(max_gates) {}

  bool stopped() {
    if (!limit_.empty()) return true;
    if (budget_.expired()) {
      limit_ = limit_reached();
    } else if (circuit_.num_gates() + circuit_.num_clauses() > max_gates_) {
      limit_ = fmt::format("the limit of {} gates and clauses for the grounded level", max_gates_);
    }
    return !limit_.empty();
  }
  // After the solver gave up.
  void stop_solving() {
    limit_ = budget_.expired_now() ? limit_reached() : "the memory of the SAT solver";
  }
  Budget& budget() { return budget_; }
  const std::string& limit() const { return limit_; }

 private:
  Budget& budget_;
  const Circuit& circuit_;
  std::size_t max_gates_;
  std::string limit_;
};

}  // namespace isoscope
