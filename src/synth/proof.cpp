#include "synth/proof.h"

#include <chrono>

#include "support/assert.h"
#include "synth/proof_search.h"

namespace isoscope {

std::string_view name_of(ProofOutcome outcome) {
  switch (outcome) {
    case ProofOutcome::Proved:
      return "proved";
    case ProofOutcome::NotProved:
      return "not proved";
    case ProofOutcome::Unknown:
      break;
  }
  return "unknown";
}

std::string_view describe(Construction construction) {
  switch (construction) {
    case Construction::SameOrders:
      return "the same orders";
    case Construction::ArbitrationAsCo:
      return "co is ar";
    case Construction::LeastVisibility:
      break;
  }
  return "the same order, and the least visibility that the axioms force";
}

namespace {

std::vector<Construction> constructions(const Level& a, const Level& b) {
  if (b.framework == Framework::Co)
    return {a.framework == Framework::Co ? Construction::SameOrders
                                         : Construction::ArbitrationAsCo};
  if (a.framework == Framework::Co) return {Construction::LeastVisibility};
  return {Construction::SameOrders, Construction::LeastVisibility};
}

}  // namespace

ProofAnswer prove_implies(const Level& a, const Level& b, Budget& budget) {
  const auto start = Budget::Clock::now();
  ProofAnswer answer;
  answer.outcome = ProofOutcome::NotProved;
  for (Construction construction : constructions(a, b)) {
    ProofSearch search(a, b, construction, budget);
    const bool proved = search.run();
    if (proved) {
      answer.outcome = ProofOutcome::Proved;
      answer.construction = construction;
      answer.vacuous = search.is_vacuous();
    }
    answer.queries += search.queries();
    if (proved) break;
    if (budget.expired_now()) {
      answer.outcome = ProofOutcome::Unknown;
      answer.limit = "time";
      break;
    }
  }
  answer.seconds = std::chrono::duration<double>(Budget::Clock::now() - start).count();
  return answer;
}

}  // namespace isoscope
