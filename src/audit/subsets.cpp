#include "audit/subsets.h"

#include <algorithm>
#include <set>

#include "audit/repairs.h"

namespace isoscope::audit {

namespace {

using Functions = Subsets::Functions;

void promote(std::span<sql::Statement> body) {
  for (sql::Statement& statement : body) {
    // A function that is called and not VOLATILE cannot lock.
    const auto* block = statement.find<sql::Block>();
    if (block != nullptr && !block->called.empty() && !block->is_separate) continue;
    if (auto* select = statement.find<sql::Select>(); select != nullptr && can_lock(*select))
      select->query.lock = sql::Lock::Update;
    promote(statement.body());
    promote(statement.otherwise());
  }
}

class Finder {
 public:
  Finder(const Problem& problem, const AuditOptions& options, Budget& budget)
      : problem_(problem), options_(options), budget_(budget) {}

  Subsets run() {
    std::set<Functions> proved = {{}};
    for (std::size_t size = 1; !proved.empty(); ++size) {
      std::set<Functions> larger;
      std::set<Functions> inside;  // sets that a larger one contains
      for (const Functions& smaller : proved) {
        for (const sql::FunctionId f : problem_.app.function_ids()) {
          if (!smaller.empty() && f <= smaller.back()) continue;
          if (is_over()) break;
          Functions set = smaller;
          set.push_back(f);
          if (!try_set(set, proved)) continue;
          for (std::size_t i = 0; i < set.size(); ++i) inside.insert(without(set, i));
          larger.insert(std::move(set));
        }
      }
      for (const Functions& set : proved) {
        if (!set.empty() && !inside.contains(set)) result_.together.push_back(set);
      }
      proved = result_.is_complete ? std::move(larger) : std::set<Functions>();
    }
    // The largest first.
    std::ranges::stable_sort(result_.together, std::greater<>(), &Functions::size);
    return std::move(result_);
  }

 private:
  static Functions without(const Functions& set, std::size_t i) {
    Functions smaller = set;
    smaller.erase(smaller.begin() + static_cast<std::ptrdiff_t>(i));
    return smaller;
  }

  // True if it is proved. `proved` has all sets that are, of one function less.
  bool try_set(const Functions& set, const std::set<Functions>& proved) {
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (!proved.contains(without(set, i))) return false;
    }
    std::vector<std::string> names;
    std::vector<const Level*> own;
    for (const sql::FunctionId f : set) {
      names.push_back(problem_.app.function(f).name);
      own.push_back(&problem_.levels.of(f));
    }
    const auto app = only(problem_.app, names);
    if (!app) return false;
    Problem part{*app,
                 {problem_.levels.base, std::move(own)},
                 problem_.conflicts,
                 {},
                 problem_.rows_at_start};
    const AuditReport report = audit(
        part, {.max_length = std::max(options_.max_length, set.size()), .prove = true}, budget_);
    if (report.outcome == AuditOutcome::Serializable) return true;
    // What was not looked at to its end is no set without a proof.
    if (report.outcome != AuditOutcome::Unknown || !is_over())
      result_.apart.push_back({set, report.outcome});
    return false;
  }

  bool is_over() {
    if (!budget_.expired_now()) return false;
    result_.is_complete = false;
    return true;
  }

  const Problem& problem_;
  const AuditOptions& options_;
  Budget& budget_;
  Subsets result_;
};

}  // namespace

Subsets find_subsets(const Problem& problem, const std::vector<const Level*>& levels,
                     const AuditOptions& options, Budget& budget) {
  Subsets subsets = Finder(problem, options, budget).run();
  const Advice advice = advise(problem, levels, false, options, budget);
  subsets.lowest = advice.levels;
  subsets.is_complete = subsets.is_complete && advice.is_complete;
  if (!subsets.is_complete) subsets.limit = limit_reached() + " was reached";
  return subsets;
}

sql::Application with_promoted_reads(const sql::Application& app) {
  sql::Application promoted = app;
  for (sql::Function& function : promoted.functions) {
    if (!function.only_reads) promote(function.body);
  }
  return promoted;
}

}  // namespace isoscope::audit
