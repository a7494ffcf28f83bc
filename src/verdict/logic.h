#pragma once
// The built-in levels that have engines of their own, seen as rules about cycles.
//
// With dependencies so, wr, ww (version order) and rw (anti-dependency), each level forbids the
// cycles of certain shapes. The shapes are what an explanation has to show and what confirm()
// checks, whoever found the cycle:
//
//   ser   any cycle                                     [AdyaLiskovONeil-ICDE'00]
//   si    cycles without two rw in a row                [Fekete-TODS'05]
//   pc    cycles in which no rw follows a ww or an rw   (a snapshot is a prefix of the commits)
//   psi   cycles with at most one rw                    [CeroneGotsman-PODC'16]
//   ua    cycles without rw, and rw answered by a direct so, wr or ww
//   cc, ra, rc   cycles of so, wr, known versions and commit order that a read forces because its
//         reader sees the overtaken writer: through so and wr, by one step of them, or by an
//         earlier read
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "spec/level.h"
#include "verdict/verdict.h"

namespace isoscope {

enum class Logic : std::uint8_t { True, Rc, Ra, Cc, Pc, Ua, Psi, Si, Ser };

// The logic of a built-in level, whichever framework states it (the two agree where both exist);
// nothing for levels that only their text defines.
std::optional<Logic> logic_of(const Level& level);
std::string_view name_of(Logic logic);

// Is a cycle with these kinds of edges, in order and with the last one closing it, forbidden?
bool forbids(Logic logic, std::span<const EdgeKind> cycle);

}  // namespace isoscope
