// Asking Z3 whether formulas can be true.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "smt/backend.h"
#include "support/assert.h"
#include "support/watch.h"

namespace isoscope {

namespace {

void set_limits(z3::solver& solver, SmtLimits limits, const Budget& budget) {
  z3::params params(solver.ctx());
  params.set("rlimit", limits.steps);  // 0 lifts an earlier limit
  // Z3 counts milliseconds in 32 bits; more than an hour is as good as no limit.
  constexpr double kLongest = 3'600'000.0;
  const double seconds = budget.remaining().value_or(kLongest);
  params.set("timeout",
             static_cast<unsigned>(std::clamp(std::ceil(seconds * 1000), 1.0, kLongest)));
  // Z3 would take over SIGINT for the time of a call: the user's interrupt would end only that.
  params.set("ctrl_c", false);
  solver.set(params);
}

SmtResult result_of(z3::check_result result) {
  switch (result) {
    case z3::sat: return SmtResult::Sat;
    case z3::unsat: return SmtResult::Unsat;
    default: return SmtResult::Unknown;
  }
}

}  // namespace

SmtResult SmtSolver::check(std::span<const SmtTerm> formulas, SmtLimits limits, Budget& budget) {
  Backend& z3 = *backend_;
  if (z3.failed || budget.expired_now()) return SmtResult::Unknown;
  try {
    z3::solver solver(z3.context, z3::solver::simple());
    set_limits(solver, limits, budget);
    for (SmtTerm formula : formulas) {
      if (budget.expired()) return SmtResult::Unknown;
      solver.add(z3.terms[formula.index]);
    }
    const StopListener listener([&] { z3.context.interrupt(); });
    return result_of(solver.check());
  } catch (const z3::exception&) {
    return SmtResult::Unknown;
  }
}

struct SmtLayers::State {
  z3::solver solver;
  std::optional<z3::model> model;
  std::vector<std::size_t> core;

  explicit State(z3::context& context) : solver(context, z3::solver::simple()) {}
};

SmtLayers::SmtLayers(SmtSolver& solver)
    : solver_(solver), state_(std::make_unique<State>(solver.backend_->context)) {}
SmtLayers::~SmtLayers() = default;

void SmtLayers::push() {
  state_->model.reset();
  state_->solver.push();
}
void SmtLayers::pop() {
  state_->model.reset();
  state_->solver.pop();
}
void SmtLayers::add(SmtTerm formula) {
  state_->model.reset();
  try {
    state_->solver.add(solver_.backend_->terms[formula.index]);
  } catch (const z3::exception&) {
    solver_.backend_->failed = true;
  }
}

SmtResult SmtLayers::check(std::span<const SmtTerm> assumptions, SmtLimits limits, Budget& budget) {
  SmtSolver::Backend& z3 = *solver_.backend_;
  state_->model.reset();
  state_->core.clear();
  if (z3.failed || budget.expired_now()) return SmtResult::Unknown;
  try {
    set_limits(state_->solver, limits, budget);
    z3::expr_vector list(z3.context);
    for (SmtTerm assumption : assumptions) list.push_back(z3.terms[assumption.index]);
    const StopListener listener([&] { z3.context.interrupt(); });
    const SmtResult result = result_of(state_->solver.check(list));
    if (result == SmtResult::Sat) state_->model.emplace(state_->solver.get_model());
    if (result == SmtResult::Unsat) {
      for (const z3::expr& used : state_->solver.unsat_core()) {
        for (std::size_t i = 0; i < assumptions.size(); ++i) {
          if (z3::eq(used, z3.terms[assumptions[i].index])) state_->core.push_back(i);
        }
      }
    }
    return result;
  } catch (const z3::exception&) {
    return SmtResult::Unknown;
  }
}

const std::vector<std::size_t>& SmtLayers::core() const { return state_->core; }

namespace {

// What the model says of a term. An interrupt that comes when the question is answered already is
// still in force: then Z3 refuses.
z3::expr value_in(const z3::model& model, const z3::expr& term, bool& failed) {
  try {
    return model.eval(term, true);
  } catch (const z3::exception&) {
    failed = true;
    throw SmtStopped{};
  }
}

}  // namespace

bool SmtLayers::holds(SmtTerm formula) {
  ISO_ASSERT(state_->model.has_value());
  SmtSolver::Backend& z3 = *solver_.backend_;
  return value_in(*state_->model, z3.terms[formula.index], z3.failed).is_true();
}

std::int64_t SmtLayers::number(SmtTerm term) {
  ISO_ASSERT(state_->model.has_value());
  SmtSolver::Backend& z3 = *solver_.backend_;
  std::int64_t value = 0;
  const z3::expr result = value_in(*state_->model, z3.terms[term.index], z3.failed);
  if (result.is_numeral_i64(value)) return value;
  std::int64_t below = 0;
  if (z3.is_real && result.is_numeral() && result.numerator().is_numeral_i64(value) &&
      result.denominator().is_numeral_i64(below))
    return value / below;
  return result.to_string().find('-') != std::string::npos
             ? std::numeric_limits<std::int64_t>::min()
             : std::numeric_limits<std::int64_t>::max();
}

}  // namespace isoscope
