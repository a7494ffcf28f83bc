#include "smt/solver.h"

#include <fmt/format.h>
#include <z3++.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "support/assert.h"

#if defined(__SANITIZE_ADDRESS__)
// Z3 4.8 loses a few bytes of its own when a query is given up; LeakSanitizer is to look at ours.
extern "C" const char* __lsan_default_suppressions() { return "leak:libz3"; }
#endif

namespace isoscope {

// Handles are positions in these lists. Z3 tells things apart by their names, so each name gets a
// number of its own.
struct SmtSolver::Backend {
  z3::context context;
  std::vector<z3::sort> sorts;
  std::vector<z3::func_decl> functions;
  std::vector<z3::expr> terms;
  unsigned names = 0;
  bool failed = false;  // Z3 refused to build a term: nothing about it can be answered

  Backend() { sorts.push_back(context.bool_sort()); }

  std::string unique(std::string_view name) { return fmt::format("{}!{}", name, names++); }

  // Runs `build`, which calls Z3, and keeps its result; a term that Z3 refuses becomes `true`, and
  // every later check() answers Unknown.
  template <class Build>
  std::uint32_t keep(const Build& build) {
    try {
      terms.push_back(build());
    } catch (const z3::exception&) {
      failed = true;
      terms.push_back(context.bool_val(true));
    }
    return static_cast<std::uint32_t>(terms.size() - 1);
  }
};

SmtSolver::SmtSolver() : backend_(std::make_unique<Backend>()) {}
SmtSolver::~SmtSolver() = default;

SmtSort SmtSolver::new_sort(std::string_view name) {
  Backend& z3 = *backend_;
  z3.sorts.push_back(z3.context.uninterpreted_sort(z3.unique(name).c_str()));
  return {static_cast<std::uint32_t>(z3.sorts.size() - 1)};
}

SmtFunction SmtSolver::new_function(std::string_view name, std::span<const SmtSort> from,
                                    SmtSort to) {
  Backend& z3 = *backend_;
  try {
    z3::sort_vector domain(z3.context);
    for (SmtSort sort : from) domain.push_back(z3.sorts[sort.index]);
    z3.functions.push_back(
        z3.context.function(z3.unique(name).c_str(), domain, z3.sorts[to.index]));
  } catch (const z3::exception&) {
    z3.failed = true;
    z3.functions.emplace_back(z3.context);
  }
  return {this, static_cast<std::uint32_t>(z3.functions.size() - 1)};
}

SmtTerm SmtSolver::new_constant(std::string_view name, SmtSort sort) {
  Backend& z3 = *backend_;
  return {this, z3.keep([&] {
            return z3.context.constant(z3.unique(name).c_str(), z3.sorts[sort.index]);
          })};
}

SmtTerm SmtSolver::truth(bool value) {
  return {this, backend_->keep([&] { return backend_->context.bool_val(value); })};
}

SmtTerm SmtFunction::operator()(std::span<const SmtTerm> arguments) const {
  SmtSolver::Backend& z3 = *solver->backend_;
  return {solver, z3.keep([&] {
            z3::expr_vector list(z3.context);
            for (SmtTerm argument : arguments) list.push_back(z3.terms[argument.index]);
            return z3.functions[index](list);
          })};
}

SmtTerm SmtSolver::connect(Connective connective, SmtTerm a, SmtTerm b) {
  ISO_ASSERT(a.solver == this && b.solver == this);
  Backend& z3 = *backend_;
  const z3::expr& left = z3.terms[a.index];
  const z3::expr& right = z3.terms[b.index];
  return {this, z3.keep([&]() -> z3::expr {
            switch (connective) {
              case Connective::Not:
                return !left;
              case Connective::And:
                return left.is_true() ? right : right.is_true() ? left : left && right;
              case Connective::Or:
                return left.is_false() ? right : right.is_false() ? left : left || right;
              case Connective::Implies:
                return left.is_true() ? right : z3::implies(left, right);
              default:
                return left == right;
            }
          })};
}

SmtTerm operator!(SmtTerm a) { return a.solver->connect(SmtSolver::Connective::Not, a, a); }
SmtTerm operator&&(SmtTerm a, SmtTerm b) {
  return a.solver->connect(SmtSolver::Connective::And, a, b);
}
SmtTerm operator||(SmtTerm a, SmtTerm b) {
  return a.solver->connect(SmtSolver::Connective::Or, a, b);
}
SmtTerm implies(SmtTerm a, SmtTerm b) {
  return a.solver->connect(SmtSolver::Connective::Implies, a, b);
}
SmtTerm iff(SmtTerm a, SmtTerm b) { return a.solver->connect(SmtSolver::Connective::Iff, a, b); }
SmtTerm equals(SmtTerm a, SmtTerm b) {
  return a.solver->connect(SmtSolver::Connective::Equals, a, b);
}

SmtTerm SmtSolver::forall(std::span<const SmtSort> sorts, const Body& body) {
  return quantify(true, sorts, body);
}
SmtTerm SmtSolver::exists(std::span<const SmtSort> sorts, const Body& body) {
  return quantify(false, sorts, body);
}

SmtTerm SmtSolver::quantify(bool for_all, std::span<const SmtSort> sorts, const Body& body) {
  Backend& z3 = *backend_;
  std::vector<SmtTerm> variables;
  for (SmtSort sort : sorts) variables.push_back(new_constant("v", sort));
  const SmtTerm inner = body(variables);
  if (variables.empty()) return inner;
  return {this, z3.keep([&] {
            z3::expr_vector bound(z3.context);
            for (SmtTerm variable : variables) bound.push_back(z3.terms[variable.index]);
            const z3::expr& matrix = z3.terms[inner.index];
            return for_all ? z3::forall(bound, matrix) : z3::exists(bound, matrix);
          })};
}

SmtResult SmtSolver::check(std::span<const SmtTerm> formulas, SmtLimits limits, Budget& budget) {
  Backend& z3 = *backend_;
  if (z3.failed || budget.expired_now()) return SmtResult::Unknown;
  try {
    z3::solver solver(z3.context, z3::solver::simple());
    z3::params params(z3.context);
    if (limits.steps > 0) params.set("rlimit", limits.steps);
    if (const std::optional<double> seconds = budget.remaining()) {
      // Z3 counts milliseconds in 32 bits; more than an hour is as good as no limit.
      const double ms = std::clamp(std::ceil(*seconds * 1000), 1.0, 3'600'000.0);
      params.set("timeout", static_cast<unsigned>(ms));
    }
    solver.set(params);
    for (SmtTerm formula : formulas) solver.add(z3.terms[formula.index]);
    switch (solver.check()) {
      case z3::sat:
        return SmtResult::Sat;
      case z3::unsat:
        return SmtResult::Unsat;
      default:
        return SmtResult::Unknown;
    }
  } catch (const z3::exception&) {
    return SmtResult::Unknown;
  }
}

std::string SmtSolver::text(std::span<const SmtTerm> formulas) {
  Backend& z3 = *backend_;
  try {
    z3::solver solver(z3.context, z3::solver::simple());
    for (SmtTerm formula : formulas) solver.add(z3.terms[formula.index]);
    return solver.to_smt2();
  } catch (const z3::exception& exception) {
    return fmt::format("; {}\n", exception.msg());
  }
}

}  // namespace isoscope
