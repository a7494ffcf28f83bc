#include "synth/proof.h"

#include <chrono>

#include "support/assert.h"
#include "synth/acyclic.h"
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
      return "the same order, and the least visibility that the axioms force";
    case Construction::LinearExtension:
      return "co is a linear extension of the acyclic relation";
    case Construction::ExtendedLeastVisibility:
      break;
  }
  return "ar is a linear extension of the acyclic relation, vis the least that the axioms force";
}

namespace {

struct Attempt {
  Construction construction;
  const RelationExpr* acyclic = nullptr;
};

std::vector<Attempt> attempts(const Level& a, const Level& b) {
  std::vector<Attempt> all;
  if (b.framework == Framework::Co) {
    all.push_back(
        {a.framework == Framework::Co ? Construction::SameOrders : Construction::ArbitrationAsCo});
  } else {
    if (a.framework == Framework::VisAr) all.push_back({Construction::SameOrders});
    all.push_back({Construction::LeastVisibility});
  }
  for (const RelationExpr* r : acyclic_relations(a)) {
    all.push_back({b.framework == Framework::Co ? Construction::LinearExtension
                                                : Construction::ExtendedLeastVisibility,
                   r});
  }
  return all;
}

}  // namespace

ProofAnswer prove_implies(const Level& a, const Level& b, Budget& budget) {
  const auto start = Budget::Clock::now();
  ProofAnswer answer;
  answer.outcome = ProofOutcome::NotProved;
  for (const Attempt& attempt : attempts(a, b)) {
    ProofSearch search(a, b, attempt.construction, budget, attempt.acyclic);
    const bool proved = search.run();
    if (proved) {
      answer.outcome = ProofOutcome::Proved;
      answer.construction = attempt.construction;
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
