#include "check/strongest.h"

#include <algorithm>

#include "spec/levels.h"

namespace isoscope {

bool implies(Logic a, Logic b) {
  const auto is_at_most_cc = [](Logic logic) { return logic <= Logic::Cc; };
  if (a == b || b == Logic::True) return true;
  switch (a) {
    case Logic::Ser:
      return true;
    case Logic::Si:
      return b != Logic::Ser;
    case Logic::Psi:
      return b == Logic::Ua || is_at_most_cc(b);
    case Logic::Pc:
      return is_at_most_cc(b);
    case Logic::Ua:
      return b == Logic::Ra || b == Logic::Rc;
    case Logic::Cc:
      return b == Logic::Ra || b == Logic::Rc;
    case Logic::Ra:
      return b == Logic::Rc;
    default:
      return false;
  }
}

bool implies(const Level& a, const Level& b) {
  if (&a == &b) return true;
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
  for (const Level* level : levels) {
    const auto is_stronger = [&](const Level* other) {
      return other != level && implies(*other, *level);
    };
    if (std::none_of(levels.begin(), levels.end(), is_stronger)) strongest.push_back(level);
  }
  return strongest;
}

}  // namespace isoscope
