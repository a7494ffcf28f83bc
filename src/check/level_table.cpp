#include "check/level_table.h"

#include <algorithm>
#include <array>
#include <string>

#include "spec/levels.h"

namespace isoscope {

namespace {

constexpr std::array kRows = {
    LogicRow{.logic = Logic::True, .engine = WeakLevel::True},
    LogicRow{.logic = Logic::Rc, .engine = WeakLevel::Rc},
    LogicRow{.logic = Logic::Ra, .engine = WeakLevel::Ra},
    LogicRow{.logic = Logic::Cc, .engine = WeakLevel::Cc, .is_offered = true},
    LogicRow{.logic = Logic::Pc, .engine = StrongLevel::Pc},
    LogicRow{.logic = Logic::Ua, .engine = StrongLevel::Ua},
    LogicRow{.logic = Logic::Psi, .engine = StrongLevel::Psi, .is_offered = true},
    LogicRow{.logic = Logic::Si, .engine = StrongLevel::Si, .is_offered = true},
    LogicRow{.logic = Logic::Ser, .engine = StrongLevel::Ser, .is_offered = true},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].logic) != i) return false;
  }
  return true;
}
static_assert(kRows.size() == kNumLogics && is_in_order());

template <class Engine>
Logic logic_with(Engine engine) {
  const auto* row = std::find_if(kRows.begin(), kRows.end(), [&](const LogicRow& r) {
    const auto* own = std::get_if<Engine>(&r.engine);
    return own != nullptr && *own == engine;
  });
  return row->logic;
}

bool says(const Level& level, const std::string& text) {
  return std::any_of(level.axioms.begin(), level.axioms.end(),
                     [&](const Axiom& axiom) { return axiom.canonical == text; });
}

bool has_all_axioms_of(const Level& a, const Level& b) {
  return std::all_of(b.axioms.begin(), b.axioms.end(),
                     [&](const Axiom& axiom) { return says(a, axiom.canonical); });
}

// Does `co` have the same edges from the start?
bool demands_as_much(const Level& a, const Level& b) {
  return a.framework == b.framework && (a.uses_session_order || !b.uses_session_order) &&
         (!a.is_wr_free || b.is_wr_free);
}

}  // namespace

std::span<const LogicRow> logic_rows() { return kRows; }

const LogicRow& row_of(Logic logic) { return kRows[static_cast<std::size_t>(logic)]; }

std::optional<WeakLevel> weak_level(Logic logic) {
  const auto* own = std::get_if<WeakLevel>(&row_of(logic).engine);
  return own == nullptr ? std::nullopt : std::optional(*own);
}

std::optional<StrongLevel> strong_level(Logic logic) {
  const auto* own = std::get_if<StrongLevel>(&row_of(logic).engine);
  return own == nullptr ? std::nullopt : std::optional(*own);
}

Logic logic_of(WeakLevel level) { return logic_with(level); }
Logic logic_of(StrongLevel level) { return logic_with(level); }

WeakLevel weak_base(Logic logic) {
  WeakLevel strongest = WeakLevel::True;
  for (const LogicRow& row : kRows) {
    const auto weak = weak_level(row.logic);
    if (weak && implies(logic, row.logic)) strongest = std::max(strongest, *weak);
  }
  return strongest;
}

bool implies(const Level& a, const Level& b) {
  if (&a == &b) return true;
  if (demands_as_much(a, b) && has_all_axioms_of(a, b)) return true;
  const auto strict_a = strict_logic_of(a);
  const auto strict_b = strict_logic_of(b);
  const auto logic_a = strict_a ? strict_a : logic_of(a);
  const auto logic_b = strict_b ? strict_b : logic_of(b);
  return logic_a && logic_b && (strict_a || !strict_b) && implies(*logic_a, *logic_b);
}

std::vector<const Level*> levels_with_engines(bool real_time) {
  std::vector<const Level*> levels;
  for (const bool strict : {false, true}) {
    if (strict && !real_time) continue;
    for (const auto& level : LevelSet::built_in().all()) {
      const auto logic = strict ? strict_logic_of(*level) : logic_of(*level);
      if (!logic || *logic == Logic::True) continue;
      if (strict && (*logic == Logic::Ra || *logic == Logic::Ua)) continue;
      const auto has_same_name = [&](const Level* other) { return other->name == level->name; };
      if (std::none_of(levels.begin(), levels.end(), has_same_name)) levels.push_back(level.get());
    }
  }
  return levels;
}

std::vector<const Level*> strongest_of(const std::vector<const Level*>& levels) {
  std::vector<const Level*> strongest;
  for (auto level = levels.begin(); level != levels.end(); ++level) {
    // Of equivalent ones the first stands for all.
    const bool is_below =
        std::any_of(levels.begin(), level, [&](auto* other) { return implies(*other, **level); }) ||
        std::any_of(level + 1, levels.end(), [&](auto* other) {
          return implies(*other, **level) && !implies(**level, *other);
        });
    if (!is_below) strongest.push_back(*level);
  }
  return strongest;
}

}  // namespace isoscope
