#include "check/strong/search.h"

#include <optional>
#include <utility>
#include <vector>

#include "check/strong/conflicts.h"
#include "check/strong/guess.h"
#include "check/strong/propagation.h"
#include "check/strong/speculation.h"

namespace isoscope::strong {
namespace {

// Calls of the solver before following implications is worth its cost.
constexpr std::uint32_t kPatience = 16;

bool can_speculate(const Residue& residue) {
  return residue.known().is_saturated && Propagation::fits(residue.known().graph);
}

// The choices as variables of a solver, which prefers the answers it is given.
class Encoding {
 public:
  explicit Encoding(const Answers& preferred) {
    for (std::size_t i = 0; i < preferred.size(); ++i) variables_.push_back(solver_.new_var());
    prefer(preferred);
  }

  void prefer(const Answers& answers) {
    for (std::size_t i = 0; i < answers.size(); ++i)
      solver_.set_phase(answers[i] ? variables_[i] : ~variables_[i]);
  }

  void forbid(const Conflict& conflict) {
    clause_.clear();
    for (const ChoiceLit lit : conflict) {
      const Lit a_first = variables_[lit.choice()];
      clause_.push_back(lit.is_a_first() ? ~a_first : a_first);
    }
    solver_.add_clause(clause_);
  }

  SatResult solve(Answers& answers, Budget& budget) {
    const SatResult result = solver_.solve(budget);
    if (result != SatResult::Sat) return result;
    for (std::size_t i = 0; i < answers.size(); ++i) answers[i] = solver_.value(variables_[i]);
    return result;
  }

 private:
  SatSolver solver_;
  std::vector<Lit> variables_;
  std::vector<Lit> clause_;
};

}  // namespace

Search search_answers(const Residue& residue, const Guess& guess, Budget& budget,
                      const Progress& progress) {
  Search search;
  search.answers = answers_of(residue, guess);
  ConflictFinder finder(residue);
  std::vector<Conflict> conflicts = finder.find(search.answers, budget);
  std::optional<Encoding> encoding;
  while (!conflicts.empty()) {
    if (progress) progress("searching for an order", -1);
    if (!encoding) encoding.emplace(search.answers);
    for (const Conflict& conflict : conflicts) encoding->forbid(conflict);
    search.clauses += conflicts.size();
    ++search.solver_calls;
    search.result = encoding->solve(search.answers, budget);
    if (search.result != SatResult::Sat) return search;
    conflicts = finder.find(search.answers, budget);
    if (conflicts.empty() || search.solver_calls != kPatience || !can_speculate(residue)) continue;
    Speculation speculation = speculate(residue, guess, budget);
    search.restarts = speculation.restarts;
    if (speculation.result == Speculated::Refuted) {
      search.result = SatResult::Unsat;
      return search;
    }
    // Whatever it found, others judge; if it found nothing, it got further than the guess.
    search.answers = std::move(speculation.answers);
    encoding->prefer(search.answers);
    conflicts = finder.find(search.answers, budget);
  }
  // Out of time, the finder may have missed conflicts.
  search.result = budget.expired_now() ? SatResult::Unknown : SatResult::Sat;
  return search;
}

}  // namespace isoscope::strong
