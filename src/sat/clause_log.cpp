#include "sat/clause_log.h"

#include <utility>

namespace isoscope {

void ClauseLog::because(std::string reason) {
  if (reasons_[current_] == reason && current_ != kDefinition) return;
  reasons_.push_back(std::move(reason));
  current_ = static_cast<std::uint32_t>(reasons_.size() - 1);
}

void ClauseLog::add(std::span<const Lit> clause, std::uint32_t reason) {
  for (const Lit lit : clause) see(lit);
  clauses_.push_back({{clause.begin(), clause.end()}, reason, round_});
}

void ClauseLog::name(Lit variable, std::string words) {
  see(variable);
  names_.insert_or_assign(variable.variable(), std::move(words));
}

void ClauseLog::define(Lit output, std::vector<Lit> inputs) {
  if (!defined_.insert(output.variable()).second) return;
  see(output);
  for (const Lit lit : inputs) see(lit);
  gates_.push_back({output, std::move(inputs)});
}

std::string dimacs(const ClauseLog& log) {
  std::string text =
      "p cnf " + std::to_string(log.num_vars()) + ' ' + std::to_string(log.clauses().size()) + '\n';
  for (const ClauseLog::Clause& clause : log.clauses()) {
    for (const Lit lit : clause.literals) text += std::to_string(lit.dimacs()) + ' ';
    text += "0\n";
  }
  return text;
}

}  // namespace isoscope
