#pragma once
// Looks for a witness of a history at its levels: grounds, solves, and grounds what is missing.
//
//     decide(axioms):
//       repeat
//         a model of all clauses so far, under the assumption that these axioms hold
//           none            → Violated
//         decode it         → cycles in the order: forbid each, repeat
//         evaluate it       → cycles in relations that must be acyclic, instances of axioms that
//                             it breaks: ground each, repeat
//       until nothing is missing → Consistent
//
// Every clause of an axiom hangs on one signal of that axiom, so that any subset of the axioms can
// be decided by the same search, and what was learnt for one subset serves the next.
//
// Each round adds a clause that its model breaks, and there are finitely many: the search ends.
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "check/ground/decode.h"
#include "check/ground/encode.h"
#include "check/ground/ground.h"
#include "check/ground/grounder.h"
#include "check/ground/history_bounds.h"
#include "check/ground/meter.h"
#include "check/ground/support.h"
#include "check/ground/universe.h"

namespace isoscope {

class Search {
 public:
  // Keeps references. Grounds nothing yet. With `about`, an axiom that begins with a universal
  // quantifier is only required of these transactions, T0 and their reads.
  Search(const History& h, const Assignment& levels, Budget& budget, const GroundOptions& options,
         const std::vector<TxnId>* about = nullptr);
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  // The axioms of all levels, each once, in their order. Over vis, ar and co, snap the last ones
  // are the framework's demands on what reads show.
  const std::vector<GroundAxiom>& axioms() const { return axioms_; }

  // Unknown means that limit() was hit.
  Outcome decide(const std::vector<bool>& required);
  // After Consistent.
  Witness witness() const { return to_witness(*decoded_, encoding_); }
  // After Violated: required axioms that suffice for it.
  std::vector<bool> blamed() const;
  // The first of them by name; empty if there is none.
  std::string first_blamed() const;
  const std::string& limit() const { return meter_.limit(); }
  // After Violated, if there is a log: adds what was assumed, so that its clauses contradict each
  // other.
  void close_log();
  void report(Stats& stats) const;

 private:
  // A conjunct of an axiom.
  struct Part {
    std::size_t axiom = 0;
    const NormalNode* node = nullptr;
  };
  // `signal` may be true only if the relation has no cycle.
  struct Acyclicity {
    Signal signal;
    RelationId relation = 0;
  };

  void collect_axioms(const Assignment& levels);
  void limit_to(const std::vector<TxnId>& about);
  void add_axiom(const Axiom& axiom, const std::vector<const Level*>& all,
                 const Assignment& levels);
  void ground_axioms();
  // Grounds it, or as many of its instances as may be; false if some are left.
  bool ground_part(const Part& part);
  void require_instance(const Part& part, std::span<const Signal> open);
  void enter(std::size_t axiom);
  Signal acyclic(RelationId relation);

  // Each adds what the model lacks, and returns whether it added anything.
  bool forbid_order_cycles();
  bool forbid_relation_cycles(Bounds& exact, Support& support, std::size_t known);
  bool ground_broken_parts(Bounds& exact, Support& support, const std::vector<bool>& required);

  const GroundOptions& options_;
  Universe universe_;
  Circuit circuit_;
  Meter meter_;
  Encoding encoding_;
  RelationTable table_;
  HistoryBounds known_;
  Bounds bounds_;
  Grounder grounder_;
  std::vector<GroundAxiom> axioms_;
  std::vector<Signal> guards_;   // by axiom: if true, the axiom holds
  std::vector<Part> on_demand_;  // not grounded, or not all instances
  std::vector<Acyclicity> acyclicities_;
  std::optional<Decoded> decoded_;
  std::vector<bool> required_;  // of the last decide()
  bool grounded_ = false;
  std::size_t entered_ = 0;  // the axiom that is being grounded
  std::size_t rounds_ = 0;
  std::size_t instances_ = 0;
};

}  // namespace isoscope
