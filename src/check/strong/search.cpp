#include "check/strong/search.h"

#include <utility>
#include <vector>

#include "check/strong/conflicts.h"
#include "check/strong/guess.h"

namespace isoscope::strong {
namespace {

// The choices as variables of a solver, which prefers the answers it is given.
class Encoding {
 public:
  explicit Encoding(const Answers& preferred) {
    for (const bool a_first : preferred) {
      variables_.push_back(solver_.new_var());
      solver_.set_phase(a_first ? variables_.back() : ~variables_.back());
    }
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

Search search_answers(const Residue& residue, Budget& budget, const Progress& progress) {
  Search search;
  search.answers = guess(residue);
  ConflictFinder finder(residue);
  std::vector<Conflict> conflicts = finder.find(search.answers, budget);
  if (!conflicts.empty()) {
    Encoding encoding(search.answers);
    while (!conflicts.empty()) {
      if (progress) progress("search", -1);
      for (const Conflict& conflict : conflicts) encoding.forbid(conflict);
      search.clauses += conflicts.size();
      ++search.solver_calls;
      search.result = encoding.solve(search.answers, budget);
      if (search.result != SatResult::Sat) return search;
      conflicts = finder.find(search.answers, budget);
    }
  }
  // Out of time, the finder may have missed conflicts.
  search.result = budget.expired_now() ? SatResult::Unknown : SatResult::Sat;
  return search;
}

}  // namespace isoscope::strong
