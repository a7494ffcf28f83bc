#include "force/probe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "check/check.h"
#include "check/level_table.h"
#include "force/last_will.h"
#include "force/probe_run.h"
#include "sql/server/level.h"
#include "verdict/logic.h"

namespace isoscope::force {
namespace {

// Does the one go without saying where both hold? By the table of levels; that knows nothing of
// what a server's snapshots and locks mean for the levels without them.
bool does_imply(std::string_view strong, std::string_view weak) {
  const auto a = LevelSet::built_in().find(strong);
  const auto b = LevelSet::built_in().find(weak);
  if (!a || !b || strong == weak) return false;
  if (implies(**a, **b)) return true;
  const auto on_server = [&](const Level& level) -> std::optional<Logic> {
    const auto rules = snap_rules_of(level);
    if (!rules) return std::nullopt;
    if (rules->one && rules->first_updater) return Logic::Si;
    return rules->monotone && rules->waits ? std::optional(Logic::Rc) : std::nullopt;
  };
  const auto given = on_server(**a);
  const auto asked = logic_of(**b);
  return given && asked && implies(*given, *asked);
}

// The first of these that is a level of this program: what vendors document.
std::string first_known(const std::vector<std::string_view>& names) {
  for (const std::string_view name : names)
    if (LevelSet::built_in().find(name)) return std::string(name);
  return {};
}

std::string documented(const std::string& product, const std::string& declared) {
  using sql::server::PgLevel;
  using sql::server::ServerKind;
  const bool is_mariadb = product.starts_with("MariaDB");
  if (!is_mariadb && !product.starts_with("PostgreSQL")) return {};
  if (declared == sql_words_of(PgLevel::Serializable)) return std::string(name_of(Logic::Ser));
  for (const auto& level : levels_of(is_mariadb ? ServerKind::MariaDb : ServerKind::Postgres)) {
    if (declared != level.words) continue;
    if (level.level == PgLevel::ReadCommitted) return first_known({level.name, name_of(Logic::Rc)});
    return is_mariadb ? first_known({level.name}) : std::string(name_of(Logic::Si));
  }
  return {};
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// A place of our own on the server, gone with the object.
class Space {
 public:
  explicit Space(Server& server)
      : server_(server), name_(fmt::format("isoscope_probe_{}", ::getpid())) {}
  ~Space() { server_.run(server_.drop_space(name_)); }
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  Result<void> create() {
    if_killed_ = CleanupIfKilled::of_sql(server_.dsn(), server_.drop_space(name_));
    for (const std::string& sql :
         {server_.drop_space(name_), server_.create_space(name_),
          fmt::format("CREATE TABLE {} (k varchar(8) PRIMARY KEY, v int NOT NULL)", table())}) {
      const Answer answer = server_.run(sql);
      if (answer.has_failed())
        return Error{.what = fmt::format("the server refuses: {}", answer.message), .hint = sql};
    }
    return {};
  }
  std::string table() const { return name_ + ".t"; }

 private:
  Server& server_;
  std::string name_;
  CleanupIfKilled if_killed_;
};

class Prober {
 public:
  Prober(Server& server, const ProbeOptions& options)
      : server_(server), options_(options), budget_(options.budget) {}

  Result<ProbeAnswer> run() {
    if (auto chosen = choose(); !chosen) return chosen.error();
    Space space(server_);
    if (auto created = space.create(); !created) return created.error();
    table_ = space.table();
    answer_.product = server_.product();
    for (const DeclaredLevel& declared : levels_) {
      ProbedLevel level{.name = declared.name};
      if (auto expected = expected_of(declared.name); !expected) {
        return expected.error();
      } else {
        level.expected = *expected;
      }
      start_level(level);
      for (const Probe* probe : answer_.probes) {
        if (auto probed = run_probe(declared, *probe, level); !probed) return probed.error();
        ++done_cells_;
      }
      level.is_complete = answer_.limit.empty();
      finish_level(level);
      answer_.levels.push_back(std::move(level));
      if (!answer_.limit.empty()) break;
    }
    if (!std::ranges::all_of(answer_.levels, &ProbedLevel::is_kept))
      answer_.outcome = Outcome::Broken;
    else if (answer_.limit.empty())
      answer_.outcome = Outcome::Kept;
    return std::move(answer_);
  }

 private:
  Result<void> choose() {
    for (const Probe& probe : probe_catalogue())
      if (options_.only.empty() ||
          std::ranges::find(options_.only, probe.name) != options_.only.end())
        answer_.probes.push_back(&probe);
    for (const std::string& name : options_.only)
      if (std::ranges::find(probe_catalogue(), name, &Probe::name) == probe_catalogue().end())
        return Error{.what = fmt::format("there is no probe '{}'", name)};
    std::string names;
    for (const DeclaredLevel& level : server_.levels()) {
      names += (names.empty() ? "" : "; ") + level.name;
      const bool is_wanted = options_.levels.empty() ||
                             std::ranges::any_of(options_.levels, [&](const std::string& wanted) {
                               return upper(wanted) == upper(level.name);
                             });
      if (is_wanted) levels_.push_back(level);
    }
    const auto is_declared = [&](const std::string& wanted) {
      return std::ranges::any_of(server_.levels(), [&](const DeclaredLevel& level) {
        return upper(level.name) == upper(wanted);
      });
    };
    std::vector<std::string> named = options_.levels;
    for (const auto& [declared, level] : options_.expected) named.push_back(declared);
    for (const std::string& name : named)
      if (!is_declared(name))
        return Error{.what = fmt::format("the server does not declare a level '{}'", name),
                     .hint = "it declares " + names};
    for (const auto& [declared, level] : options_.expected)
      if (std::ranges::none_of(levels_, [&name = declared](const DeclaredLevel& chosen) {
            return upper(chosen.name) == upper(name);
          }))
        return Error{.what = fmt::format("--levels leaves out {}, of which --expect says something",
                                         declared)};
    return {};
  }

  Result<std::string> expected_of(const std::string& declared) const {
    for (const auto& [name, level] : options_.expected) {
      if (upper(name) != upper(declared)) continue;
      auto found = LevelSet::built_in().find(level);
      if (!found) return found.error();
      return (*found)->name;  // not as it was written: a level has several names
    }
    return documented(server_.product(), declared);
  }

  void start_level(const ProbedLevel& level) {
    candidates_.clear();
    // Those of servers speak of locks, and are asked only where they are expected.
    for (const Level* known : levels_with_engines(false))
      candidates_.push_back({known->name, known});
    if (!level.expected.empty() &&
        std::ranges::find(candidates_, level.expected, &Candidate::name) == candidates_.end())
      candidates_.push_back({level.expected, *LevelSet::built_in().find(level.expected)});
  }

  Result<void> run_probe(const DeclaredLevel& declared, const Probe& probe, ProbedLevel& level) {
    ProbeRunner runner(server_, table_, probe, declared);
    ProbeCell& cell = level.cells.emplace_back();
    std::set<std::string> seen;
    while (answer_.limit.empty()) {
      if (budget_.expired_now()) {
        answer_.limit = limit_reached() + " was reached";
        break;
      }
      auto run = runner.next(budget_);
      if (!run) return run.error();
      if (!*run) break;
      if ((*run)->played.end != Played::End::Complete) {
        answer_.limit =
            (*run)->played.end == Played::End::Limit
                ? limit_reached() + " was reached"
                : fmt::format("{}: a statement of {} waits for ever", declared.name, probe.name);
        break;
      }
      ++cell.schedules;
      if (options_.progress)
        options_.progress(
            fmt::format("{}, {}: {} schedules", declared.name, probe.name, cell.schedules),
            static_cast<double>(done_cells_) /
                static_cast<double>(levels_.size() * answer_.probes.size()));
      cell.errors.insert((*run)->errors.begin(), (*run)->errors.end());
      if (std::ranges::find((*run)->played.moments, Moment::Kind::Parked, &Moment::kind) !=
          (*run)->played.moments.end())
        ++cell.with_waits;
      if (runner.is_anomalous(**run) && cell.anomalous++ == 0) {
        cell.run = (*run)->text;
        cell.steps = std::move((*run)->steps);
      }
      if (!seen.insert((*run)->outcome).second) continue;
      ++level.histories;
      if (auto held = hold_against_levels(runner, probe, **run, level); !held) return held.error();
    }
    cell.is_complete = answer_.limit.empty();
    return {};
  }

  Result<void> hold_against_levels(const ProbeRunner& runner, const Probe& probe,
                                   const ProbeRun& run, ProbedLevel& level) {
    auto history = runner.history();
    if (!history) return history.error();
    Checker checker(*history);
    for (Candidate& candidate : candidates_) {
      if (!candidate.holds) continue;
      auto levels = assign_levels(*history, *candidate.level, LevelSet::built_in());
      if (!levels) return levels.error();
      const CheckAnswer checked = checker.check(*levels, budget_);
      if (checked.verdict.outcome == Outcome::Consistent) continue;
      if (checked.verdict.outcome == Outcome::Unknown) {
        answer_.limit = "check: " + checked.verdict.limit;
        return {};
      }
      candidate.holds = false;
      if (candidate.name == level.expected) {
        level.is_kept = false;
        level.broken_by = fmt::format("{}: {}", probe.name, run.text);
      }
    }
    return {};
  }

  void finish_level(ProbedLevel& level) const {
    for (const Candidate& candidate : candidates_)
      if (candidate.holds) level.satisfied.push_back(candidate.name);
    for (const std::string& name : level.satisfied) {
      const bool is_implied = std::ranges::any_of(
          level.satisfied, [&](const std::string& other) { return does_imply(other, name); });
      if (!is_implied) level.strongest.push_back(name);
    }
  }

  struct Candidate {
    std::string name;
    const Level* level;
    bool holds = true;
  };

  Server& server_;
  const ProbeOptions& options_;
  Budget budget_;
  ProbeAnswer answer_;
  std::vector<DeclaredLevel> levels_;
  std::string table_;
  std::vector<Candidate> candidates_;
  std::size_t done_cells_ = 0;  // of the table
};

}  // namespace

Result<ProbeAnswer> probe(Server& server, const ProbeOptions& options) {
  return Prober(server, options).run();
}

}  // namespace isoscope::force
