#pragma once
// The 46 problems of [Isolde-2026], section 5.1: 25 with a history, 21 without.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "spec/levels.h"
#include "support/assert.h"
#include "synth/synth.h"

namespace isoscope {

struct BenchmarkProblem {
  std::string name;
  std::vector<std::string> allow;
  std::vector<std::string> forbid;
  bool is_satisfiable = false;
  int min_txns = 0;  // of a satisfiable one, in scopes of at least three
};

inline std::vector<BenchmarkProblem> benchmark_problems() {
  std::vector<BenchmarkProblem> problems;
  const auto add = [&](std::vector<std::string> allow, const std::string& forbid, bool sat,
                       int min_txns) {
    problems.push_back(
        {fmt::format("{} not {}", fmt::join(allow, "+"), forbid), allow, {forbid}, sat, min_txns});
  };
  const std::string frameworks[] = {"@co", "@vis"};
  struct Step {
    const char* weak;
    const char* strong;
    int min_txns;
  };
  const Step steps[] = {{"ra", "cc", 3}, {"cc", "pc", 4}, {"pc", "si", 2}, {"si", "ser", 2}};
  for (const std::string& f : frameworks) {
    for (const std::string& g : frameworks) {
      for (const Step& step : steps) add({step.weak + f}, step.strong + g, true, step.min_txns);
      for (const std::string& h : frameworks) add({"si" + f, "update-ser" + g}, "ser" + h, true, 3);
    }
    for (const Step& step : steps) add({step.strong + f}, step.weak + f, false, 0);
  }
  add({"plume-ra@co"}, "ra@co", true, 2);
  add({"ra@co"}, "plume-ra@co", false, 0);
  add({"cc@co"}, "plume-cc@co", false, 0);
  add({"plume-cc@co"}, "cc@co", false, 0);
  for (const char* name : {"ra", "cc", "pc", "si", "ser"}) {
    add({std::string(name) + "@co"}, std::string(name) + "@vis", false, 0);
    add({std::string(name) + "@vis"}, std::string(name) + "@co", false, 0);
  }
  ISO_ASSERT(problems.size() == 46);
  return problems;
}

inline SynthQuery query_of(const BenchmarkProblem& problem, const Scope& scope) {
  SynthQuery query{.scope = scope};
  for (const std::string& name : problem.allow)
    query.allow.push_back(*LevelSet::built_in().find(name));
  for (const std::string& name : problem.forbid)
    query.forbid.push_back(*LevelSet::built_in().find(name));
  return query;
}

}  // namespace isoscope
