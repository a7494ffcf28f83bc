#include "verdict/logic.h"

#include <algorithm>
#include <iterator>

#include "spec/levels.h"

namespace isoscope {

namespace {

struct NamedLogic {
  std::string_view name;
  Logic logic;
};
constexpr NamedLogic kLogics[] = {
    {"true", Logic::True}, {"rc", Logic::Rc}, {"ra", Logic::Ra},
    {"cc", Logic::Cc},     {"pc", Logic::Pc}, {"ua", Logic::Ua},
    {"psi", Logic::Psi},   {"si", Logic::Si}, {"ser", Logic::Ser},
};

constexpr NamedLogic kStrictLogics[] = {
    {"strict-rc", Logic::Rc}, {"strict-ra", Logic::Ra},   {"strict-cc", Logic::Cc},
    {"strict-pc", Logic::Pc}, {"strict-ua", Logic::Ua},   {"strict-psi", Logic::Psi},
    {"strong-si", Logic::Si}, {"strict-ser", Logic::Ser},
};

// Up to the names of their variables, and however often and in whatever order they are said.
bool have_same_axioms(const Level& a, const Level& b) {
  const auto has_all = [](const Level& in, const Level& of) {
    return std::all_of(of.axioms.begin(), of.axioms.end(), [&](const Axiom& axiom) {
      return std::any_of(in.axioms.begin(), in.axioms.end(),
                         [&](const Axiom& other) { return other.canonical == axiom.canonical; });
    });
  };
  return has_all(a, b) && has_all(b, a);
}

// Where each rule is said, and how.
struct SaidRule {
  std::string_view level;
  std::string_view axiom;
  bool SnapRules::*rule;
};
constexpr SaidRule kSnapRules[] = {
    {"pc", "Monotone", &SnapRules::monotone},
    {"pc", "One", &SnapRules::one},
    {"pc", "Session", &SnapRules::session},
    {"pg-rc", "Waits", &SnapRules::waits},
    {"pg-rr", "FirstUpdater", &SnapRules::first_updater},
    {"si", "Conflict", &SnapRules::conflict},
    {"ser", "Latest", &SnapRules::latest},
    {"pg-ser", "Serializable", &SnapRules::serial},
    {"mysql-rr", "Waits", &SnapRules::first_waits},
    {"mysql-rr", "Later", nullptr},  // these two are a rule together
    {"mysql-rr", "Earlier", nullptr},
};

std::string_view canonical_rule(const SaidRule& said) {
  const Level* level = LevelSet::built_in().lookup(said.level, Framework::CoSnap);
  for (const Axiom& axiom : level->axioms) {
    if (axiom.name == said.axiom) return axiom.canonical;
  }
  return {};
}

const SaidRule* rule_said_by(const Axiom& axiom) {
  const auto* said =
      std::find_if(std::begin(kSnapRules), std::end(kSnapRules),
                   [&](const SaidRule& rule) { return canonical_rule(rule) == axiom.canonical; });
  return said == std::end(kSnapRules) ? nullptr : said;
}

}  // namespace

const Level* reference_level(Logic logic, Framework framework) {
  return LevelSet::built_in().lookup(name_of(logic), framework);
}

std::optional<Logic> logic_of(const Level& level) {
  if (level.framework == Framework::CoSnap || level.is_wr_free || !level.uses_session_order)
    return {};
  for (const NamedLogic& known : kLogics) {
    if (level.built_in) {
      if (known.name == level.name) return known.logic;
      continue;
    }
    const Level* reference = reference_level(known.logic, level.framework);
    if (reference != nullptr && have_same_axioms(*reference, level)) return known.logic;
  }
  return {};
}

std::optional<Logic> strict_logic_of(const Level& level) {
  if (!level.uses_real_time || level.is_wr_free || !level.uses_session_order) return {};
  for (const NamedLogic& known : kStrictLogics) {
    const Level* reference = LevelSet::built_in().lookup(known.name, level.framework);
    if (reference == nullptr) continue;
    if (level.built_in ? reference->name == level.name : have_same_axioms(*reference, level))
      return known.logic;
  }
  return {};
}

std::string_view name_of(Logic logic) {
  for (const NamedLogic& known : kLogics) {
    if (known.logic == logic) return known.name;
  }
  return {};
}

bool forbids(Logic logic, std::span<const EdgeKind> cycle) {
  const auto is_rw = [](EdgeKind kind) { return kind == EdgeKind::Rw; };
  const auto rw = std::count_if(cycle.begin(), cycle.end(), is_rw);
  if (rw == 0) return true;  // so, wr and version order agree with every commit order
  bool rw_after_rw = false;
  bool rw_after_ww = false;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const EdgeKind next = cycle[(i + 1) % cycle.size()];
    rw_after_rw |= is_rw(cycle[i]) && is_rw(next);
    rw_after_ww |= cycle[i] == EdgeKind::Ww && is_rw(next);
  }
  switch (logic) {
    case Logic::Ser:
      return true;
    case Logic::Si:
      return !rw_after_rw;
    case Logic::Pc:
      return !rw_after_rw && !rw_after_ww;
    case Logic::Psi:
      return rw == 1;
    case Logic::Ua:
      return rw == 1 && cycle.size() == 2;
    default:
      return false;  // the weak levels know no rw
  }
}

std::optional<SnapRules> snap_rules_of(const Level& level) {
  if (level.framework != Framework::CoSnap || !level.uses_session_order) return {};
  SnapRules rules;
  bool later = false;
  bool earlier = false;
  for (const Axiom& axiom : level.axioms) {
    const SaidRule* said = rule_said_by(axiom);
    if (said == nullptr) return {};
    if (said->rule != nullptr) {
      rules.*said->rule = true;
    } else {
      (said->axiom == "Later" ? later : earlier) = true;
    }
  }
  // Half of "one snapshot" is no rule of its own.
  if (later != earlier || (rules.one && !rules.monotone)) return {};
  rules.plain_one = later;
  // Mixtures that nobody declares are not worth rules of their own.
  if (rules.plain_one && rules.monotone) return {};
  if (rules.first_waits && !rules.plain_one) return {};
  return rules;
}

std::string axiom_with(const Level& level, bool SnapRules::*rule) {
  for (const Axiom& axiom : level.axioms) {
    const SaidRule* said = rule_said_by(axiom);
    if (said != nullptr && said->rule == rule) return axiom.name;
  }
  return {};
}

}  // namespace isoscope
