#include "explore/weakest.h"

#include <algorithm>
#include <map>

#include "check/level_table.h"
#include "explore/outcomes.h"
#include "explore/releveled.h"

namespace isoscope::explore {
namespace {

// Levels that transactions can have beside each other, from weak to strong: those over co.
std::vector<const Level*> mixable() {
  std::vector<const Level*> levels = ladder();
  std::erase_if(levels, [](const Level* level) { return level->framework != Framework::Co; });
  return levels;
}

// The level, or the next above it that transactions can have beside others.
const Level& mixable_from(const Level& level) {
  for (const Level* above : mixable()) {
    if (implies(*above, level)) return *above;
  }
  return level;
}

class Search {
 public:
  Search(const Executable& program, const LevelSet& levels, const ExploreOptions& options)
      : program_(program), levels_(levels), options_(options) {
    options_.stop_at_violation = true;
    options_.only_asks = true;
    options_.on_history = {};
  }

  Result<Weakest> run() {
    for (const Level* rung : ladder()) {
      const bool holds_below =
          std::any_of(holding_.begin(), holding_.end(),
                      [&](const Level* held) { return implies(*rung, *held); });
      if (!holds_below) {
        auto all = explore_at(program_, rung->name);
        if (!all) return all.error();
        found_.trials.push_back({rung->name, all->outcome, all->histories});
        if (all->merging && all->merging->is_complete) {
          found_.trials.back().states = all->merging->states;
        } else if (all->has_left_out_reads) {
          found_.trials.back().states = all->histories;
        }
        if (all->outcome == ExploreOutcome::Unknown) {
          // What follows could only hold without being known as the weakest.
          found_.is_out_of_time = true;
          return std::move(found_);
        }
        if (all->outcome == ExploreOutcome::Violated) continue;
        found_.minimal.push_back(rung->name);
      }
      holding_.push_back(rung);
    }
    if (!found_.minimal.empty()) {
      if (auto lowered = lower_each(); !lowered) return lowered.error();
    }
    return std::move(found_);
  }

 private:
  Result<Exploration> explore_at(const Executable& program, std::string_view name) {
    if (Budget own = options_.budget; own.expired_now()) return Exploration();  // unknown
    auto level = levels_.find(name);
    if (!level) return level.error();
    auto plan = make_plan(program, **level, levels_, Algorithm::Best, {}, options_.budget);
    if (!plan) return plan.error();
    Exploration all = explore(program, *plan, options_);
    if (all.fault) return all.fault->error;
    return all;
  }

  // The calls without a level of their own, those of a function together.
  std::vector<std::vector<CallId>> groups() const {
    std::vector<std::vector<CallId>> all;
    std::map<std::string_view, std::size_t> by_function;
    const auto& calls = program_.outline().calls;
    for (const CallId call : calls.ids()) {
      if (!calls[call].level.empty()) continue;
      std::size_t group = all.size();
      if (!calls[call].function.empty())
        group = by_function.emplace(calls[call].function, group).first->second;
      if (group == all.size()) all.emplace_back();
      all[group].push_back(call);
    }
    return all;
  }

  // The weakest level that is enough for a group of calls; nothing if the time is over.
  Result<std::optional<std::string>> enough_for(const std::vector<CallId>& group,
                                                ById<CallId, std::string> levels,
                                                const std::string& start) {
    for (const Level* rung : mixable()) {
      const std::string& weaker = rung->name;
      if (weaker == start) break;
      for (const CallId call : group) levels[call] = weaker;
      const Releveled mixed(program_, levels);
      auto all = explore_at(mixed, start);
      if (!all) return all.error();
      if (all->outcome == ExploreOutcome::Unknown) return std::optional<std::string>();
      if (all->outcome == ExploreOutcome::Complete) return std::optional(weaker);
    }
    return std::optional(start);
  }

  // Lowers the level of one function after the other.
  Result<void> lower_each() {
    // psi cannot stand beside levels over co; si, the next above it, can.
    const std::string start = mixable_from(*holding_.front()).name;
    if (start == mixable().front()->name) return {};
    const auto& calls = program_.outline().calls;
    ById<CallId, std::string> levels(calls.size(), start);
    ById<CallId, bool> is_decided(calls.size(), true);
    for (const CallId call : calls.ids()) {
      if (!calls[call].level.empty()) levels[call] = calls[call].level;
    }
    for (const std::vector<CallId>& group : groups()) {
      std::optional<std::string> enough;
      if (!found_.is_out_of_time) {
        auto found = enough_for(group, levels, start);
        if (!found) return found.error();
        enough = *std::move(found);
        found_.is_out_of_time = !enough;
      }
      for (const CallId call : group) {
        if (enough) levels[call] = *enough;
        if (!enough) is_decided[call] = false;
      }
    }
    found_.is_decided = std::move(is_decided);
    if (found_.is_out_of_time ||
        std::any_of(levels.begin(), levels.end(),
                    [&](const std::string& level) { return level != start; }))
      found_.mixed = std::move(levels);
    return {};
  }

  const Executable& program_;
  const LevelSet& levels_;
  ExploreOptions options_;
  Weakest found_;
  std::vector<const Level*> holding_;  // the first of them is the first of the minimal ones
};

}  // namespace

Result<Weakest> find_weakest(const Executable& program, const LevelSet& levels,
                             const ExploreOptions& options) {
  return Search(program, levels, options).run();
}

}  // namespace isoscope::explore
