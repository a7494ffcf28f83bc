#pragma once
// Gives the words of a level their meaning: variables become slots, `let` names the relations
// they stand for, relations get their sorts.
//
// Every error says where, what was expected and what was found, and proposes the closest known
// word. A let is resolved anew at each use, because `let rf = wr` may lead to a transaction here
// and to a read there. No text makes this costly: what a level may have is bounded.
#include <vector>

#include "spec/level.h"
#include "spec/syntax.h"

namespace isoscope {

inline constexpr int kMaxNodes = 10'000;        // of the relations of a level, lets expanded
inline constexpr std::size_t kMaxAxioms = 200;  // of a level, inherited ones included

// The level that `syntax` declares; `bases` are the levels it extends, in the same order.
// Requires: the bases are over the same framework.
Result<Level> resolve_level(const LevelSyntax& syntax, const std::vector<const Level*>& bases);

}  // namespace isoscope
