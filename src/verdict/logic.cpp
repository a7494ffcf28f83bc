#include "verdict/logic.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spec/canonical.h"
#include "spec/levels.h"

namespace isoscope {

namespace {

constexpr std::uint32_t bit(Logic logic) { return 1U << static_cast<std::uint32_t>(logic); }

struct LogicFacts {
  std::string_view name;
  std::uint32_t implied_directly = 0;  // bits of logics
};

// A switch, so that the compiler asks for the facts of each.
constexpr LogicFacts facts_of(Logic logic) {
  switch (logic) {
    case Logic::True: return {"true"};
    case Logic::Rc: return {"rc", bit(Logic::True)};
    case Logic::Ra: return {"ra", bit(Logic::Rc)};
    case Logic::Cc: return {"cc", bit(Logic::Ra)};
    case Logic::Pc: return {"pc", bit(Logic::Cc)};
    case Logic::Ua: return {"ua", bit(Logic::Ra)};
    case Logic::Psi: return {"psi", bit(Logic::Cc) | bit(Logic::Ua)};
    case Logic::Si: return {"si", bit(Logic::Pc) | bit(Logic::Psi)};
    case Logic::Ser: return {"ser", bit(Logic::Si)};
  }
  return {};
}

constexpr auto kLogics = [] {
  std::array<Logic, kNumLogics> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Logic>(i);
  return all;
}();

// Numbers beyond the last enumerator have no name, so kNumLogics counts all of them.
static_assert(facts_of(static_cast<Logic>(kNumLogics)).name.empty());

// By logic all that it implies, itself too.
constexpr auto kImplied = [] {
  std::array<std::uint32_t, kNumLogics> implied = {};
  for (const Logic logic : kLogics) {
    std::uint32_t& all = implied[static_cast<std::size_t>(logic)];
    all = bit(logic);
    for (const Logic other : kLogics) {
      if ((facts_of(logic).implied_directly & bit(other)) != 0)
        all |= implied[static_cast<std::size_t>(other)];
    }
  }
  return implied;
}();

// A logic stands after those that it implies.
static_assert(std::all_of(kLogics.begin(), kLogics.end(), [](Logic logic) {
  return facts_of(logic).implied_directly >> static_cast<std::uint32_t>(logic) == 0;
}));

using Texts = std::vector<std::string>;  // canonical ones of axioms

bool says(const Level& level, const std::string& text) {
  return std::any_of(level.axioms.begin(), level.axioms.end(),
                     [&](const Axiom& axiom) { return axiom.canonical == text; });
}

bool is_among(const std::string& text, const Texts& texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

RelationPtr with_real_time(const RelationPtr& r) {
  if (r == nullptr) return nullptr;
  RelationExpr copy = *r;
  copy.left = with_real_time(r->left);
  copy.right = with_real_time(r->right);
  if (r->op != RelationOp::So) return std::make_shared<const RelationExpr>(std::move(copy));
  RelationExpr rt = copy;
  rt.op = RelationOp::Rt;
  RelationExpr both;
  both.op = RelationOp::Union;
  both.left = std::make_shared<const RelationExpr>(std::move(copy));
  both.right = std::make_shared<const RelationExpr>(std::move(rt));
  return std::make_shared<const RelationExpr>(std::move(both));
}

FormulaPtr with_real_time(const FormulaPtr& f) {
  if (f == nullptr) return nullptr;
  Formula copy = *f;
  copy.relation = with_real_time(f->relation);
  copy.other = with_real_time(f->other);
  copy.left = with_real_time(f->left);
  copy.right = with_real_time(f->right);
  return std::make_shared<const Formula>(std::move(copy));
}

// forall t1, t2: txn. rt(t1, t2) implies co(t1, t2), or vis.
std::string real_time_axiom(Framework framework) {
  const Variable t1{.name = "t1", .sort = Sort::Txn, .slot = 0};
  const Variable t2{.name = "t2", .sort = Sort::Txn, .slot = 1};
  const auto member = [&](RelationOp op) {
    RelationExpr relation;
    relation.op = op;
    Formula f;
    f.op = FormulaOp::Member;
    f.a = t1;
    f.b = t2;
    f.relation = std::make_shared<const RelationExpr>(std::move(relation));
    return std::make_shared<const Formula>(std::move(f));
  };
  Formula rule;
  rule.op = FormulaOp::Implies;
  rule.left = member(RelationOp::Rt);
  rule.right = member(framework == Framework::VisAr ? RelationOp::Vis : RelationOp::Co);
  Formula all;
  all.op = FormulaOp::Forall;
  all.variables = {t1, t2};
  all.left = std::make_shared<const Formula>(std::move(rule));
  return canonical_text(all);
}

// What the levels of the rows say, and which built-in levels say the same.
class References {
 public:
  struct Known {
    std::optional<Logic> logic;
    std::optional<Logic> strict;
  };

  References() {
    for (const Logic logic : kLogics) {
      for (const Framework framework : {Framework::Co, Framework::VisAr}) {
        const Level* level = reference_level(logic, framework);
        if (level == nullptr) continue;
        Entry entry{logic, framework, {}, {real_time_axiom(framework)}};
        for (const Axiom& axiom : level->axioms) {
          entry.plain.push_back(axiom.canonical);
          entry.strict.push_back(canonical_text(*with_real_time(axiom.formula)));
        }
        entries_.push_back(std::move(entry));
      }
    }
    for (const auto& level : LevelSet::built_in().all()) built_in_[level.get()] = look_at(*level);
  }

  static const References& get() {
    static const References references;
    return references;
  }

  Known find(const Level& level) const {
    const auto found = built_in_.find(&level);
    return found == built_in_.end() ? look_at(level) : found->second;
  }

 private:
  struct Entry {
    Logic logic;
    Framework framework;
    Texts plain;
    Texts strict;
  };

  Known look_at(const Level& level) const {
    if (level.framework == Framework::CoSnap || level.is_wr_free || !level.uses_session_order)
      return {};
    Known known;
    for (const Entry& entry : entries_) {
      if (entry.framework != level.framework) continue;
      if (!level.uses_real_time && says_just(level, entry, &Entry::plain))
        known.logic = entry.logic;
      // Real time alone, in any commit order, has no engine.
      if (level.uses_real_time && entry.logic != Logic::True &&
          says_just(level, entry, &Entry::strict))
        known.strict = entry.logic;
    }
    return known;
  }

  // Does the level have these axioms, and besides only such as follow from them? They are compared
  // up to the names of their variables, and may be said often and in any order. What follows is
  // what the logics below say in the same framework: an execution that satisfies a logic satisfies
  // those that it implies with the same orders (tests/synth/compare_test.cpp), so that
  // `extends cc` adds nothing to the axiom of pc.
  bool says_just(const Level& level, const Entry& entry, Texts Entry::*texts) const {
    const auto follows = [&](const Axiom& axiom) {
      return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& below) {
        return below.framework == entry.framework && implies(entry.logic, below.logic) &&
               is_among(axiom.canonical, below.*texts);
      });
    };
    const Texts& asked = entry.*texts;
    return std::all_of(asked.begin(), asked.end(),
                       [&](const std::string& text) { return says(level, text); }) &&
           std::all_of(level.axioms.begin(), level.axioms.end(), follows);
  }

  std::vector<Entry> entries_;
  std::unordered_map<const Level*, Known> built_in_;
};

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
    {"pg-rc", "Seen", &SnapRules::seen},
    {"pg-rr", "FirstUpdater", &SnapRules::first_updater},
    {"si", "Conflict", &SnapRules::conflict},
    {"ser", "Latest", &SnapRules::latest},
    {"pg-ser", "Serializable", &SnapRules::serial},
    {"mysql-rr", "Waits", &SnapRules::first_waits},
    {"mysql-rr", "Seen", &SnapRules::first_seen},
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

std::optional<Logic> logic_of(const Level& level) { return References::get().find(level).logic; }

std::optional<Logic> strict_logic_of(const Level& level) {
  return References::get().find(level).strict;
}

std::string_view name_of(Logic logic) { return facts_of(logic).name; }

bool implies(Logic a, Logic b) { return (kImplied[static_cast<std::size_t>(a)] & bit(b)) != 0; }

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
    case Logic::Ser: return true;
    case Logic::Si: return !rw_after_rw;
    case Logic::Pc: return !rw_after_rw && !rw_after_ww;
    case Logic::Psi: return rw == 1;
    case Logic::Ua: return rw == 1 && cycle.size() == 2;
    case Logic::True:
    case Logic::Rc:
    case Logic::Ra:
    case Logic::Cc: break;  // they know no rw
  }
  return false;
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
  // Mixtures that no level declares are not worth rules of their own.
  if (rules.plain_one && rules.monotone) return {};
  if ((rules.first_waits || rules.first_seen) && !rules.plain_one) return {};
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
