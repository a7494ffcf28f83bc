#pragma once
// Cycles of functions by their earliest call.
//
// One call of a cycle is the first in ar. The edge into it goes against ar (an anti-dependency, as
// reads see what is before them), so the cycles of a given length are paths that end like that:
//
//     … -> f -> g -> h      ar(h, g), ar(h, f), …
//
// built from the end. Few pairs g -> h can stand there at all, and where what a call sees is a
// beginning of ar, few of these have anything before them: whoever comes after h and before g in
// the cycle is either seen by g (then g sees h, too, there), or g writes. Both are questions about
// two functions, and in most applications they leave nothing of the third power of their number.
// Longer beginnings of paths are asked of the solver one by one.
//
// If no execution has a cycle shorter than k, one of k calls has no chord: paths may be asked for
// without those that are there whatever happens outside.
//
// Cost  Two questions for each pair of functions that may depend on each other, then one for each
//       path that is left. Answers are kept.
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "audit/cycles.h"
#include "audit/open_world.h"

namespace isoscope::audit {

enum class Chords : std::uint8_t { Allowed, None };

// Which calls of a cycle depend on which: from each to the next, and from the last to the first.
// With Chords::None they depend on no others.
std::vector<SmtTerm> cycle_of(World& world, Cast cast, Chords chords);

class EarliestPaths {
 public:
  // Requires: both outlive it.
  EarliestPaths(const Problem& problem, OpenWorld& open, Budget& budget)
      : problem_(problem), open_(open), budget_(budget) {}

  // Can a call of f depend on one of g that comes before it in ar?
  bool may_go_back(sql::FunctionId f, sql::FunctionId g);
  // The same, and a call that comes after that one of g in ar depends on f.
  bool may_turn(sql::FunctionId f, sql::FunctionId g);
  // e -> f -> g, the last before the others.
  bool may_turn(sql::FunctionId e, sql::FunctionId f, sql::FunctionId g);

  // The functions of a path from its earliest call backwards, as they depend on each other; with
  // Chords::None nothing else does. Requires: at least two.
  using Path = std::vector<sql::FunctionId>;
  bool may_be(const Path& path, Chords chords);

  // What may be a cycle of that length, as smallest rotations, in ascending order. Nothing if the
  // budget is over before all are known. Chords::None requires: no execution has a shorter cycle.
  std::optional<std::vector<FunctionCycle>> cycles(const std::vector<sql::FunctionId>& functions,
                                                   std::size_t length, Chords chords);
  // The solver gave up on some question, which counts as yes.
  bool is_unsure() const { return is_unsure_; }

 private:
  bool ask(Cast cast, std::span<const SmtTerm> about);
  // Snapshots of its calls are beginnings of ar.
  bool sees_beginnings(sql::FunctionId f) const;
  SmtTerm has_edge_in(Member a, Member earliest);

  const Problem& problem_;
  OpenWorld& open_;
  Budget& budget_;
  std::map<std::pair<Path, Chords>, bool> may_be_;
  std::map<std::pair<sql::FunctionId, sql::FunctionId>, bool> may_turn_;
  bool is_unsure_ = false;
};

}  // namespace isoscope::audit
