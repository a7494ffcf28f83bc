#include "audit/open_world.h"

#include <algorithm>

#include "audit/server_levels.h"
#include "support/stopwatch.h"

namespace isoscope::audit {

namespace {

// Far more than any question of ours that was ever answered needed.
constexpr SmtLimits kOpenQuestion{.steps = 60'000'000};
// Up to so many, the graph of what may depend on what is asked of the solver.
constexpr std::size_t kFewFunctions = 16;
// Casts whose constraints are kept: the questions of a proof come back to the same ones.
constexpr std::size_t kMaxKept = 5'000;

}  // namespace

WorldRules rules_of(const Problem& problem) {
  WorldRules rules{.conflicts = problem.conflicts, .serial = problem.serial};
  if (!is_on_server(problem.levels)) return rules;
  rules.conflicts = Conflicts::Rows;
  rules.keys_are_current = true;
  for (const sql::FunctionId f : problem.app.function_ids())
    rules.per_statement.push_back(&problem.levels.of(f) == &pg_read_committed());
  // What SERIALIZABLE does not notice may close a cycle: then it is no more than REPEATABLE READ.
  if (!unnoticed(problem.app).empty()) return rules;
  for (const sql::FunctionId f : problem.app.function_ids())
    rules.is_protected.push_back(&problem.levels.of(f) == &pg_serializable());
  return rules;
}

OpenWorld::OpenWorld(const Problem& problem, Budget& budget)
    : changes_(problem.app),
      smt_(numbers_of(problem.app)),
      symbols_(smt_, problem.app, changes_, true),
      world_(symbols_, Scope::Open, rules_of(problem)),
      axioms_(world_, problem.levels) {
  smt_.stop_with(budget);
  // Counters speak of one view a call.
  const bool may_count = !has_read_committed(problem.levels, problem.app);
  counters_ = std::make_unique<Counters>(world_, axioms_, problem.rows_at_start, may_count, budget);
}

std::vector<Member> OpenWorld::cast(std::span<const sql::FunctionId> functions) {
  std::vector<Member> cast;
  std::map<sql::FunctionId, std::size_t> count;
  for (const sql::FunctionId f : functions) cast.push_back(world_.member(f, count[f]++));
  return cast;
}

bool OpenWorld::is_protected(std::span<const sql::FunctionId> functions) const {
  return std::ranges::all_of(functions,
                             [&](sql::FunctionId f) { return world_.rules().protects(f); });
}

SmtResult OpenWorld::ask(Cast cast, std::span<const SmtTerm> about, Budget& budget) {
  const Stopwatch start;
  const auto is_never = [&](SmtTerm formula) { return smt_.known_truth(formula) == false; };
  if (std::ranges::any_of(about, is_never)) return SmtResult::Unsat;
  std::vector<Member> sorted(cast.begin(), cast.end());
  std::ranges::sort(sorted);
  auto found = constraints_.find(sorted);
  if (found == constraints_.end()) {
    if (constraints_.size() >= kMaxKept) constraints_.clear();
    std::vector<SmtTerm> formulas = world_.constraints(sorted);
    for (const auto& more : {axioms_.constraints(sorted), counters_->constraints(sorted)})
      formulas.insert(formulas.end(), more.begin(), more.end());
    found = constraints_.emplace(sorted, std::move(formulas)).first;
  }
  std::vector<SmtTerm> formulas = found->second;
  formulas.insert(formulas.end(), about.begin(), about.end());
  effort_.building_seconds += start.seconds();
  const Stopwatch solving;
  const SmtResult result = smt_.check(formulas, kOpenQuestion, budget);
  effort_.solving_seconds += solving.seconds();
  ++effort_.questions;
  return result;
}

bool OpenWorld::may_depend(sql::FunctionId f, sql::FunctionId g, Budget& budget) {
  const auto found = may_depend_.find({f, g});
  if (found != may_depend_.end()) return found->second;
  const sql::FunctionId functions[] = {f, g};
  const std::vector<Member> members = cast(functions);
  const SmtTerm about[] = {world_.depends(members[0], members[1])};
  // Of many functions, that they meet at some location is enough to go on with.
  if (symbols_.app().functions.size() > kFewFunctions)
    return may_depend_[{f, g}] = smt_.known_truth(about[0]) != false;
  const bool may = ask(members, about, budget) != SmtResult::Unsat;
  if (!budget.expired_now()) may_depend_[{f, g}] = may;
  return may;
}

}  // namespace isoscope::audit
