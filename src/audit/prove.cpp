#include "audit/prove.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/earliest.h"

namespace isoscope::audit {

namespace {

constexpr std::size_t kFewOnPaths = 8;

class Prover {
 public:
  Prover(const Problem& problem, OpenWorld& open, const ProofOptions& options, Budget& budget)
      : problem_(problem),
        open_(open),
        options_(options),
        budget_(budget),
        paths_(problem, open, budget) {
    for (const sql::FunctionId f : problem.app.function_ids()) left_.push_back(f);
  }

  Proof run() {
    try {
      while (!drop_protected() && !drop_independent() && !options_.fixed_path && peel()) {
      }
      // Paths without chords of many functions are many: then the other argument first.
      const bool is_large = left_.size() > kFewOnPaths && !options_.fixed_path;
      if (is_large) look_for_earliest(2);
      if (!left_.empty() && !has_short_cycle_) follow_paths();
      if (!left_.empty() && !has_short_cycle_ && !options_.fixed_path)
        look_for_earliest(options_.max_path);
    } catch (const SmtStopped&) {
      // The budget is over in the middle of a question: what is left stays without a proof.
      proof_.is_unknown = true;
    }
    proof_.holds = left_.empty();
    proof_.left = left_;
    proof_.is_unknown = proof_.is_unknown || paths_.is_unsure() || budget_.expired_now();
    return std::move(proof_);
  }

 private:
  // Unsat, and therefore never. Unknown is remembered.
  bool never(Cast cast, std::initializer_list<SmtTerm> about) {
    const SmtResult result = open_.ask(cast, {about.begin(), about.size()}, budget_);
    if (result == SmtResult::Unknown) proof_.is_unknown = true;
    return result == SmtResult::Unsat;
  }
  void tell(std::string_view phase) {
    if (options_.progress) options_.progress(phase, -1);
  }
  std::string name(sql::FunctionId f) const { return problem_.app.function(f).name; }

  bool has_dependency(sql::FunctionId f) {
    return std::ranges::any_of(left_, [&](sql::FunctionId g) {
      return open_.may_depend(f, g, budget_) || open_.may_depend(g, f, budget_);
    });
  }

  // When all that are left are protected by the server: done. True if nothing is left.
  bool drop_protected() {
    if (left_.empty()) return true;
    if (!open_.is_protected(left_)) return false;
    proof_.steps.push_back({ProofScheme::Protected, left_, 0});
    left_.clear();
    return true;
  }

  // When no function that is left depends on another: done. True if nothing is left.
  bool drop_independent() {
    if (left_.empty()) return true;
    if (std::ranges::any_of(left_, [&](sql::FunctionId f) { return has_dependency(f); }))
      return false;
    proof_.steps.push_back({ProofScheme::NoDependencies, left_, 0});
    left_.clear();
    return true;
  }

  // Condition (2), for all that are left. An edge against ar is an anti-dependency.
  bool goes_along_ar() {
    for (const sql::FunctionId b : left_) {
      for (const sql::FunctionId c : left_) {
        if (!paths_.may_turn(b, c)) continue;
        for (const sql::FunctionId a : left_) {
          if (!paths_.may_turn(a, b, c)) continue;
          proof_.obstacle =
              fmt::format("{} -> {} -> {} may end before it begins: induction does not apply",
                          name(a), name(b), name(c));
          return false;
        }
      }
    }
    return true;
  }

  // Conditions (1) and (3). One edge of a cycle of two goes against ar.
  bool can_peel(sql::FunctionId f) {
    World& world = open_.world();
    for (const sql::FunctionId g : left_) {
      if (paths_.may_go_back(f, g)) return false;
      if (!open_.may_depend(f, g, budget_) || !paths_.may_go_back(g, f)) continue;
      const sql::FunctionId functions[] = {f, g};
      const std::vector<Member> t = open_.cast(functions);
      if (!never(t, {world.depends(t[0], t[1]), world.depends(t[1], t[0])})) return false;
    }
    return true;
  }

  // True if something was peeled.
  bool peel() {
    tell("proving by induction");
    if (!goes_along_ar()) return false;
    std::vector<sql::FunctionId> peeled;
    for (const sql::FunctionId f : left_) {
      if (has_dependency(f) && can_peel(f)) peeled.push_back(f);
    }
    if (peeled.empty()) return false;
    std::erase_if(left_,
                  [&](sql::FunctionId f) { return std::ranges::find(peeled, f) != peeled.end(); });
    proof_.steps.push_back({ProofScheme::Induction, std::move(peeled), 0});
    return true;
  }

  bool may_be(Cast cast, const std::vector<SmtTerm>& about) {
    const SmtResult result = open_.ask(cast, about, budget_);
    if (result == SmtResult::Unknown) proof_.is_unknown = true;
    return result != SmtResult::Unsat;
  }

  // A path of the functions without a chord, continued until it has k edges; true if there is one.
  bool has_chordless(std::vector<sql::FunctionId>& path, std::size_t k) {
    if (path.size() >= 2) {
      World& world = open_.world();
      const std::vector<Member> t = open_.cast(path);
      std::vector<SmtTerm> about;
      for (std::size_t i = 0; i + 1 < t.size(); ++i) {
        about.push_back(world.depends(t[i], t[i + 1]));
        for (std::size_t j = i + 2; j < t.size(); ++j)
          about.push_back(!world.surely_depends(t[i], t[j]));
      }
      if (!may_be(t, about)) return false;
    }
    if (path.size() > proof_.chordless.size()) proof_.chordless = path;
    if (path.size() == k + 1) return true;
    for (const sql::FunctionId f : left_) {
      if (!path.empty() && !open_.may_depend(path.back(), f, budget_)) continue;
      path.push_back(f);
      const bool found = has_chordless(path, k);
      path.pop_back();
      if (found) return true;
    }
    return false;
  }

  // Also true if the budget is over before all cycles are ruled out. Requires: there are no shorter
  // ones.
  bool has_cycle(std::size_t length) {
    const auto cycles = paths_.cycles(left_, length, Chords::None);
    if (!cycles) return true;
    for (const FunctionCycle& cycle : *cycles) {
      if (open_.is_protected(cycle)) continue;
      const std::vector<Member> t = open_.cast(cycle);
      if (!may_be(t, cycle_of(open_.world(), t, Chords::None))) continue;
      std::string names;
      for (const sql::FunctionId f : cycle) names += name(f) + " -> ";
      proof_.obstacle = fmt::format("a cycle {}{} is not ruled out", names, name(cycle.front()));
      return true;
    }
    return false;
  }

  // False if a cycle of up to k may be: then nothing about longer ones helps.
  bool has_no_cycles_up_to(std::size_t k) {
    for (; no_cycles_up_to_ < k; ++no_cycles_up_to_) {
      has_short_cycle_ = has_short_cycle_ || has_cycle(no_cycles_up_to_ + 1);
      if (has_short_cycle_) return false;
    }
    return true;
  }

  // A path of k edges, built from its end, which is before all others in ar; true if there is one.
  bool has_earliest_end(std::vector<sql::FunctionId>& reversed, std::size_t k) {
    if (reversed.size() > 2 && !paths_.may_be(reversed, Chords::Allowed)) return false;
    if (reversed.size() == k + 1) return true;
    for (const sql::FunctionId f : left_) {
      if (reversed.size() == 1 && !paths_.may_turn(f, reversed.back())) continue;
      if (reversed.size() > 1 && !open_.may_depend(f, reversed.back(), budget_)) continue;
      reversed.push_back(f);
      const bool found = has_earliest_end(reversed, k);
      reversed.pop_back();
      if (found) return true;
    }
    return false;
  }

  void look_for_earliest(std::size_t max_path) {
    for (std::size_t k = 2; k <= max_path; ++k) {
      tell(fmt::format("proving by paths of {} edges to the earliest call", k));
      std::vector<sql::FunctionId> path;
      if (!has_no_cycles_up_to(k) || budget_.expired_now()) return;
      if (has_earliest_end(path, k) || budget_.expired_now()) continue;
      proof_.steps.push_back({ProofScheme::Earliest, left_, k});
      left_.clear();
      return;
    }
  }

  void follow_paths() {
    const std::size_t shortest = options_.fixed_path ? options_.max_path : 2;
    for (std::size_t k = shortest; k <= options_.max_path; ++k) {
      tell(fmt::format("proving by paths of {} edges", k));
      if (!has_no_cycles_up_to(k)) return;
      std::vector<sql::FunctionId> path;
      if (has_chordless(path, k)) {
        std::string names;
        for (const sql::FunctionId f : proof_.chordless)
          names += (names.empty() ? "" : " -> ") + name(f);
        proof_.obstacle = fmt::format("a path of {} without a chord: {}", k, names);
        continue;
      }
      if (budget_.expired_now()) return;
      proof_.steps.push_back({ProofScheme::ShortestPath, left_, k});
      left_.clear();
      return;
    }
  }

  const Problem& problem_;
  OpenWorld& open_;
  const ProofOptions& options_;
  Budget& budget_;
  EarliestPaths paths_;
  std::vector<sql::FunctionId> left_;
  std::size_t no_cycles_up_to_ = 1;  // of those that are left
  bool has_short_cycle_ = false;
  Proof proof_;
};

std::string list(const sql::Application& app, const std::vector<sql::FunctionId>& functions) {
  std::string text;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (i > 0) text += i + 1 == functions.size() ? " and " : ", ";
    text += app.function(functions[i]).name;
  }
  return text;
}

}  // namespace

std::string_view name_of(ProofScheme scheme) {
  switch (scheme) {
    case ProofScheme::Induction: return "induction";
    case ProofScheme::ShortestPath: return "shortest path";
    case ProofScheme::Earliest: return "earliest";
    case ProofScheme::NoDependencies: return "no dependencies";
    case ProofScheme::Protected: return "protected";
  }
  return "";
}

Proof prove_serializable(const Problem& problem, OpenWorld& open, const ProofOptions& options,
                         Budget& budget) {
  return Prover(problem, open, options, budget).run();
}

std::string describe(const sql::Application& app, const Proof& proof) {
  std::string text;
  bool in_induction = false;
  for (const ProofStep& step : proof.steps) {
    switch (step.scheme) {
      case ProofScheme::Induction:
        if (!text.empty()) text += ", then ";
        text += list(app, step.functions);
        if (!in_induction) text += " by induction";
        in_induction = true;
        break;
      case ProofScheme::ShortestPath:
        if (!text.empty()) text += "; ";
        text += fmt::format("{} by shortest path {}", list(app, step.functions), step.path);
        break;
      case ProofScheme::Earliest:
        if (!text.empty()) text += "; ";
        text += fmt::format("{} because no path of {} ends before it begins",
                            list(app, step.functions), step.path);
        break;
      case ProofScheme::Protected:
        if (!text.empty()) text += "; ";
        text += fmt::format("{} by SERIALIZABLE, which rules out cycles among themselves",
                            list(app, step.functions));
        break;
      case ProofScheme::NoDependencies:
        text += text.empty() ? fmt::format("{} depend on nothing", list(app, step.functions))
                             : fmt::format("; {} depend{} on nothing", list(app, step.functions),
                                           step.functions.size() == 1 ? "s" : "");
        break;
    }
  }
  return text;
}

}  // namespace isoscope::audit
