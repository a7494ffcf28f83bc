#include "synth/proof_theory.h"

#include <algorithm>

#include "support/assert.h"

namespace isoscope {

ProofTheory::ProofTheory(SmtSolver& smt, bool with_reads)
    : smt_(smt),
      with_reads_(with_reads),
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
  if (with_reads_) {
    read_ = smt.new_sort("Read");
    const SmtSort of_read[] = {read_};
    src_ = smt.new_function("src", of_read, txn_);
    read_key_ = smt.new_function("key", of_read, key_);
    read_txn_ = smt.new_function("txn", of_read, txn_);
    po_ = smt.new_predicate("po", {read_, read_});
  }
  add_history_facts();
  if (with_reads_) add_read_facts();
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

  // Nobody writes a dummy key, and aborted transactions write nothing; T0 did not abort.
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
    return implies(has_reads_, wr(read_key_(r[0]), src_(r[0]), read_txn_(r[0])));
  }));
  const SmtSort places[] = {key_, txn_, txn_};
  const SmtFunction some_read = smt_.new_function("some_read", places, read_);
  add(smt_.forall(places, [&](auto v) {
    const SmtTerm r = some_read(v[0], v[1], v[2]);
    return implies(wr(v[0], v[1], v[2]), has_reads_ && equals(read_key_(r), v[0]) &&
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
                                                      const TxnRelation& before) {
  std::vector<Demand> all;
  const auto includes = [&](std::string words, const TxnRelation& r, const TxnRelation& upper) {
    all.push_back({std::move(words), forall_txns(2, [&](auto t) {
                     return implies(r(t[0], t[1]), upper(t[0], t[1]));
                   })});
  };
  const TxnRelation session = [this](SmtTerm s, SmtTerm t) { return so(s, t); };
  const TxnRelation read_from = [this](SmtTerm s, SmtTerm t) { return wr(s, t); };
  if (level.framework == Framework::Co) {
    includes("so is in co", session, before);
    includes("wr is in co", read_from, before);
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

}  // namespace isoscope
