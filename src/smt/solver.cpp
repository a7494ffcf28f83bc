#include "smt/solver.h"

#include <fmt/format.h>
#include <z3++.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "support/assert.h"
#include "support/watch.h"

namespace isoscope {

// Handles are positions in these lists. Z3 distinguishes things by their names, so each name gets a
// number of its own.
struct SmtSolver::Backend {
  z3::context context;
  std::vector<z3::sort> sorts;
  std::vector<z3::func_decl> functions;
  std::vector<z3::expr> terms;
  std::unordered_map<unsigned, std::uint32_t> positions;  // of terms, by Z3's number of them
  unsigned names = 0;
  bool failed = false;  // Z3 refused to build a term: nothing about it can be answered
  Budget* budget = nullptr;
  std::size_t work = 0;  // terms made since the last look at the budget
  bool is_real = false;

  explicit Backend(SmtNumbers numbers) : is_real(numbers == SmtNumbers::Real) {
    sorts.push_back(context.bool_sort());
    sorts.push_back(is_real ? context.real_sort() : context.int_sort());
  }

  z3::expr number(std::int64_t value) {
    return is_real ? context.real_val(value) : context.int_val(value);
  }

  std::string unique(std::string_view name) { return fmt::format("{}!{}", name, names++); }

  void go_on(std::size_t done) {
    constexpr std::size_t kWorkPerLook = 1024;
    if (budget == nullptr || (work += done) < kWorkPerLook) return;
    work = 0;
    if (!budget->expired_now()) return;
    failed = true;  // what is unfinished must not be asked about
    throw SmtStopped{};
  }

  // Runs `build`, which calls Z3, and keeps its result; a term that Z3 refuses becomes `true`, and
  // every later check() answers Unknown. Equal terms have one handle.
  template <class Build>
  std::uint32_t keep(const Build& build, std::size_t work_to_do = 1) {
    go_on(work_to_do);
    z3::expr term(context);
    try {
      term = build();
    } catch (const z3::exception&) {
      failed = true;
      term = context.bool_val(true);
    }
    const auto [place, is_new] =
        positions.emplace(term.id(), static_cast<std::uint32_t>(terms.size()));
    if (is_new) terms.push_back(term);
    return place->second;
  }

  // The conjunction of formulas, or their disjunction.
  std::uint32_t join(std::span<const SmtTerm> formulas, bool is_conjunction) {
    const auto build = [&]() -> z3::expr {
      z3::expr_vector list(context);
      for (const SmtTerm formula : formulas) {
        const z3::expr& part = terms[formula.index];
        if (is_conjunction ? part.is_false() : part.is_true()) return part;
        if (is_conjunction ? !part.is_true() : !part.is_false()) list.push_back(part);
      }
      // Z3 prints the conjunction of nothing as `and`, which others do not read.
      if (list.empty()) return context.bool_val(is_conjunction);
      if (list.size() == 1) return list[0];
      return is_conjunction ? z3::mk_and(list) : z3::mk_or(list);
    };
    return keep(build, formulas.size());
  }
};

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
              case Connective::Add:
                return left + right;
              case Connective::Subtract:
                return left - right;
              case Connective::Less:
                return left < right;
              case Connective::LessEqual:
                return left <= right;
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
    case z3::sat:
      return SmtResult::Sat;
    case z3::unsat:
      return SmtResult::Unsat;
    default:
      return SmtResult::Unknown;
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

namespace {

// Z3 writes (! BODY :weight 0) for the body of a quantifier; other solvers know no weights.
std::string without_weights(std::string_view text) {
  constexpr std::string_view kOpen = "(! ";
  constexpr std::string_view kWeight = ":weight 0";
  std::string plain;
  std::vector<bool> is_weighted;  // by open parenthesis
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, kOpen.size()) == kOpen) {
      is_weighted.push_back(true);
      i += kOpen.size() - 1;
    } else if (text[i] == '(') {
      is_weighted.push_back(false);
      plain += '(';
    } else if (text[i] == ')') {
      if (!is_weighted.back()) plain += ')';
      is_weighted.pop_back();
    } else if (text.substr(i, kWeight.size()) == kWeight) {
      i += kWeight.size() - 1;
      plain.erase(plain.find_last_not_of(" \n") + 1);
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

std::string SmtSolver::text(SmtTerm formula) {
  Backend& z3 = *backend_;
  Z3_set_ast_print_mode(z3.context, Z3_PRINT_SMTLIB2_COMPLIANT);
  return without_weights(z3.terms[formula.index].to_string());
}

std::string SmtSolver::declarations(std::span<const SmtTerm> formulas) {
  Backend& z3 = *backend_;
  std::set<std::string> sorts;  // in the order of names: the same text each time
  std::map<std::string, std::string> functions;
  const auto note_sort = [&](const z3::sort& sort) {
    if (sort.sort_kind() == Z3_UNINTERPRETED_SORT) sorts.insert(sort.name().str());
  };
  std::unordered_set<unsigned> seen;
  std::vector<z3::expr> open;
  for (SmtTerm formula : formulas) open.push_back(z3.terms[formula.index]);
  while (!open.empty()) {
    const z3::expr term = open.back();
    open.pop_back();
    if (!seen.insert(term.id()).second) continue;
    if (term.is_quantifier()) {
      for (unsigned i = 0; i < Z3_get_quantifier_num_bound(z3.context, term); ++i)
        note_sort({z3.context, Z3_get_quantifier_bound_sort(z3.context, term, i)});
      open.push_back(term.body());
    }
    if (!term.is_app()) continue;
    for (unsigned i = 0; i < term.num_args(); ++i) open.push_back(term.arg(i));
    const z3::func_decl function = term.decl();
    if (function.decl_kind() != Z3_OP_UNINTERPRETED) continue;
    for (unsigned i = 0; i < function.arity(); ++i) note_sort(function.domain(i));
    note_sort(function.range());
    functions.emplace(function.name().str(), function.to_string());
  }
  std::string all;
  for (const std::string& name : sorts) all += fmt::format("(declare-sort {} 0)\n", name);
  for (const auto& [name, declaration] : functions) all += declaration + "\n";
  return all;
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
