// The least snapshots of a ProofSearch: what defines them, and in what they may be included.
#include <fmt/format.h>

#include "synth/proof_search.h"

namespace isoscope {

// That T0 and what plain reads show are in the snapshots.
SmtTerm ProofSearch::contains_reads(const SnapRelation& snap) {
  return smt_.forall({theory_.sort(Sort::Read)}, [&](auto r) {
    return implies(theory_.has_reads(),
                   snap(theory_.t0(), r[0]) &&
                       implies(theory_.is_plain(r[0]), snap(theory_.source_of(r[0]), r[0])));
  });
}

// That from what is in a snapshot by `premise`, what is before it, and the same for the other reads
// of the statement, is so by `conclusion`.
SmtTerm ProofSearch::is_closed(const SnapRelation& premise, const SnapRelation& conclusion) {
  const SmtSort txn = theory_.sort(Sort::Txn);
  const SmtSort read = theory_.sort(Sort::Read);
  const SmtTerm downwards = smt_.forall({txn, txn, read}, [&](auto v) {
    return implies(theory_.has_reads() && premise(v[1], v[2]) && constructed_.order(v[0], v[1]),
                   conclusion(v[0], v[2]));
  });
  return downwards && smt_.forall({txn, read, read}, [&](auto v) {
    return implies(theory_.has_reads() && premise(v[0], v[1]) && theory_.same(v[1], v[2]),
                   conclusion(v[0], v[2]));
  });
}

// S stands for the least snapshots that contain T0 and what plain reads show, are beginnings of the
// order, are shared by a statement, and obey the Horn axioms of B. So they do these things.
void ProofSearch::define_least_snap() {
  const SmtFunction s =
      smt_.new_predicate("least_snap", {theory_.sort(Sort::Txn), theory_.sort(Sort::Read)});
  constructed_.snap_name = "least_snap";
  constructed_.snap = [s](SmtTerm t, SmtTerm r) { return s(t, r); };
  theory_.begin("the least snapshots: what is read, what is before it, and what axioms conclude");
  theory_.add(contains_reads(constructed_.snap));
  theory_.add(is_closed(constructed_.snap, constructed_.snap));
  for (const Axiom& axiom : b_.axioms) {
    if (is_horn(axiom))
      theory_.add(obeys(axiom, translator_, theory_, constructed_, constructed_.snap));
  }
}

// As for the least visibility: if P contains what is read, and what is concluded from S ∩ P is in
// P, then S ∩ P contains and obeys what S does, so S ⊆ P.
ProofSearch::Lemma ProofSearch::least_snap_lemma(const SnapBound& upper) {
  Visibility both = constructed_;
  both.snap_name = "least_snap & " + upper.name;
  both.snap = [this, upper](SmtTerm t, SmtTerm r) {
    return constructed_.snap(t, r) && upper.holds(t, r);
  };
  SmtTerm inductive = contains_reads(upper.holds) && is_closed(both.snap, upper.holds);
  for (const Axiom& axiom : b_.axioms) {
    if (is_horn(axiom))
      inductive = inductive && obeys(axiom, translator_, theory_, both, upper.holds);
  }
  const SmtTerm claim =
      smt_.forall({theory_.sort(Sort::Txn), theory_.sort(Sort::Read)}, [&](auto v) {
        return implies(theory_.has_reads() && constructed_.snap(v[0], v[1]),
                       upper.holds(v[0], v[1]));
      });
  return {fmt::format("the least snapshots are in {}, by induction", upper.name), !inductive,
          claim};
}

// Relations in which the least snapshots may be included; see upper_bounds().
std::vector<ProofSearch::SnapBound> ProofSearch::snap_bounds(
    const std::vector<Visibility>& of_txns) {
  std::vector<SnapBound> bounds;
  for (const Visibility& each : of_txns) {
    bounds.push_back({each.name + " of the transaction", [this, each](SmtTerm t, SmtTerm r) {
                        return each.relation(t, theory_.txn_of(r));
                      }});
  }
  if (a_.framework == Framework::CoSnap) bounds.push_back({"snap", assumed_.snap});
  // t, and all before it, come before the transaction of r and may be shown to those reads that
  // `sees` relates to r.
  using ReadRelation = TxnRelation;
  const TxnRelation before = constructed_.order;
  const auto beginning = [this, before](const ReadRelation& sees) -> SnapRelation {
    const auto showable = [this, before, sees](SmtTerm t, SmtTerm r) {
      return before(t, theory_.txn_of(r)) && smt_.forall({theory_.sort(Sort::Read)}, [&](auto s) {
        return implies(
            theory_.is_plain(s[0]) && sees(r, s[0]) && theory_.writes(t, theory_.key_of(s[0])),
            equals(t, theory_.source_of(s[0])) || before(t, theory_.source_of(s[0])));
      });
    };
    return [this, showable, before](SmtTerm t, SmtTerm r) {
      return showable(t, r) && theory_.forall_txns(1, [&](auto u) {
        return implies(before(u[0], t), showable(u[0], r));
      });
    };
  };
  bounds.push_back({"what the statement may see",
                    beginning([this](SmtTerm r, SmtTerm s) { return theory_.same(r, s); })});
  bounds.push_back(
      {"what the statement and later ones may see",
       beginning([this](SmtTerm r, SmtTerm s) { return theory_.same(r, s) || theory_.po(r, s); })});
  return bounds;
}

}  // namespace isoscope
