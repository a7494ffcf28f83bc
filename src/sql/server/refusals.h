#pragma once
// Which calls the server may abort at SERIALIZABLE though no cycle of dependencies goes through
// them.
//
// The server does not look for cycles but for two rw edges in a row, A --rw--> P --rw--> B, of
// which B has committed first [PortsGrittner-VLDB'12]; and an edge is there as soon as one
// transaction has read a page or a table where the other one writes. Then P is aborted, or A if P
// has committed. Which pages these are depends on the plan, so here any two that read and write one
// table have an edge:
//
//     Refusals refusals(machine);
//     for (const Choice& choice : refusals.choices(state)) machine.take(state, choice);
//
// A claim that holds in all runs with and without these aborts holds on the server. One that fails
// in a run with such an abort might.
//
// An abort comes at a commit or while the call waits. Where it comes earlier on the server, the
// rest of the call changes nothing that others see.
#include <set>
#include <vector>

#include "sql/server/machine.h"

namespace isoscope::sql::server {

class Refusals {
 public:
  explicit Refusals(const Machine& machine);

  // Can there be any?
  bool any() const { return any_; }
  // Requires: the state is one of the machine.
  std::vector<Choice> choices(const State& state) const;

 private:
  bool has_edge(TxnNo from, TxnNo to) const;  // rw, between calls at SERIALIZABLE
  bool is_beside(const State& state, TxnNo txn, TxnNo other) const;
  bool has_committed_beside(const State& state, TxnNo txn, TxnNo other) const;
  bool may_refuse(const State& state, TxnNo txn) const;

  const Machine& machine_;
  ById<CallId, Footprint> footprints_;  // what is read, and what is written
  ById<CallId, std::uint32_t> sessions_;
  bool any_ = false;
};

}  // namespace isoscope::sql::server
