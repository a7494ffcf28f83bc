#pragma once
// Proofs that every execution is serializable, however many transactions it has.
//
// Induction over functions (T'). If in every execution
//   (1) an edge t1 -> t2 out of an instance of T' goes along ar,
//   (2) t1 -> t2 -> t3, all different, implies ar(t1, t3) or ar(t2, t3), and
//   (3) no edges t1 -> t2 -> t1 with an instance of T',
// then no cycle contains an instance of T': along a path from t1 everything is after t1 in ar, so
// the path cannot come back. The functions of T' are peeled off, and the argument begins again
// with the others.
//
// Shortest path. If every path of k edges has a chord, every cycle longer than k has a shorter
// one, so that no cycles up to k means no cycles.
//
// Earliest. One transaction of a cycle is the first in ar. If no path of k edges ends in an
// instance that comes before all others of the path, no cycle is longer than k, so that no cycles
// up to k means no cycles. (For k = 2 that is (2) and no cycles of two: the conditions of the
// induction without (1).)
//
// Functions that depend on nothing any more need no argument, nor do those at SERIALIZABLE of a
// server that rules out cycles among them, when no others are left. All together: peel while
// something can be peeled, then look at the paths of what is left, without chords or to an earliest
// end.
//
// Paper    [NagarJagannathan-CONCUR'18], sections 5.2 and 5.3, Theorems 10 and 12.
// Differs  (3) is ours: the printed conditions speak of three different instances and leave out
//          cycles of two. So is the scheme of the earliest. A peeled function is in no cycle, which
//          is all that the theorem shows; the rest is proved for the other functions, among which
//          instances of the peeled ones may still run. Functions are peeled all at once that can
//          be.
#include <optional>
#include <string>
#include <vector>

#include "audit/open_world.h"

namespace isoscope::audit {

enum class ProofScheme : std::uint8_t {
  Induction,
  ShortestPath,
  Earliest,
  NoDependencies,
  Protected
};
std::string_view name_of(ProofScheme scheme);  // "induction", "shortest path", …

struct ProofStep {
  ProofScheme scheme = ProofScheme::Induction;
  std::vector<sql::FunctionId> functions;
  std::size_t path = 0;  // of a shortest path, or to the earliest: k
};

struct Proof {
  bool holds = false;
  std::vector<ProofStep> steps;            // as far as it got
  std::vector<sql::FunctionId> left;       // functions without a proof
  std::vector<sql::FunctionId> chordless;  // functions along the longest path without a chord
  std::string obstacle;                    // what stopped it, for people
  bool is_unknown = false;                 // the solver gave up, or the time was over
};

struct ProofOptions {
  std::size_t max_path = 4;
  bool fixed_path = false;  // only shortest paths, of max_path, as --path asks
  Progress progress = {};
};

Proof prove_serializable(const Problem& problem, OpenWorld& open, const ProofOptions& options,
                         Budget& budget);

// "new_order and payment by induction, then delivery; the rest depend on nothing"
std::string describe(const sql::Application& app, const Proof& proof);

}  // namespace isoscope::audit
