#pragma once
// What is true of every history and of every witness, as formulas: the ground on which
// synth/proof.h stands.
//
// A structure for these symbols is read off any history without inexcusable reads (a history with
// one satisfies no level) and any strict total order of its transactions:
//
//   Txn, Key, Read      present transactions, keys, external reads; any number of each
//   T0, so, aborted     as in history/history.h
//   writes(t,x)         final writes of committed transactions
//   wr[x](t1,t3)        some external read of x in t3 names t1 as its writer; one transaction may
//                       read a key from two writers
//   txn, key, src       of a read, with `po` between the reads of a transaction; only if a level
//                       speaks of reads
//   order               co, or ar, of the assumed witness
//   vis                 the visibility that the stronger level assumes, if it is over vis, ar
//   snap                the snapshots that it assumes, if it is over co, snap
//   rt                  real time; only if a level speaks of it
//
// and, only if a level speaks of statements, when reads are all reads, those of own writes too:
//
//   external(r)         r reads what another transaction wrote; src(r) means something
//   same, waited, current, locks, writesrow   as in spec/statements.h
//
// The rule for this file: **assert only what is true in that structure.** Then a contradiction
// with the facts is a contradiction with every history. Left out are truths that no proof needs
// (that histories are finite, that sessions are chains, that T0 writes a key): fewer facts make
// fewer proofs, never wrong ones, and what is proved holds for sessions as partial orders too.
//
// Sorts have an element in the solver, but a history may have no key or no read. The propositions
// has_keys and has_reads say whether it has: if not, the sort's elements are dummies that are
// not written or read, and quantifiers over them are decided by the proposition.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "smt/solver.h"
#include "spec/ast.h"
#include "spec/level.h"
#include "synth/statement_shape.h"

namespace isoscope {

using TxnRelation = std::function<SmtTerm(SmtTerm, SmtTerm)>;
using SnapRelation = TxnRelation;  // from transactions to reads

// What a theory is about.
struct ProofSubject {
  bool reads = false;       // single reads
  bool statements = false;  // statements and locks; then reads, too
  bool real_time = false;
  StatementShape shape = StatementShape::Any;
};

class ProofTheory {
 public:
  ProofTheory(SmtSolver& smt, const ProofSubject& subject);

  SmtSolver& smt() { return smt_; }
  bool has_read_sort() const { return subject_.reads; }
  bool has_statements() const { return subject_.statements; }
  bool has_real_time() const { return subject_.real_time; }
  SmtSort sort(Sort sort) const {
    return sort == Sort::Txn ? txn_ : sort == Sort::Key ? key_ : read_;
  }

  // Formulas about elements. Reads may be mentioned only in a theory with reads.
  SmtTerm t0() const { return t0_; }
  SmtTerm so(SmtTerm a, SmtTerm b) const { return so_(a, b); }
  SmtTerm writes(SmtTerm t, SmtTerm x) const { return writes_(t, x); }
  SmtTerm writes_something(SmtTerm t) const;
  SmtTerm reads(SmtTerm t, SmtTerm x) const;
  SmtTerm reads_something(SmtTerm t) const;
  SmtTerm aborted(SmtTerm t) const { return aborted_(t); }
  SmtTerm wr(SmtTerm x, SmtTerm t1, SmtTerm t3) const { return wr_(x, t1, t3); }
  SmtTerm wr(SmtTerm t1, SmtTerm t3) const { return wr_any_(t1, t3); }
  SmtTerm wr_to_read(SmtTerm x, SmtTerm t1, SmtTerm r) const {
    return is_external(r) && equals(src_(r), t1) && equals(read_key_(r), x);
  }
  SmtTerm wr_to_read(SmtTerm t1, SmtTerm r) const { return is_external(r) && equals(src_(r), t1); }
  // Is there a read r, and is it no read of an own write?
  SmtTerm is_external(SmtTerm r) const {
    return subject_.statements ? has_reads_ && external_(r) : has_reads_;
  }
  // Statements, locks and real time may be mentioned only in a theory with them.
  SmtTerm rt(SmtTerm a, SmtTerm b) const { return rt_(a, b); }
  SmtTerm snap(SmtTerm t, SmtTerm r) const { return snap_(t, r); }
  SmtTerm of(SmtTerm r, SmtTerm t) const { return has_reads_ && equals(read_txn_(r), t); }
  SmtTerm txn_of(SmtTerm r) const { return read_txn_(r); }
  SmtTerm key_of(SmtTerm r) const { return read_key_(r); }
  SmtTerm source_of(SmtTerm r) const { return src_(r); }
  SmtTerm same(SmtTerm r, SmtTerm s) const { return same_(r, s); }
  SmtTerm waited(SmtTerm t, SmtTerm r) const { return waited_(t, r); }
  SmtTerm current(SmtTerm r) const { return current_(r); }
  SmtTerm locks(SmtTerm t, SmtTerm x) const { return locks_(t, x); }
  SmtTerm writes_row(SmtTerm t, SmtTerm x) const { return writes_row_(t, x); }
  // An external read of the snapshot, not of what is there.
  SmtTerm is_plain(SmtTerm r) const { return is_external(r) && !current(r); }
  SmtTerm po(SmtTerm r, SmtTerm s) const { return po_(r, s); }
  SmtTerm order(SmtTerm a, SmtTerm b) const { return order_(a, b); }
  SmtTerm vis(SmtTerm a, SmtTerm b) const { return vis_(a, b); }
  // Has the history a key, a read?
  SmtTerm has_keys() const { return has_keys_; }
  SmtTerm has_reads() const { return has_reads_; }
  // That `r` is a read of x in t that reads from `writer`.
  SmtTerm is_read(SmtTerm r, SmtTerm x, SmtTerm writer, SmtTerm t) const {
    return wr_to_read(x, writer, r) && equals(read_txn_(r), t);
  }

  // Quantifiers over elements that the history has.
  SmtTerm forall(std::span<const Sort> sorts, const SmtSolver::Body& body);
  SmtTerm exists(std::span<const Sort> sorts, const SmtSolver::Body& body);
  SmtTerm forall_txns(int count, const SmtSolver::Body& body);

  // What is asserted. Requires of add(): the fact is true in the structure of every history with
  // the assumed witness.
  const std::vector<SmtTerm>& facts() const { return facts_; }
  void add(SmtTerm fact) { facts_.push_back(fact); }
  // What the facts from here on are about, for people.
  struct Heading {
    std::size_t first_fact = 0;
    std::string words;
  };
  void begin(std::string words) { headings_.push_back({facts_.size(), std::move(words)}); }
  const std::vector<Heading>& headings() const { return headings_; }

  // What the level's framework demands of `order`, a strict total order with T0 first, and, over
  // vis, ar, of `vis`, over co, snap of `snap`; one formula a demand. The demand that known version
  // orders (of lists) are in the order is left out: it is about the order alone, which the assumed
  // and the constructed witness share, or on whose ww they agree (proof_search.cpp). So is the
  // demand that the order keeps to commit numbers, see ProofAnswer::without_numbers.
  struct Demand {
    std::string words;
    SmtTerm formula;
  };
  std::vector<Demand> demands(const Level& level, const TxnRelation& vis, const TxnRelation& order,
                              const SnapRelation& snap);
  // That `order` is a strict total order.
  std::vector<SmtTerm> total_order(const TxnRelation& order);
  SmtTerm begins_with_t0(const TxnRelation& order);

 private:
  SmtTerm has(std::span<const Sort> sorts);
  void add_history_facts();
  void add_read_facts();
  void add_statement_facts();
  void add_shape_facts();
  void add_time_facts();
  std::vector<Demand> snapshot_demands(const TxnRelation& order, const SnapRelation& snap);
  void add_order_facts();

  SmtSolver& smt_;
  ProofSubject subject_;
  SmtSort txn_, key_, read_;
  SmtTerm t0_, has_keys_, has_reads_;
  SmtFunction so_, writes_, aborted_;
  SmtFunction wr_, wr_any_, order_, vis_;
  SmtFunction src_, read_key_, read_txn_, po_;
  SmtFunction rt_, external_, same_, waited_, current_, locks_, writes_row_, snap_;
  std::vector<SmtTerm> facts_;
  std::vector<Heading> headings_;
};

}  // namespace isoscope
