#pragma once
// A certificate file taken apart: sections, and the formula of an answer. For
// certificate_check.cpp.
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "support/drat_check.h"

namespace isoscope {

struct CertificateSection {
  std::string name;  // answer, level, history, cnf, reasons, proof, cycle
  std::size_t number = 0;
  std::string rest;  // of the heading
  std::string text;
};

// Nothing if the file does not begin or end as it should.
inline std::optional<std::vector<CertificateSection>> sections_of(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != "isoscope certificate 1") return std::nullopt;
  std::vector<CertificateSection> sections;
  bool ended = false;
  while (std::getline(lines, line)) {
    if (ended) return std::nullopt;
    if (!line.starts_with("%% ")) {
      if (sections.empty()) return std::nullopt;
      sections.back().text += line + '\n';
      continue;
    }
    if (line == "%% end") {
      ended = true;
      continue;
    }
    std::istringstream heading(line.substr(3));
    CertificateSection section;
    if (!(heading >> section.name >> section.number)) return std::nullopt;
    heading >> section.rest;
    sections.push_back(std::move(section));
  }
  if (!ended) return std::nullopt;
  return sections;
}

// The value behind "key: " in the lines of an answer; several of them one after the other.
inline std::vector<std::string> values_of(const std::string& answer, const std::string& key) {
  std::vector<std::string> values;
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + ": ")) values.push_back(line.substr(key.size() + 2));
  }
  return values;
}

struct CertificateFormula {
  int variables = 0;
  std::map<int, std::string> names;       // inputs
  std::map<int, std::vector<int>> gates;  // conjunctions
  std::vector<DratClause> clauses;
  std::vector<std::string> reasons;  // by clause, without the words of its literals
  std::size_t added = 0;             // clauses behind the first heading of reasons
};

// An error as text, or the formula.
inline std::string parse_formula(const std::string& cnf, const std::string& reasons,
                                 CertificateFormula& formula) {
  std::istringstream lines(cnf);
  std::string line;
  std::size_t announced = 0;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string head;
    if (line.starts_with("c ")) {
      int variable = 0;
      words >> head >> variable;
      if (!words) continue;  // a heading
      std::string rest;
      std::getline(words, rest);
      if (rest.starts_with(": ")) {
        formula.names[variable] = rest.substr(2);
      } else if (rest.starts_with(" = and ")) {
        std::istringstream inputs(rest.substr(7));
        for (int lit = 0; inputs >> lit;) formula.gates[variable].push_back(lit);
      } else {
        return "no meaning: " + line;
      }
      continue;
    }
    if (line.starts_with("p cnf ")) {
      words >> head >> head >> formula.variables >> announced;
      continue;
    }
    DratClause clause;
    bool closed = false;
    for (int lit = 0; !closed && words >> lit;) {
      closed = lit == 0;
      if (std::abs(lit) > formula.variables) return "unknown variable: " + line;
      if (!closed) clause.push_back(lit);
    }
    if (!closed) return "no clause: " + line;
    formula.clauses.push_back(std::move(clause));
  }
  if (announced != formula.clauses.size()) return "the number of clauses is wrong";
  std::istringstream told(reasons);
  bool on_the_way = false;
  while (std::getline(told, line)) {
    if (line.starts_with("# Clauses added")) on_the_way = true;
    if (line.starts_with("#")) continue;
    std::size_t number = 0;
    std::istringstream words(line);
    words >> number;
    if (number != formula.reasons.size() + 1) return "reasons out of order: " + line;
    std::string reason;
    std::getline(words, reason);
    const std::size_t literals = reason.rfind("  |");
    if (literals != std::string::npos) reason.resize(literals);
    formula.reasons.push_back(reason.empty() ? reason : reason.substr(1));
    if (on_the_way) ++formula.added;
  }
  if (formula.reasons.size() != formula.clauses.size()) return "not every clause has a reason";
  return {};
}

// Truth values of variables, gates computed from their inputs.
class CertificateValues {
 public:
  explicit CertificateValues(const CertificateFormula& formula) : formula_(formula) {}

  void set(int variable, bool value) { inputs_[variable] = value; }
  void forget_gates() { gates_.clear(); }
  bool has(int variable) const { return inputs_.contains(variable); }
  bool holds(int lit) {
    const bool value = of(std::abs(lit));
    return lit > 0 ? value : !value;
  }
  bool holds(const DratClause& clause) {
    return std::any_of(clause.begin(), clause.end(), [&](int lit) { return holds(lit); });
  }

 private:
  bool of(int variable) {
    if (const auto input = inputs_.find(variable); input != inputs_.end()) return input->second;
    if (const auto known = gates_.find(variable); known != gates_.end()) return known->second;
    const auto gate = formula_.gates.find(variable);
    if (gate == formula_.gates.end()) return false;
    bool all = true;
    for (const int lit : gate->second) all = all && holds(lit);
    gates_[variable] = all;
    return all;
  }

  const CertificateFormula& formula_;
  std::map<int, bool> inputs_;
  std::map<int, bool> gates_;
};

}  // namespace isoscope
