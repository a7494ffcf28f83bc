#pragma once
// Audits for tests: applications from text or from files of the tree, levels by name.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "spec/levels.h"
#include "support/input.h"
#include "support/paths.h"

namespace isoscope::audit {

inline sql::Application app_of(std::string_view text) {
  auto app = sql::parse_application(text);
  if (!app) ADD_FAILURE() << render(app.error());
  for (const Error& problem : app->problems) ADD_FAILURE() << render(problem);
  return std::move(*app);
}

// `path` is within the tree. Stops the test program where the file is missing.
inline sql::Application app_in(const std::string& path) {
  const auto text = read_whole(source_dir() + "/" + path);
  if (!text) ADD_FAILURE() << render(text.error());
  return app_of(*text);
}

inline sql::Application corpus_app(const std::string& name) {
  return app_in("tests/corpus/apps/" + name + ".sql");
}

inline const Level* level_of(const std::string& name) {
  return *LevelSet::built_in().find(name, Framework::VisAr);
}

// "enroll=si" gives a function its own level, "a,b" makes two serial.
inline Problem problem_of(const sql::Application& app, const std::string& level,
                          const std::vector<std::string>& more = {}) {
  Problem problem{app, {level_of(level), std::vector<const Level*>(app.functions.size(), nullptr)}};
  const auto function = [&](const std::string& name) { return *app.find_function(name); };
  for (const std::string& word : more) {
    if (const auto at = word.find('='); at != std::string::npos) {
      problem.levels.own[function(word.substr(0, at)).index] = level_of(word.substr(at + 1));
    } else {
      const auto comma = word.find(',');
      problem.serial.emplace_back(function(word.substr(0, comma)),
                                  function(word.substr(comma + 1)));
    }
  }
  const auto ok = check_problem(problem);
  EXPECT_TRUE(ok.ok()) << (ok ? "" : render(ok.error()));
  return problem;
}

inline AuditReport audited(const Problem& problem, const AuditOptions& options = {}) {
  Budget budget;
  return audit(problem, options, budget);
}

// The functions of each anomaly, sorted: {"enroll", "enroll"}.
inline std::set<std::vector<std::string>> functions_of(const Problem& problem,
                                                       const AuditReport& report) {
  std::set<std::vector<std::string>> all;
  for (const FoundAnomaly& anomaly : report.search.anomalies) {
    std::vector<std::string> names;
    for (const sql::FunctionId f : anomaly.functions) names.push_back(problem.app.function(f).name);
    std::ranges::sort(names);
    all.insert(std::move(names));
  }
  return all;
}

}  // namespace isoscope::audit
