#include "verdict/logic.h"

#include <algorithm>

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

}  // namespace

std::optional<Logic> logic_of(const Level& level) {
  if (!level.built_in) return {};
  for (const NamedLogic& known : kLogics) {
    if (known.name == level.name) return known.logic;
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

}  // namespace isoscope
