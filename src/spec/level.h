#pragma once
// A level: a named set of axioms over a framework's witness.
//
//     over co        a strict total commit order co that contains so and wr
//     over vis, ar   ar a strict total order, vis ⊆ ar, so ⊆ vis, T0 first, and each external read
//                    of x by t reads from the ar-greatest writer of x in vis⁻¹(t)
//     over co, snap  co as above, and for each statement a snapshot: a beginning of co that ends
//                    before the statement's own transaction. A plain read shows the co-last writer
//                    in its snapshot, a current one the co-last writer before its transaction
//
// Levels come from text: the built-in ones from levels/*.level, compiled into the program, the
// users' from --spec files. Open spec/levels.h to find one by name.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "history/execution.h"
#include "spec/ast.h"

namespace isoscope {

struct Axiom {
  std::string name;
  std::string level;  // that declares it; an extending level lists inherited axioms too
  FormulaPtr formula;
  int slots = 0;  // how many variables the formula binds
  // The variable for the transaction whose view the axiom constrains, if the axiom has the shape
  // that can be assigned to single transactions (docs/levels.md): over co the reader t3 of
  // `… wr[x](t1, t3) … implies co(t2, t1)`, or the read of it; over vis, ar the second place of
  // the concluded vis, and of two conflicting writers the ar-later; over co, snap the read of the
  // concluded snap.
  std::optional<Variable> subject;
  std::string text;       // as written, for people
  std::string canonical;  // what it says, whatever its variables are called (spec/canonical.h)
  Place place;
};

struct Level {
  std::string name;
  Framework framework = Framework::Co;
  std::vector<Axiom> axioms;  // inherited ones first
  std::string summary;        // the comment beside its declaration
  std::string text;           // the whole declaration, as written
  bool built_in = false;
  bool uses_real_time = false;     // does an axiom say rt?
  bool uses_session_order = true;  // `ec` has no so: sessions impose nothing
  bool is_wr_free = false;         // over co, which need not contain wr

  // cc@co: the name that is unique across frameworks.
  std::string full_name() const { return name + "@" + std::string(name_of(framework)); }
};

// Who runs at which level: `base`, or its own. Engines get this instead of a Level; without own
// levels the two are the same thing. Who it is about: the transactions of a history, the calls of a
// program, the functions of an application.
template <class Who>
struct AssignmentOf {
  const Level* base = nullptr;
  std::vector<const Level*> own = {};  // by id; null where base applies, also beyond the end

  bool is_mixed() const {
    return std::ranges::any_of(
        own, [&](const Level* level) { return level != nullptr && level != base; });
  }
  const Level& of(Who who) const {
    return who.index >= own.size() || own[who.index] == nullptr ? *base : *own[who.index];
  }
};
using Assignment = AssignmentOf<TxnId>;

}  // namespace isoscope
