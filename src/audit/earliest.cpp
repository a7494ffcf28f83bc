#include "audit/earliest.h"

#include <algorithm>
#include <set>

#include "audit/server_levels.h"
#include "verdict/logic.h"

namespace isoscope::audit {

namespace {

// The cycle of a path, as its smallest rotation.
FunctionCycle smallest_rotation(const std::vector<sql::FunctionId>& reversed) {
  FunctionCycle cycle(reversed.rbegin(), reversed.rend());
  FunctionCycle smallest = cycle;
  for (std::size_t i = 1; i < cycle.size(); ++i) {
    std::rotate(cycle.begin(), cycle.begin() + 1, cycle.end());
    smallest = std::min(smallest, cycle);
  }
  return smallest;
}

}  // namespace

std::vector<SmtTerm> cycle_of(World& world, Cast cast, Chords chords) {
  std::vector<SmtTerm> about;
  const std::size_t n = cast.size();
  for (std::size_t i = 0; i < n; ++i) about.push_back(world.depends(cast[i], cast[(i + 1) % n]));
  if (chords == Chords::Allowed) return about;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i != j && j != (i + 1) % n) about.push_back(!world.surely_depends(cast[i], cast[j]));
    }
  }
  return about;
}

bool EarliestPaths::sees_beginnings(sql::FunctionId f) const {
  const Level& level = problem_.levels.of(f);
  if (is_server_level(level)) return true;
  const auto logic = logic_of(level);
  return logic && implies(*logic, Logic::Pc);
}

// A call that comes after `earliest` may have an edge to a: by something that a reads, and then a
// sees `earliest` there, or by something that a writes.
SmtTerm EarliestPaths::has_edge_in(Member a, Member earliest) {
  World& world = open_.world();
  std::vector<SmtTerm> parts;
  for (const Access& access : world.instance(a).accesses) {
    switch (access.kind) {
      case AccessKind::Read:
        parts.push_back(access.guard && world.sees(earliest, a, access.at));
        break;
      case AccessKind::Write: parts.push_back(access.guard); break;
      case AccessKind::Lock: break;
    }
  }
  return world.symbols().any(parts);
}

bool EarliestPaths::ask(Cast cast, std::span<const SmtTerm> about) {
  const SmtResult result = open_.ask(cast, about, budget_);
  is_unsure_ = is_unsure_ || result == SmtResult::Unknown;
  return result != SmtResult::Unsat;
}

bool EarliestPaths::may_go_back(sql::FunctionId f, sql::FunctionId g) {
  return open_.may_depend(f, g, budget_) && may_be({g, f}, Chords::Allowed);
}

bool EarliestPaths::may_turn(sql::FunctionId f, sql::FunctionId g) {
  if (!may_go_back(f, g)) return false;
  if (!sees_beginnings(f)) return true;
  const auto found = may_turn_.find({f, g});
  if (found != may_turn_.end()) return found->second;
  World& world = open_.world();
  const sql::FunctionId functions[] = {f, g};
  const std::vector<Member> t = open_.cast(functions);
  const SmtTerm about[] = {world.depends(t[0], t[1], EdgeKind::Rw), world.ar(t[1], t[0]),
                           has_edge_in(t[0], t[1])};
  const bool may = ask(t, about);
  if (!budget_.expired_now()) may_turn_[{f, g}] = may;
  return may;
}

bool EarliestPaths::may_turn(sql::FunctionId e, sql::FunctionId f, sql::FunctionId g) {
  return open_.may_depend(e, f, budget_) && may_turn(f, g) && may_be({g, f, e}, Chords::Allowed);
}

bool EarliestPaths::may_be(const Path& path, Chords chords) {
  const auto found = may_be_.find({path, chords});
  if (found != may_be_.end()) return found->second;
  World& world = open_.world();
  const std::vector<Member> t = open_.cast(path);
  std::vector<SmtTerm> about = {world.depends(t[1], t[0], EdgeKind::Rw)};
  for (std::size_t i = 1; i < t.size(); ++i) {
    about.push_back(world.ar(t[0], t[i]));
    if (i > 1) about.push_back(world.depends(t[i], t[i - 1]));
  }
  for (std::size_t i = 0; chords == Chords::None && i < t.size(); ++i) {
    for (std::size_t j = 0; j < t.size(); ++j) {
      if (i != j && i != j + 1) about.push_back(!world.surely_depends(t[i], t[j]));
    }
  }
  const bool may = ask(t, about);
  if (!budget_.expired_now()) may_be_[{path, chords}] = may;
  return may;
}

std::optional<std::vector<FunctionCycle>> EarliestPaths::cycles(
    const std::vector<sql::FunctionId>& functions, std::size_t length, Chords chords) {
  std::set<FunctionCycle> cycles;
  Path path;
  const auto extend = [&](auto&& self) -> bool {
    if (budget_.expired()) return false;
    if (path.size() == length) {
      if (open_.may_depend(path.front(), path.back(), budget_))
        cycles.insert(smallest_rotation(path));
      return true;
    }
    // Shorter beginnings than of three calls are asked for as pairs.
    if (path.size() > 2 && !may_be(path, chords)) return true;
    for (const sql::FunctionId next : functions) {
      if (path.size() == 1) {
        const bool may = length == 2 ? may_go_back(next, path[0]) : may_turn(next, path[0]);
        if (!may) continue;
      } else if (path.size() > 1 && !open_.may_depend(next, path.back(), budget_)) {
        continue;
      }
      path.push_back(next);
      const bool goes_on = self(self);
      path.pop_back();
      if (!goes_on) return false;
    }
    return true;
  };
  if (!extend(extend) || budget_.expired_now()) return std::nullopt;
  return std::vector<FunctionCycle>(cycles.begin(), cycles.end());
}

}  // namespace isoscope::audit
