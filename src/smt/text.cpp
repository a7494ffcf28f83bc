// Terms as SMT-LIB, for other solvers.
#include <fmt/format.h>

#include <map>
#include <set>
#include <unordered_set>

#include "smt/backend.h"

namespace isoscope {

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

}  // namespace isoscope
