#pragma once
// A history and a witness as a structure for the formulas of synth/proof_theory.h: every element
// has a name, there are no others, and each fact is stated as true or false. In such a structure a
// formula is true or false, so a translation can be compared with the evaluator.
#include <algorithm>
#include <vector>

#include "history/execution.h"
#include "spec/statements.h"
#include "synth/proof_theory.h"

namespace isoscope {

inline std::vector<SmtTerm> name_elements(ProofTheory& theory, Sort sort, std::size_t count,
                                          std::vector<SmtTerm>& out) {
  SmtSolver& smt = theory.smt();
  std::vector<SmtTerm> names;
  // A sort of the solver is never empty; the theory knows a lone dummy.
  for (std::size_t i = 0; i < std::max<std::size_t>(count, 1); ++i)
    names.push_back(smt.new_constant("element", theory.sort(sort)));
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) out.push_back(!equals(names[i], names[j]));
  }
  out.push_back(smt.forall({theory.sort(sort)}, [&](auto v) {
    SmtTerm any = smt.truth(false);
    for (SmtTerm name : names) any = any || equals(v[0], name);
    return any;
  }));
  return names;
}

// What a history says of statements and locks, and a witness of snapshots.
inline void pin_statements(ProofTheory& theory, const History& h, const Witness& w,
                           const std::vector<EventId>& events, const std::vector<SmtTerm>& txns,
                           const std::vector<SmtTerm>& keys, const std::vector<SmtTerm>& reads,
                           std::vector<SmtTerm>& out) {
  const auto state = [&](SmtTerm fact, bool holds) { out.push_back(holds ? fact : !fact); };
  const StatementFacts facts(h);
  for (TxnId t : h.txns()) {
    for (KeyId x : h.keys()) {
      state(theory.locks(txns[t.index], keys[x.index]), facts.locks(t, x));
      state(theory.writes_row(txns[t.index], keys[x.index]), facts.writes_row(t, x));
    }
    if (h.num_keys() == 0) {
      state(theory.locks(txns[t.index], keys[0]), false);
      state(theory.writes_row(txns[t.index], keys[0]), false);
    }
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    state(theory.current(reads[i]), facts.is_current(events[i]));
    std::vector<bool> waited(h.num_txns(), false);
    facts.for_each_waited(events[i], [&](TxnId t) { waited[t.index] = true; });
    for (TxnId t : h.txns()) {
      state(theory.waited(txns[t.index], reads[i]), waited[t.index]);
      if (w.snap.empty()) continue;
      const auto end = w.order.begin() + w.snap[events[i].index];
      state(theory.snap(txns[t.index], reads[i]), std::find(w.order.begin(), end, t) != end);
    }
    for (std::size_t j = 0; j < events.size(); ++j)
      state(theory.same(reads[i], reads[j]), h.txn(events[i]) == h.txn(events[j]) &&
                                                 h.statement(events[i]) == h.statement(events[j]));
  }
}

// Requires: all transactions of the history are present.
inline std::vector<SmtTerm> pin(ProofTheory& theory, const History& h, const Witness& w) {
  std::vector<SmtTerm> out;
  const auto state = [&](SmtTerm fact, bool holds) { out.push_back(holds ? fact : !fact); };
  const auto txns = name_elements(theory, Sort::Txn, h.num_txns(), out);
  const auto keys = name_elements(theory, Sort::Key, h.num_keys(), out);
  state(theory.has_keys(), h.num_keys() > 0);
  state(equals(txns[0], theory.t0()), true);
  const auto reads_from = h.reads_from();
  const Relation order = order_relation(w.order, h.num_txns());
  const Relation wr = wr_relation(h);
  for (TxnId a : h.txns()) {
    state(theory.aborted(txns[a.index]), h.status(a) == TxnStatus::Aborted);
    for (TxnId b : h.txns()) {
      const SmtTerm s = txns[a.index];
      const SmtTerm t = txns[b.index];
      state(theory.so(s, t), h.so(a, b));
      if (theory.has_real_time()) state(theory.rt(s, t), h.rt(a, b));
      state(theory.order(s, t), order.contains(a.index, b.index));
      state(theory.wr(s, t), wr.contains(a.index, b.index));
      if (w.vis) state(theory.vis(s, t), w.vis->contains(a.index, b.index));
      for (KeyId x : h.keys()) {
        state(theory.wr(keys[x.index], s, t), std::find(reads_from.begin(), reads_from.end(),
                                                        ReadFrom{x, a, b}) != reads_from.end());
      }
      if (h.num_keys() == 0) state(theory.wr(keys[0], s, t), false);
    }
    for (KeyId x : h.keys()) state(theory.writes(txns[a.index], keys[x.index]), h.writes(a, x));
    if (h.num_keys() == 0) state(theory.writes(txns[a.index], keys[0]), false);
  }
  if (!theory.has_read_sort()) return out;
  std::vector<EventId> events;
  for (EventId e : h.all_events()) {
    if (h.is_external_read(e) || (h.is_read(e) && theory.has_statements())) events.push_back(e);
  }
  const auto reads = name_elements(theory, Sort::Read, events.size(), out);
  state(theory.has_reads(), !events.empty());
  if (events.empty()) state(theory.po(reads[0], reads[0]), false);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const EventId e = events[i];
    if (theory.has_statements()) state(theory.is_external(reads[i]), h.is_external_read(e));
    if (h.is_external_read(e)) {
      state(theory.is_read(reads[i], keys[h.key(e).index], txns[h.writer(e).index],
                           txns[h.txn(e).index]),
            true);
    } else {
      state(equals(theory.txn_of(reads[i]), txns[h.txn(e).index]), true);
      state(equals(theory.key_of(reads[i]), keys[h.key(e).index]), true);
    }
    for (std::size_t j = 0; j < events.size(); ++j)
      state(theory.po(reads[i], reads[j]), i < j && h.txn(e) == h.txn(events[j]));
  }
  if (theory.has_statements()) pin_statements(theory, h, w, events, txns, keys, reads, out);
  return out;
}

}  // namespace isoscope
