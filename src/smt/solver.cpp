// Building terms.
#include "smt/solver.h"

#include <optional>

#include "smt/backend.h"
#include "support/assert.h"

namespace isoscope {

SmtSolver::SmtSolver(SmtNumbers numbers) : backend_(std::make_unique<Backend>(numbers)) {}
SmtSolver::~SmtSolver() = default;

void SmtSolver::stop_with(Budget& budget) { backend_->budget = &budget; }
void SmtSolver::go_on(std::size_t work) { backend_->go_on(work); }

SmtSort SmtSolver::new_sort(std::string_view name) {
  Backend& z3 = *backend_;
  z3.sorts.push_back(z3.context.uninterpreted_sort(z3.unique(name).c_str()));
  return {static_cast<std::uint32_t>(z3.sorts.size() - 1)};
}

SmtFunction SmtSolver::new_function(std::string_view name, std::span<const SmtSort> from,
                                    SmtSort to) {
  Backend& z3 = *backend_;
  z3.go_on(1);
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
                return left.is_true()    ? z3.context.bool_val(false)
                       : left.is_false() ? z3.context.bool_val(true)
                                         : !left;
              case Connective::And:
                return left.is_true() || right.is_false()   ? right
                       : right.is_true() || left.is_false() ? left
                                                            : left && right;
              case Connective::Or:
                return left.is_false() || right.is_true()   ? right
                       : right.is_false() || left.is_true() ? left
                                                            : left || right;
              case Connective::Implies:
                return left.is_true() || right.is_true() ? right : z3::implies(left, right);
              case Connective::Add: return left + right;
              case Connective::Subtract: return left - right;
              case Connective::Less: return left < right;
              case Connective::LessEqual: return left <= right;
              default:
                if (z3::eq(left, right)) return z3.context.bool_val(true);
                if (left.is_numeral() && right.is_numeral()) return z3.context.bool_val(false);
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

SmtTerm operator+(SmtTerm a, SmtTerm b) {
  return a.solver->connect(SmtSolver::Connective::Add, a, b);
}
SmtTerm operator-(SmtTerm a, SmtTerm b) {
  return a.solver->connect(SmtSolver::Connective::Subtract, a, b);
}
SmtTerm operator<(SmtTerm a, SmtTerm b) {
  return a.solver->connect(SmtSolver::Connective::Less, a, b);
}
SmtTerm operator<=(SmtTerm a, SmtTerm b) {
  return a.solver->connect(SmtSolver::Connective::LessEqual, a, b);
}
SmtTerm operator*(std::int64_t factor, SmtTerm a) {
  SmtSolver::Backend& z3 = *a.solver->backend_;
  return {a.solver, z3.keep([&] { return z3.number(factor) * z3.terms[a.index]; })};
}

SmtTerm choose(SmtTerm condition, SmtTerm yes, SmtTerm no) {
  SmtSolver::Backend& z3 = *condition.solver->backend_;
  return {condition.solver, z3.keep([&]() -> z3::expr {
            const z3::expr& test = z3.terms[condition.index];
            const z3::expr& left = z3.terms[yes.index];
            const z3::expr& right = z3.terms[no.index];
            if (test.is_true() || z3::eq(left, right)) return left;
            if (test.is_false()) return right;
            return z3::ite(test, left, right);
          })};
}

SmtTerm all_of(SmtSolver& solver, std::span<const SmtTerm> formulas) {
  return {&solver, solver.backend_->join(formulas, true)};
}

SmtTerm any_of(SmtSolver& solver, std::span<const SmtTerm> formulas) {
  return {&solver, solver.backend_->join(formulas, false)};
}

SmtTerm SmtSolver::number(std::int64_t value) {
  return {this, backend_->keep([&] { return backend_->number(value); })};
}

SmtTerm SmtSolver::decimal(const std::string& digits) {
  Backend& z3 = *backend_;
  if (!z3.is_real && digits.find('.') != std::string::npos) {
    z3.failed = true;  // Z3 does not survive the question
    return number(0);
  }
  return {this, z3.keep([&] {
            return z3.is_real ? z3.context.real_val(digits.c_str())
                              : z3.context.int_val(digits.c_str());
          })};
}

bool SmtSolver::has_real_numbers() const { return backend_->is_real; }

SmtTerm SmtSolver::is_whole(SmtTerm number) {
  Backend& z3 = *backend_;
  if (!z3.is_real) return truth(true);
  return {this, z3.keep([&] { return z3::is_int(z3.terms[number.index]); })};
}

std::optional<SmtTerm> SmtSolver::product(SmtTerm a, SmtTerm b) {
  Backend& z3 = *backend_;
  if (!z3.terms[a.index].is_numeral() && !z3.terms[b.index].is_numeral()) return std::nullopt;
  return SmtTerm{this, z3.keep([&] { return z3.terms[a.index] * z3.terms[b.index]; })};
}

std::optional<bool> SmtSolver::known_truth(SmtTerm formula) const {
  const z3::expr& term = backend_->terms[formula.index];
  if (term.is_true()) return true;
  if (term.is_false()) return false;
  return std::nullopt;
}

std::optional<std::int64_t> SmtSolver::known_number(SmtTerm term) const {
  std::int64_t value = 0;
  if (backend_->terms[term.index].is_numeral_i64(value)) return value;
  return std::nullopt;
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

}  // namespace isoscope
