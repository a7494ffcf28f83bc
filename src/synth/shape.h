#pragma once
// What the text of a level's axioms allows a search to do.
//
//   conclusions about vis   forall … . premises implies vis(s, t), with vis only demanded, never
//                           denied, in the premises: for each ar there is a least vis, and if any
//                           vis does, the least one does
//   conclusions about snap  the same over co, snap: for each co there are least snapshots
//   forced order            the order (co or ar) occurs only as a conclusion: the axiom forces
//                           edges, and the level is violated iff they close a cycle with so and wr
//
// `r subset vis`, `transitive(vis)` and `total(vis)` are read as the rules that they are.
#include <memory>
#include <optional>
#include <vector>

#include "relational/normal_form.h"
#include "spec/level.h"
#include "spec/rule.h"

namespace isoscope::synthesis {

// premises imply that (from, to) is in the head's relation: vis, snap or the order.
struct HeadRule {
  std::shared_ptr<const NormalNode> join;  // some values make all premises true
  Variable from;
  Variable to;
};

struct LevelShape {
  const Level* level = nullptr;
  bool needs_read_order = false;  // some axiom speaks of reads

  // Over vis, ar. Set if a least vis exists for each ar: these rules and the framework make it.
  bool has_least_vis = false;
  std::vector<HeadRule> vis_rules;
  // Set if, besides, no axiom mentions ar.
  bool vis_ignores_order = false;

  // Over co, snap. Set if least snapshots exist for each co: these rules and the framework make
  // them.
  bool has_least_snap = false;
  std::vector<HeadRule> snap_rules;

  // Over co. Set if the order is only concluded; then these rules force it.
  bool only_forces_order = false;
  std::vector<HeadRule> order_rules;

  // Axioms that no list covers: over vis, ar they hold the better the smaller vis is, over co, snap
  // the smaller snapshots are, over co they do not mention co.
  std::vector<const Axiom*> others;
};

LevelShape shape_of(const Level& level);

// What the axioms of some levels distinguish. Histories that differ in nothing else are the same
// to all of them, so a search leaves the difference out.
struct Distinctions {
  bool read_order = false;  // an axiom quantifies over reads
  // An axiom has two places wr[x] or rw[x] whose keys may be the same, as in
  //     wr[x](t1, t) and wr[x](t2, t)  implies  t1 = t2
  // so that it may forbid just what t reads from two writers of x. Levels that speak of one read of
  // a key at a time (all built-in ones) are searched with one read of each key.
  bool repeated_reads = false;
  bool aborted_txns =
      false;  // an axiom mentions [aborted]; else they are readers that write nothing
  // A level is over co, snap, or an axiom mentions statements or locks; then reads have an order.
  bool statements = false;
  bool inserts = false;    // an axiom mentions locks or waited, of which an insert is no part
  bool real_time = false;  // an axiom mentions rt
  int keys = 0;  // so many may be named in one axiom of an allowed and one of a forbidden level
};
Distinctions distinctions_of(const std::vector<const Level*>& allow,
                             const std::vector<const Level*>& forbid);

}  // namespace isoscope::synthesis
