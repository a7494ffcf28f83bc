#include "synth/proof_theory.h"

#include <algorithm>

namespace isoscope {

ProofTheory::ProofTheory(SmtSolver& smt, const ProofSubject& subject)
    : smt_(smt),
      subject_(subject),
      txn_(smt.new_sort("Txn")),
      key_(smt.new_sort("Key")),
      t0_(smt.new_constant("T0", txn_)),
      has_keys_(smt.new_constant("has_keys", SmtSolver::kBool)),
      has_reads_(smt.new_constant("has_reads", SmtSolver::kBool)),
      so_(smt.new_predicate("so", {txn_, txn_})),
      writes_(smt.new_predicate("writes", {txn_, key_})),
      aborted_(smt.new_predicate("aborted", {txn_})),
      wr_(smt.new_predicate("wr_of_key", {key_, txn_, txn_})),
      wr_any_(smt.new_predicate("wr", {txn_, txn_})),
      order_(smt.new_predicate("order", {txn_, txn_})),
      vis_(smt.new_predicate("vis", {txn_, txn_})) {
  subject_.reads = subject_.reads || subject_.statements;
  if (subject_.reads) {
    read_ = smt.new_sort("Read");
    const SmtSort of_read[] = {read_};
    src_ = smt.new_function("src", of_read, txn_);
    read_key_ = smt.new_function("key", of_read, key_);
    read_txn_ = smt.new_function("txn", of_read, txn_);
    po_ = smt.new_predicate("po", {read_, read_});
  }
  if (subject_.statements) {
    external_ = smt.new_predicate("external", {read_});
    same_ = smt.new_predicate("same", {read_, read_});
    waited_ = smt.new_predicate("waited", {txn_, read_});
    current_ = smt.new_predicate("current", {read_});
    locks_ = smt.new_predicate("locks", {txn_, key_});
    writes_row_ = smt.new_predicate("writesrow", {txn_, key_});
    snap_ = smt.new_predicate("snap", {txn_, read_});
  }
  if (subject_.real_time) rt_ = smt.new_predicate("rt", {txn_, txn_});
  add_history_facts();
  if (subject_.reads) add_read_facts();
  if (subject_.statements) {
    add_statement_facts();
    add_shape_facts();
  }
  if (subject_.real_time) add_time_facts();
  add_order_facts();
}

SmtTerm ProofTheory::has(std::span<const Sort> sorts) {
  SmtTerm all = smt_.truth(true);
  if (std::find(sorts.begin(), sorts.end(), Sort::Key) != sorts.end()) all = all && has_keys_;
  if (std::find(sorts.begin(), sorts.end(), Sort::Read) != sorts.end()) all = all && has_reads_;
  return all;
}

SmtTerm ProofTheory::forall(std::span<const Sort> sorts, const SmtSolver::Body& body) {
  std::vector<SmtSort> list;
  for (Sort s : sorts) list.push_back(sort(s));
  return implies(has(sorts), smt_.forall(list, body));
}

SmtTerm ProofTheory::exists(std::span<const Sort> sorts, const SmtSolver::Body& body) {
  std::vector<SmtSort> list;
  for (Sort s : sorts) list.push_back(sort(s));
  return has(sorts) && smt_.exists(list, body);
}

SmtTerm ProofTheory::forall_txns(int count, const SmtSolver::Body& body) {
  return smt_.forall(std::vector<SmtSort>(static_cast<std::size_t>(count), txn_), body);
}

SmtTerm ProofTheory::writes_something(SmtTerm t) const {
  return smt_.exists({key_}, [&](auto x) { return writes(t, x[0]); });
}

SmtTerm ProofTheory::reads(SmtTerm t, SmtTerm x) const {
  return smt_.exists({txn_}, [&](auto t1) { return wr(x, t1[0], t); });
}

SmtTerm ProofTheory::reads_something(SmtTerm t) const {
  return smt_.exists({txn_}, [&](auto t1) { return wr(t1[0], t); });
}

void ProofTheory::add_history_facts() {
  begin("true of every history");
  // Session order is a strict partial order in which T0 comes before all others.
  add(forall_txns(1, [&](auto t) { return !so(t[0], t[0]); }));
  add(forall_txns(
      3, [&](auto t) { return implies(so(t[0], t[1]) && so(t[1], t[2]), so(t[0], t[2])); }));
  add(forall_txns(1, [&](auto t) { return equals(t[0], t0_) || so(t0_, t[0]); }));

  // No transaction writes a dummy key, and aborted transactions write nothing; T0 did not abort.
  add(smt_.forall({txn_, key_}, [&](auto v) {
    return implies(writes(v[0], v[1]), has_keys_ && !aborted(v[0]));
  }));
  add(!aborted(t0_));

  // An external read names another transaction that writes the key.
  add(smt_.forall({key_, txn_, txn_}, [&](auto v) {
    return implies(wr(v[0], v[1], v[2]), writes(v[1], v[0]) && !equals(v[1], v[2]));
  }));

  // wr without an index is the union over keys.
  add(smt_.forall({key_, txn_, txn_},
                  [&](auto v) { return implies(wr(v[0], v[1], v[2]), wr(v[1], v[2])); }));
  const SmtSort pair[] = {txn_, txn_};
  const SmtFunction some_key = smt_.new_function("some_key", pair, key_);
  add(forall_txns(
      2, [&](auto t) { return implies(wr(t[0], t[1]), wr(some_key(t[0], t[1]), t[0], t[1])); }));
}

void ProofTheory::add_read_facts() {
  begin("true of the reads of every history");
  // wr between transactions is wr to reads, forgetting which read it was.
  add(smt_.forall({read_}, [&](auto r) {
    return implies(is_external(r[0]), wr(read_key_(r[0]), src_(r[0]), read_txn_(r[0])));
  }));
  const SmtSort places[] = {key_, txn_, txn_};
  const SmtFunction some_read = smt_.new_function("some_read", places, read_);
  add(smt_.forall(places, [&](auto v) {
    const SmtTerm r = some_read(v[0], v[1], v[2]);
    return implies(wr(v[0], v[1], v[2]), is_external(r) && equals(read_key_(r), v[0]) &&
                                             equals(src_(r), v[1]) && equals(read_txn_(r), v[2]));
  }));
  // The reads of one transaction, and no others, are ordered.
  add(smt_.forall({read_}, [&](auto r) { return !po(r[0], r[0]); }));
  add(smt_.forall({read_, read_, read_}, [&](auto r) {
    return implies(po(r[0], r[1]) && po(r[1], r[2]), po(r[0], r[2]));
  }));
  add(smt_.forall({read_, read_}, [&](auto r) {
    return implies(po(r[0], r[1]), has_reads_ && equals(read_txn_(r[0]), read_txn_(r[1])));
  }));
  add(smt_.forall({read_, read_}, [&](auto r) {
    return implies(has_reads_ && equals(read_txn_(r[0]), read_txn_(r[1])),
                   equals(r[0], r[1]) || po(r[0], r[1]) || po(r[1], r[0]));
  }));
}

void ProofTheory::add_statement_facts() {
  begin("true of the statements and locks of every history");
  // T0 reads nothing.
  add(smt_.forall({read_},
                  [&](auto r) { return implies(has_reads_, !equals(read_txn_(r[0]), t0_)); }));
  // Statements are stretches of a transaction's reads.
  add(smt_.forall({read_}, [&](auto r) { return same(r[0], r[0]); }));
  add(smt_.forall({read_, read_},
                  [&](auto r) { return implies(same(r[0], r[1]), same(r[1], r[0])); }));
  add(smt_.forall({read_, read_, read_}, [&](auto r) {
    return implies(same(r[0], r[1]) && same(r[1], r[2]), same(r[0], r[2]));
  }));
  add(smt_.forall({read_, read_}, [&](auto r) {
    return implies(same(r[0], r[1]), equals(read_txn_(r[0]), read_txn_(r[1])));
  }));
  add(smt_.forall({read_, read_, read_}, [&](auto r) {
    return implies(po(r[0], r[1]) && po(r[1], r[2]) && same(r[0], r[2]), same(r[0], r[1]));
  }));
  // Whether a read is current is a matter of its statement and key.
  add(smt_.forall({read_, read_}, [&](auto r) {
    return implies(same(r[0], r[1]) && equals(read_key_(r[0]), read_key_(r[1])) && current(r[0]),
                   current(r[1]));
  }));
  // T0 locks nothing, and whoever writes a key writes its row and did not abort.
  add(smt_.forall({txn_, key_}, [&](auto v) {
    return implies(locks(v[0], v[1]), has_keys_ && !equals(v[0], t0_));
  }));
  add(smt_.forall({txn_, key_},
                  [&](auto v) { return implies(writes(v[0], v[1]), writes_row(v[0], v[1])); }));
  add(smt_.forall({txn_, key_}, [&](auto v) {
    return implies(writes_row(v[0], v[1]), has_keys_ && !aborted(v[0]));
  }));
  // Whom an earlier statement waited for, later ones and the rest of the statement waited for.
  add(smt_.forall({txn_, read_}, [&](auto v) {
    return implies(waited(v[0], v[1]),
                   has_reads_ && !equals(v[0], t0_) && !equals(v[0], read_txn_(v[1])));
  }));
  add(smt_.forall({txn_, read_, read_}, [&](auto v) {
    return implies(waited(v[0], v[1]) && (po(v[1], v[2]) || same(v[1], v[2])), waited(v[0], v[2]));
  }));
}

void ProofTheory::add_shape_facts() {
  if (subject_.shape == StatementShape::Any) return;
  begin("true of histories of the shape that is assumed");
  // Without inserts whoever writes a row locks it, and a read is current because of a lock.
  add(smt_.forall({txn_, key_}, [&](auto v) {
    return implies(writes_row(v[0], v[1]) && !equals(v[0], t0_), locks(v[0], v[1]));
  }));
  add(smt_.forall({read_}, [&](auto r) {
    return implies(has_reads_ && current(r[0]), locks(read_txn_(r[0]), read_key_(r[0])));
  }));
  if (subject_.shape == StatementShape::NoInserts) return;
  // Without locks and aborted writes, and with a row for each key, whoever locks a row writes it.
  add(smt_.forall({txn_, key_},
                  [&](auto v) { return implies(writes_row(v[0], v[1]), writes(v[0], v[1])); }));
  add(smt_.forall({txn_, key_},
                  [&](auto v) { return implies(locks(v[0], v[1]), writes(v[0], v[1])); }));
  const SmtSort places[] = {txn_, read_};
  const SmtFunction waited_key = smt_.new_function("waited_key", places, key_);
  add(smt_.forall(places, [&](auto v) {
    const SmtTerm x = waited_key(v[0], v[1]);
    return implies(waited(v[0], v[1]), locks(v[0], x) && locks(read_txn_(v[1]), x));
  }));
  if (subject_.shape == StatementShape::NoLocks) return;
  // A read that is alone in its statement reads its snapshot.
  add(smt_.forall({read_}, [&](auto r) { return implies(has_reads_, !current(r[0])); }));
  add(smt_.forall({read_, read_},
                  [&](auto r) { return implies(same(r[0], r[1]), equals(r[0], r[1])); }));
}

void ProofTheory::add_time_facts() {
  begin("true of real time: it relates intervals, of which T0 has none");
  add(forall_txns(1, [&](auto t) { return !rt(t[0], t[0]) && !rt(t0_, t[0]) && !rt(t[0], t0_); }));
  add(forall_txns(
      3, [&](auto t) { return implies(rt(t[0], t[1]) && rt(t[1], t[2]), rt(t[0], t[2])); }));
  add(forall_txns(4, [&](auto t) {
    return implies(rt(t[0], t[1]) && rt(t[2], t[3]), rt(t[0], t[3]) || rt(t[2], t[1]));
  }));
}

std::vector<SmtTerm> ProofTheory::total_order(const TxnRelation& before) {
  return {forall_txns(1, [&](auto t) { return !before(t[0], t[0]); }),
          forall_txns(3,
                      [&](auto t) {
                        return implies(before(t[0], t[1]) && before(t[1], t[2]),
                                       before(t[0], t[2]));
                      }),
          forall_txns(2, [&](auto t) {
            return equals(t[0], t[1]) || before(t[0], t[1]) || before(t[1], t[0]);
          })};
}

SmtTerm ProofTheory::begins_with_t0(const TxnRelation& before) {
  return forall_txns(1, [&](auto t) { return equals(t[0], t0_) || before(t0_, t[0]); });
}

void ProofTheory::add_order_facts() {
  begin("the order, co or ar, is strict and total, and T0 is first");
  const TxnRelation before = [this](SmtTerm s, SmtTerm t) { return order(s, t); };
  for (SmtTerm fact : total_order(before)) add(fact);
  add(begins_with_t0(before));
}

// As spec/conditions.cpp has them. That the order is strict, total and has T0 first is among the
// facts already.
std::vector<ProofTheory::Demand> ProofTheory::demands(const Level& level,
                                                      const TxnRelation& visible,
                                                      const TxnRelation& before,
                                                      const SnapRelation& snapshot) {
  std::vector<Demand> all;
  const auto includes = [&](std::string words, const TxnRelation& r, const TxnRelation& upper) {
    all.push_back({std::move(words), forall_txns(2, [&](auto t) {
                     return implies(r(t[0], t[1]), upper(t[0], t[1]));
                   })});
  };
  const TxnRelation session = [this](SmtTerm s, SmtTerm t) { return so(s, t); };
  const TxnRelation read_from = [this](SmtTerm s, SmtTerm t) { return wr(s, t); };
  if (level.framework != Framework::VisAr) {
    if (level.uses_session_order) includes("so is in co", session, before);
    if (!level.is_wr_free) includes("wr is in co", read_from, before);
    if (level.framework == Framework::Co) return all;
    for (Demand& demand : snapshot_demands(before, snapshot)) all.push_back(std::move(demand));
    return all;
  }
  includes("vis is in ar", visible, before);
  if (level.uses_session_order) includes("so is in vis", session, visible);
  includes("who is read from is visible", read_from, visible);
  all.push_back({"who is read from is the last visible writer of the key",
                 smt_.forall({key_, txn_, txn_, txn_}, [&](auto v) {
                   return implies(wr(v[0], v[1], v[3]) && writes(v[2], v[0]) && visible(v[2], v[3]),
                                  !before(v[1], v[2]));
                 })});
  return all;
}

std::vector<ProofTheory::Demand> ProofTheory::snapshot_demands(const TxnRelation& before,
                                                               const SnapRelation& snapshot) {
  std::vector<Demand> all;
  const auto demand = [&](std::string words, std::vector<SmtSort> sorts, const auto& body) {
    all.push_back({std::move(words),
                   smt_.forall(sorts, [&](auto v) { return implies(has_reads_, body(v)); })});
  };
  demand("T0 is in each snapshot", {read_}, [&](auto v) { return snapshot(t0_, v[0]); });
  demand("snapshots end before their transaction", {txn_, read_},
         [&](auto v) { return implies(snapshot(v[0], v[1]), before(v[0], read_txn_(v[1]))); });
  demand("snapshots are beginnings of co", {txn_, txn_, read_}, [&](auto v) {
    return implies(snapshot(v[1], v[2]) && before(v[0], v[1]), snapshot(v[0], v[2]));
  });
  demand("reads of a statement share their snapshot", {txn_, read_, read_}, [&](auto v) {
    return implies(same(v[1], v[2]) && snapshot(v[0], v[1]), snapshot(v[0], v[2]));
  });
  demand("who is read from is in the snapshot", {read_},
         [&](auto v) { return implies(is_plain(v[0]), snapshot(src_(v[0]), v[0])); });
  demand("who is read from is the last writer in the snapshot", {txn_, read_}, [&](auto v) {
    return implies(is_plain(v[1]) && writes(v[0], read_key_(v[1])) && snapshot(v[0], v[1]),
                   !before(src_(v[1]), v[0]));
  });
  demand("a current read shows the last writer before its transaction", {txn_, read_}, [&](auto v) {
    return implies(is_external(v[1]) && current(v[1]) && writes(v[0], read_key_(v[1])) &&
                       before(v[0], read_txn_(v[1])),
                   !before(src_(v[1]), v[0]));
  });
  return all;
}

}  // namespace isoscope
