#include "synth/certificate.h"

#include <fmt/format.h>

#include <vector>

#include "spec/print.h"
#include "synth/proof_search.h"

namespace isoscope {

namespace {

using Step = ProofSearch::Step;

constexpr unsigned kCoreSteps = 2'000'000;  // of Z3's counter

// Which of the lemmas before it does a step rest on? All of them, if that is not known.
std::vector<std::size_t> lemmas_of(ProofSearch& search, std::size_t step, Budget& budget) {
  const std::vector<Step>& steps = search.steps();
  SmtLayers solver(search.smt());
  for (SmtTerm fact : search.assumptions()) solver.add(fact);
  if (steps[step].unrolls) {
    for (SmtTerm unrolling : search.unrollings()) solver.add(unrolling);
  }
  solver.add(steps[step].failure);
  std::vector<std::size_t> lemmas;
  std::vector<SmtTerm> uses;
  for (std::size_t i = 0; i < step; ++i) {
    if (!steps[i].claim) continue;
    lemmas.push_back(i);
    uses.push_back(search.smt().new_constant("use", SmtSolver::kBool));
    solver.add(implies(uses.back(), *steps[i].claim));
  }
  if (solver.check(uses, {.steps = kCoreSteps}, budget) != SmtResult::Unsat) return lemmas;
  std::vector<std::size_t> needed;
  for (std::size_t i : solver.core()) needed.push_back(lemmas[i]);
  return needed;
}

// The goals, and the lemmas that they rest on, in order.
std::vector<std::size_t> needed_steps(ProofSearch& search, Budget& budget) {
  const std::vector<Step>& steps = search.steps();
  std::vector<bool> is_needed(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) is_needed[i] = !steps[i].claim;
  for (std::size_t i = steps.size(); i-- > 0;) {
    if (!is_needed[i]) continue;
    for (std::size_t lemma : lemmas_of(search, i, budget)) is_needed[lemma] = true;
  }
  std::vector<std::size_t> needed;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (is_needed[i]) needed.push_back(i);
  }
  return needed;
}

std::string commented(std::string_view text) {
  std::string all = "; ";
  for (char c : text) all += c == '\n' ? std::string("\n; ") : std::string(1, c);
  return all + "\n";
}

std::string asserted(SmtSolver& smt, SmtTerm formula) {
  return fmt::format("(assert {})\n", smt.text(formula));
}

std::string head(const Level& a, const Level& b, const ProofAnswer& answer) {
  std::string histories = histories_of(answer);
  histories.front() = 'E';
  std::string text = commented(
      fmt::format("{} that satisfies {} satisfies {}.", histories, a.full_name(), b.full_name()));
  text += commented(
      fmt::format("The witness of {}: {}.", b.full_name(), describe(answer.construction.value())));
  text += commented(
      fmt::format("Proved if each check-sat answers unsat.\n\n{}\n\n{}", print(a), print(b)));
  return text + "(set-logic UF)\n";
}

}  // namespace

std::string certify_implies(const Level& a, const Level& b, Budget& budget,
                            StatementShape statements) {
  const FoundProof found = find_proof(a, b, budget, statements);
  if (found.search == nullptr) return {};
  ProofSearch& search = *found.search;
  SmtSolver& smt = search.smt();
  const std::vector<std::size_t> needed = needed_steps(search, budget);

  std::vector<SmtTerm> all(search.assumptions().begin(), search.assumptions().end());
  all.insert(all.end(), search.unrollings().begin(), search.unrollings().end());
  for (std::size_t i : needed) {
    all.push_back(search.steps()[i].failure);
    if (search.steps()[i].claim) all.push_back(*search.steps()[i].claim);
  }
  std::string text = head(a, b, found.answer) + smt.declarations(all);
  const auto& headings = search.theory().headings();
  for (std::size_t i = 0, h = 0; i < search.assumptions().size(); ++i) {
    for (; h < headings.size() && headings[h].first_fact <= i; ++h)
      text += "\n" + commented(fmt::format("Assumed: {}.", headings[h].words));
    text += asserted(smt, search.assumptions()[i]);
  }

  std::size_t number = 0;
  for (std::size_t i : needed) {
    const Step& step = search.steps()[i];
    text +=
        "\n" + commented(fmt::format("Step {} of {}: {}.", ++number, needed.size(), step.words));
    text += "(push 1)\n";
    if (step.unrolls) {
      text += "; A pair of a closure is a step, or has a last one.\n";
      for (SmtTerm unrolling : search.unrollings()) text += asserted(smt, unrolling);
    }
    text += asserted(smt, step.failure) + "(check-sat)\n(pop 1)\n";
    if (step.claim) text += "; Hence:\n" + asserted(smt, *step.claim);
  }
  return text;
}

}  // namespace isoscope
