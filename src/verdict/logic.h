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
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "spec/level.h"
#include "verdict/verdict.h"

namespace isoscope {

// Each after those that it implies.
enum class Logic : std::uint8_t { True, Rc, Ra, Cc, Pc, Ua, Psi, Si, Ser };
inline constexpr std::size_t kNumLogics = static_cast<std::size_t>(Logic::Ser) + 1;

// The logic of a level whose axioms are, up to the names of variables, those of a built-in one and
// perhaps of levels below it, whichever framework states it (the two agree where both exist);
// nothing for levels that only their text defines.
std::optional<Logic> logic_of(const Level& level);
// The built-in level with that logic in that framework, or null.
const Level* reference_level(Logic logic, Framework framework);
// The same of a level that has so ∪ rt in place of so and demands that co contains rt: strict-ser
// is ser with real time.
std::optional<Logic> strict_logic_of(const Level& level);
std::string_view name_of(Logic logic);

// Does every history that satisfies `a` satisfy `b`? tests/synth proves every implication and
// separates by a history what is not implied.
bool implies(Logic a, Logic b);

// Is a cycle with these kinds of edges, in order and with the last one closing it, forbidden?
bool forbids(Logic logic, std::span<const EdgeKind> cycle);

// What levels over co, snap may ask, as rules about points: a commit for each transaction, a
// snapshot for each statement that reads. With known version order each rule says that one point
// comes before another.
struct SnapRules {
  bool monotone = false;       // a later statement's snapshot has what an earlier one's has
  bool one = false;            // all statements of a transaction share a snapshot
  bool plain_one = false;      // all plain reads of a transaction do (InnoDB)
  bool session = false;        // snapshots have what the session did before
  bool waits = false;          // from the statement after a lock on, what the lock waited for
  bool seen = false;           // from the next statement on, what a statement read
  bool first_waits = false;    // the same, for the first plain read alone (InnoDB)
  bool first_seen = false;     // the same, for the first plain read alone (InnoDB)
  bool first_updater = false;  // who locks a row has its earlier writers in the snapshot
  bool conflict = false;       // who writes a key has its earlier writers in the snapshot
  bool latest = false;         // snapshots have all that commits before
  bool serial = false;         // dependencies of committed transactions have no cycle
};

// The rules of a level over co, snap all of whose axioms are rules, in whatever words for their
// variables; else nothing.
std::optional<SnapRules> snap_rules_of(const Level& level);
// The first axiom of the level that is the rule; empty if it has none.
std::string axiom_with(const Level& level, bool SnapRules::*rule);

}  // namespace isoscope
