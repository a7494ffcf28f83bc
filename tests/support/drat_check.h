#pragma once
// A small checker of DRAT proofs, written for the tests: forward, clause by clause.
//
// A clause of the proof may be added if
//   RUP   assuming its negation, unit propagation finds a conflict; or
//   RAT   its first literal l has this property: every resolvent on l with a clause that has -l is
//         RUP.
// A line `d …` takes a clause away. A clause that is the reason of a literal which is true for good
// stays, as drat-trim keeps it. The proof is complete once the empty clause, or a conflict without
// any assumption, has been reached.
//
// Paper  [WetzlerHeuleHunt-SAT'14]. It shares no code with the solver that wrote the proof.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace isoscope {

using DratClause = std::vector<int>;

class DratChecker {
 public:
  explicit DratChecker(int variables) : value_(slots(variables), 0), watchers_(slots(variables)) {}

  // Adds a clause without any check.
  void assume(DratClause clause) {
    if (refuted_) return;
    std::sort(clause.begin(), clause.end());
    clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
    const std::size_t id = clauses_.size();
    by_text_.emplace(clause, id);
    clauses_.push_back(clause);
    alive_.push_back(true);
    attach(id);
  }

  // False if the clause is neither RUP nor RAT; `first` is its pivot.
  bool add(const DratClause& clause) {
    if (refuted_) return true;
    if (!is_implied(clause) && !is_rat(clause)) return false;
    assume(clause);
    return true;
  }

  void remove(DratClause clause) {
    std::sort(clause.begin(), clause.end());
    clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
    const auto [first, last] = by_text_.equal_range(clause);
    for (auto it = first; it != last; ++it) {
      if (!alive_[it->second] || is_reason(it->second)) continue;
      alive_[it->second] = false;
      by_text_.erase(it);
      return;
    }
  }

  bool is_refuted() const { return refuted_; }

 private:
  static std::size_t slots(int variables) { return 2 * (static_cast<std::size_t>(variables) + 1); }
  static std::size_t slot(int lit) {
    return 2 * static_cast<std::size_t>(std::abs(lit)) + (lit < 0 ? 1U : 0U);
  }
  bool is_true(int lit) const { return value_[slot(lit)] > 0; }
  bool is_false(int lit) const { return value_[slot(-lit)] > 0; }

  void assign(int lit) {
    value_[slot(lit)] = 1;
    trail_.push_back(lit);
  }

  // Is it the only reason why one of its literals is true for good?
  bool is_reason(std::size_t id) const {
    int open = 0;
    bool satisfied = false;
    for (const int lit : clauses_[id]) {
      if (is_true(lit)) satisfied = true;
      if (!is_false(lit)) ++open;
    }
    return satisfied && open == 1;
  }

  void attach(std::size_t id) {
    DratClause& clause = clauses_[id];
    // Literals that are not false come first: they are the ones to watch.
    std::stable_partition(clause.begin(), clause.end(), [&](int lit) { return !is_false(lit); });
    if (clause.empty() || is_false(clause.front())) {
      refuted_ = true;
      return;
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(2, clause.size()); ++i)
      watchers_[slot(-clause[i])].push_back(id);
    const bool is_unit = clause.size() == 1 || is_false(clause[1]);
    if (is_unit && !is_true(clause.front())) {
      assign(clause.front());
      if (!propagate(trail_.size() - 1)) refuted_ = true;
    }
  }

  // From this place of the trail on; false for a conflict.
  bool propagate(std::size_t head) {
    for (; head < trail_.size(); ++head) {
      auto& watchers = watchers_[slot(trail_[head])];  // of clauses that watch its negation
      const int gone = -trail_[head];
      std::size_t kept = 0;
      for (std::size_t i = 0; i < watchers.size(); ++i) {
        const std::size_t id = watchers[i];
        if (!alive_[id]) continue;
        DratClause& clause = clauses_[id];
        if (clause.size() > 1 && clause[0] == gone) std::swap(clause[0], clause[1]);
        if (is_true(clause[0])) {
          watchers[kept++] = id;
          continue;
        }
        bool moved = false;
        for (std::size_t k = 2; k < clause.size() && !moved; ++k) {
          if (is_false(clause[k])) continue;
          std::swap(clause[1], clause[k]);
          watchers_[slot(-clause[1])].push_back(id);
          moved = true;
        }
        if (moved) continue;
        watchers[kept++] = id;
        if (clause.size() > 1 && !is_false(clause[0])) {
          assign(clause[0]);
          continue;
        }
        for (++i; i < watchers.size(); ++i) watchers[kept++] = watchers[i];
        watchers.resize(kept);
        return false;
      }
      watchers.resize(kept);
    }
    return true;
  }

  void undo(std::size_t length) {
    for (; trail_.size() > length; trail_.pop_back()) value_[slot(trail_.back())] = 0;
  }

  // Does the negation of these literals lead to a conflict? What was assigned stays until undo().
  bool conflicts(const DratClause& clause) {
    const std::size_t head = trail_.size();
    for (const int lit : clause) {
      if (is_true(lit)) return true;
      if (!is_false(lit)) assign(-lit);
    }
    return !propagate(head);
  }

  bool is_implied(const DratClause& clause) {
    const std::size_t length = trail_.size();
    const bool implied = conflicts(clause);
    undo(length);
    return implied;
  }

  bool is_rat(const DratClause& clause) {
    if (clause.empty()) return false;
    const int pivot = clause.front();
    for (std::size_t id = 0; id < clauses_.size(); ++id) {
      if (!alive_[id]) continue;
      const DratClause& other = clauses_[id];
      if (std::find(other.begin(), other.end(), -pivot) == other.end()) continue;
      DratClause resolvent = clause;
      for (const int lit : other) {
        if (lit != -pivot) resolvent.push_back(lit);
      }
      if (!is_implied(resolvent)) return false;
    }
    return true;
  }

  std::vector<DratClause> clauses_;
  std::vector<bool> alive_;
  std::multimap<DratClause, std::size_t> by_text_;  // sorted
  std::vector<signed char> value_;
  std::vector<std::vector<std::size_t>> watchers_;
  std::vector<int> trail_;
  bool refuted_ = false;
};

// A complaint, or nothing if the proof shows that the clauses contradict each other.
inline std::optional<std::string> check_drat(int variables, const std::vector<DratClause>& clauses,
                                             const std::string& proof) {
  DratChecker checker(variables);
  for (const DratClause& clause : clauses) checker.assume(clause);
  std::istringstream lines(proof);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    const bool deletes = line.starts_with("d ");
    if (deletes) words.ignore(2);
    DratClause clause;
    int lit = 0;
    bool closed = false;
    while (!closed && words >> lit) {
      closed = lit == 0;
      if (std::abs(lit) > variables) return "line " + std::to_string(number) + ": unknown variable";
      if (!closed) clause.push_back(lit);
    }
    if (!closed) return "line " + std::to_string(number) + " of the proof is no clause";
    if (deletes) {
      checker.remove(clause);
    } else if (!checker.add(clause)) {
      return "line " + std::to_string(number) + " of the proof does not follow: " + line;
    }
  }
  return checker.is_refuted() ? std::nullopt
                              : std::optional<std::string>("the proof ends without a conflict");
}

}  // namespace isoscope
