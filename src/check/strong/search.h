#pragma once
// The search for answers to the open choices, conflict by conflict.
#include <cstdint>
#include <deque>
#include <vector>

#include "check/strong/clocks.h"
#include "check/strong/residue.h"
#include "sat/solver.h"
#include "support/budget.h"

namespace isoscope::strong {

// Which answers to the open choices cannot stand together?
//
// Given an answer to every choice, looks for what the level forbids in the known graph with the
// chosen edges, and returns sets of answers that each close such a shape with what is known. Few
// answers a set make a strong clause, so a set comes from a cycle with the fewest chosen edges
// through one of them.
//
//     ser, si, pc   cycles of chosen and known edges
//     psi           cycles of so, wr, ww; and a path of them that leads back over an rw edge
//     ua            cycles of so, wr, ww; and an so, wr or ww edge against an rw edge
//
// Cost  A pass is linear in the arcs of the residue (for psi, in known edges × chains); then a
//       search for each chosen edge that lies on a cycle, with a limit on the work of all.

using Conflict = std::vector<ChoiceLit>;  // sorted, each once

class ConflictFinder {
 public:
  explicit ConflictFinder(const Residue& residue);

  // Empty iff the answers stand together, or if the budget has expired.
  std::vector<Conflict> find(const Answers& answers, Budget& budget);

 private:
  using Node = Digraph::Node;

  bool find_cycles(const Answers& answers, Budget& budget);
  void find_returns(const Answers& answers, Budget& budget);
  void find_opposed(const Answers& answers, Budget& budget);
  // The literals of a path from `from` to `to` over nodes that are on the way, with the fewest
  // chosen edges, joined with `with`. Requires: there is a path, and all of it is on the way.
  template <class IsOnWay>
  Conflict search(const Answers& answers, Node from, Node to, Conflict with,
                  const IsOnWay& is_on_way);

  const Residue& residue_;
  // Choice edges on paths, by the node where they start.
  std::vector<std::uint32_t> out_begin_;
  std::vector<std::uint32_t> out_;
  std::vector<Conflict> conflicts_;
  // Of the current search.
  struct Arrival {
    std::uint32_t search = 0;  // the last that came here
    std::uint32_t cost = 0;
    Node from = 0;
    std::uint32_t edge = 0;  // chosen edge taken, or kKnown
  };
  static constexpr std::uint32_t kKnown = ~std::uint32_t{0};
  std::vector<Arrival> arrivals_;
  std::deque<Node> queue_;
  std::uint32_t searches_ = 0;
  std::uint64_t work_ = 0;
};

// The known graph with the chosen edges added, and sorted. Requires: that makes no cycle on paths.
KnownGraph complete(const Residue& residue, const Answers& answers);

// Answers the open choices, or finds that no answers stand together.
//
// Each choice is a variable. Conflicts become clauses lazily: guess, look for conflicts, forbid
// them, let the solver answer again, until it finds answers without conflicts or no answers. The
// solver keeps what it learnt between the calls and prefers the answers of the guess.
//
// Where a few calls do not suffice (many sessions, few reads), speculation makes another guess: it
// follows what each answer implies, which the solver cannot see, and most often needs no repair.
//
// Papers  Lazy clauses instead of the solvers with acyclicity built in of [Cobra-OSDI'20] and its
//         successors: after saturation few choices are open, and after the guess few conflicts.
//         Measured on 10,000 to 100,000 transactions of simulated stores, the solver is called up
//         to seven times and gets up to 3,000 clauses, so that encoding all cycles of two or
//         three choices beforehand would cost more than it saves.

struct Search {
  SatResult result = SatResult::Unknown;
  Answers answers;  // if Sat
  std::uint32_t solver_calls = 0;
  std::size_t clauses = 0;
  std::uint32_t restarts = 0;  // of speculation
};

Search search_answers(const Residue& residue, const Guess& guess, Budget& budget,
                      const Progress& progress);

}  // namespace isoscope::strong
