#include "synth/proof.h"

#include <chrono>
#include <memory>
#include <vector>

#include "spec/levels.h"
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

FoundProof find_proof(const Level& a, const Level& b, Budget& budget) {
  const auto start = Budget::Clock::now();
  FoundProof found;
  ProofAnswer& answer = found.answer;
  // The facts are about levels over one order that contains so and wr, or over vis, ar.
  if (!require_plain(a, "a proof") || !require_plain(b, "a proof")) {
    answer.outcome = ProofOutcome::NotProved;
    return found;
  }
  answer.outcome = ProofOutcome::NotProved;
  const std::vector<Attempt> all = attempts(a, b);
  std::vector<std::unique_ptr<ProofSearch>> searches;
  for (const Attempt& attempt : all) {
    searches.push_back(
        std::make_unique<ProofSearch>(a, b, attempt.construction, budget, attempt.acyclic));
  }
  std::optional<std::size_t> winner;
  // Every construction gets a little effort before any gets much.
  for (std::size_t effort = 0; effort < ProofSearch::kEfforts.size(); ++effort) {
    for (std::size_t i = 0; i < all.size() && answer.outcome == ProofOutcome::NotProved; ++i) {
      if (searches[i]->is_hopeless()) continue;
      if (searches[i]->run(effort)) {
        answer.outcome = ProofOutcome::Proved;
        answer.construction = all[i].construction;
        answer.vacuous = searches[i]->is_vacuous();
        winner = i;
      } else if (budget.expired_now()) {
        answer.outcome = ProofOutcome::Unknown;
        answer.limit = "time";
      }
    }
  }
  for (const auto& search : searches) answer.queries += search->queries();
  answer.seconds = std::chrono::duration<double>(Budget::Clock::now() - start).count();
  if (winner) found.search = std::move(searches[*winner]);
  return found;
}

ProofAnswer prove_implies(const Level& a, const Level& b, Budget& budget) {
  return find_proof(a, b, budget).answer;
}

}  // namespace isoscope
