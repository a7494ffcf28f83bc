#pragma once
// Z3 behind the handles of solver.h. Only the sources of this folder include it.
#include <fmt/format.h>
#include <z3++.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "smt/solver.h"

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

}  // namespace isoscope
