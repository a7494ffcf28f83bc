#include "synth/proof.h"

#include <chrono>
#include <memory>
#include <vector>

#include "spec/levels.h"
#include "synth/acyclic.h"
#include "synth/proof_search.h"

namespace isoscope {

std::string_view name_of(ProofOutcome outcome) {
  switch (outcome) {
    case ProofOutcome::Proved: return "proved";
    case ProofOutcome::NotProved: return "not proved";
    case ProofOutcome::Unknown: break;
  }
  return "unknown";
}

std::string_view describe(Construction construction) {
  switch (construction) {
    case Construction::SameOrders: return "the same orders";
    case Construction::ArbitrationAsCo: return "co is ar";
    case Construction::LeastVisibility:
      return "the same order, and the least visibility that the axioms force";
    case Construction::LinearExtension: return "co is a linear extension of the acyclic relation";
    case Construction::LeastSnapshots:
      return "the same order, and the least snapshots that the axioms force";
    case Construction::ExtendedLeastSnapshots:
      return "co is a linear extension of the acyclic relation, snapshots the least that the "
             "axioms "
             "force";
    case Construction::ExtendedLeastVisibility: break;
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
  Construction extended = Construction::LinearExtension;
  switch (b.framework) {
    case Framework::Co:
      all.push_back({a.framework == Framework::VisAr ? Construction::ArbitrationAsCo
                                                     : Construction::SameOrders});
      break;
    case Framework::VisAr:
      if (a.framework == Framework::VisAr) all.push_back({Construction::SameOrders});
      all.push_back({Construction::LeastVisibility});
      extended = Construction::ExtendedLeastVisibility;
      break;
    case Framework::CoSnap:
      if (a.framework == Framework::CoSnap) all.push_back({Construction::SameOrders});
      all.push_back({Construction::LeastSnapshots});
      extended = Construction::ExtendedLeastSnapshots;
      break;
  }
  for (const RelationExpr* r : acyclic_relations(a)) all.push_back({extended, r});
  return all;
}

// A level over co, snap asks co to keep to the order that commit numbers give. A's order does so if
// A is over co, snap, too; other orders need not.
bool may_break_numbers(const Level& a, const Level& b, Construction construction) {
  if (b.framework != Framework::CoSnap) return false;
  return a.framework != Framework::CoSnap || construction == Construction::ExtendedLeastSnapshots;
}

}  // namespace

std::string histories_of(const ProofAnswer& answer) {
  std::string out = "every history";
  switch (answer.statements) {
    case StatementShape::Any: break;
    case StatementShape::NoInserts: out += " without inserts"; break;
    case StatementShape::NoLocks:
      out += " without locks, inserts and aborted writes in which each key is a row of its own";
      break;
    case StatementShape::Single:
      out +=
          " without locks, inserts and aborted writes in which each key is a row and each "
          "operation a statement of its own";
      break;
  }
  if (!answer.without_numbers) return out;
  return out + (answer.statements == StatementShape::Any ? " without commit numbers"
                                                         : ", without commit numbers");
}

FoundProof find_proof(const Level& a, const Level& b, Budget& budget, StatementShape statements) {
  const auto start = Budget::Clock::now();
  FoundProof found;
  ProofAnswer& answer = found.answer;
  if (!speaks_of_statements(a) && !speaks_of_statements(b)) statements = StatementShape::Any;
  answer.statements = statements;
  answer.outcome = ProofOutcome::NotProved;
  const std::vector<Attempt> all = attempts(a, b);
  std::vector<std::unique_ptr<ProofSearch>> searches;
  for (const Attempt& attempt : all) {
    searches.push_back(std::make_unique<ProofSearch>(a, b, attempt.construction, budget,
                                                     attempt.acyclic, statements));
  }
  std::optional<std::size_t> winner;
  // Every construction gets a little effort before any gets much.
  for (std::size_t effort = 0; effort < ProofSearch::kEfforts.size(); ++effort) {
    for (std::size_t i = 0; i < all.size() && answer.outcome == ProofOutcome::NotProved; ++i) {
      if (searches[i]->is_hopeless()) continue;
      if (searches[i]->run(effort)) {
        answer.outcome = ProofOutcome::Proved;
        answer.construction = all[i].construction;
        answer.without_numbers = may_break_numbers(a, b, all[i].construction);
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

ProofAnswer prove_implies(const Level& a, const Level& b, Budget& budget,
                          StatementShape statements) {
  return find_proof(a, b, budget, statements).answer;
}

}  // namespace isoscope
