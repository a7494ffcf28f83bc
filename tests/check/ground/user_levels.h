#pragma once
// Levels that users might write, chosen so that every operator of the language occurs, in premises
// and in conclusions, above and below negations.
#include <cstdio>
#include <string_view>

#include "spec/levels.h"
#include "support/assert.h"

namespace isoscope {

inline constexpr std::string_view kUserLevels = R"(
level ser-cycle over co                     # dependencies without a cycle
axiom Serial: acyclic(so | wr | ww | rw)

level si-cycle over co                      # without two anti-dependencies in a row
let dep = so | wr | ww
axiom Snapshot: acyclic(dep | dep ; rw)

level psi-cycle over co                     # with at most one anti-dependency
let dep = (so | wr | ww)+
axiom Parallel: irreflexive(dep) and irreflexive(dep ; rw)

level no-cycle-anywhere over co             # the same in other words: closure in both roles
axiom Closure: forall a, b: txn. not ((so | wr | ww | rw)+(a, b) and (so | ww | wr | rw)+(b, a))

level needs-a-cycle over co                 # negated acyclicity
axiom SomeCycle: not acyclic(so | wr | ww | rw)

level two-way over co                       # a closure that is demanded, and known to be empty
axiom Both: exists t, u: txn. t != u and ((co & (ww | rw^-1)) \ wr)+(t, u) and (ww | co & rw)+(u, t)

level cycle-or-serial over co
axiom Either: not acyclic(wr | rw) or forall x: key. acyclic(so | ww[x] | rw[x] | wr[x])

level cycle-iff-blind over co
axiom Iff: acyclic(ww | rw) iff (exists t: txn, x: key. writes(t, x) and not reads(t, x) and
    exists u: txn. wr[x](t, u))

level all-writers over co
axiom Total: total([writers] ; co ; [writers] | (co \ ([writers] ; co ; [writers])))

level abort-last over co                  # difference, identity sets, inverse
axiom Last: ([aborted] ; co) \ (co ; [aborted]) subset [aborted] ; (so | wr^-1)
axiom First: forall t: txn, u: txn. [readers](t, t) and not [writers](t, t) and co(t, u)
    implies (exists x: key. [writers(x)](u, u)) or [aborted](u, u) or so(t, u)

level star-play over co
let early = co* ; [writers] ; co*
axiom Star: forall x: key, t: txn. reads(t, x) implies exists u: txn. early(u, t) and writes(u, x) and wr[x](u, t)
axiom Inverse: forall t, u: txn. co^-1(t, u) iff co(u, t)
axiom Nested: forall t: txn. (exists u: txn. wr(u, t) and (forall v: txn. rw(t, v) implies co(u, v)))
    or not (exists x: key. reads(t, x))

level nested-quantifiers over co
axiom Nested: forall x: key. exists last: txn. forall t: txn.
    writes(t, x) implies t = last or (co(t, last) and (wr[x](t, last) or not so(t, last)))

level in-order over co
axiom Monotone: forall x: key, t1, t2: txn, r, s: read.
    po(s, r) and wr[x](t1, s) and wr[x](t2, r) implies t1 = t2 or co(t1, t2)
axiom Sources: forall r: read. exists t: txn. wr(t, r) and not (exists s: read. po(s, r) and wr(t, s) and
    (po ; po)(s, r))
axiom ByReads: (wr ; po) & wr subset co ; wr  or not empty(po ; po^-1 \ po*)

level two-keys over co
axiom Keys: forall x, y: key, t, u: txn. x != y and ww[x](t, u) implies not ww[y](u, t)
axiom Mixed: forall x, y: key, t, u, v: txn. (wr[x] ; ww[y])(t, u) and rw[y](u, v) implies co(t, v) or (ww[x] \ ww[y])(t, v)

level unkeyed over co                       # a premise that denies a relation of a key
axiom Other: forall x: key, t, u: txn. co(t, u) and writes(t, x) and writes(u, x) and not wr[x](t, u)
    implies exists v: txn. wr(t, v) or rw(v, t) or so(t, u)

level late-difference over co               # an open relation taken away from an open one
axiom Few: acyclic((ww \ rw) | (rw & (co ; co))^-1)
axiom Path: forall t, u: txn. ((co \ ww) ; (co \ rw))(t, u) implies (so | wr | co \ (ww ; rw^-1))(t, u)

level nothing over co
axiom Nothing: forall t: txn. co(t, t)

level parts-transitive over co
axiom Transitive: transitive(so | ww) and (total(ww | so | wr) implies transitive(rw | co))

level prefix over vis, ar
axiom Prefix: ar ; vis subset vis

level causal over vis, ar
axiom Transitive: transitive(vis)
axiom Parents: vis \ so subset (vis & ar) ; vis*

level serial over vis, ar
axiom Total: total(vis)

level no-fork over vis, ar                  # two writers have a common past that writes, or meet
axiom Join: forall t, u: txn. [writers](t, t) and [writers](u, u) implies
    t = u or vis(t, u) or vis(u, t) or
    (exists v: txn. (vis(t, v) and vis(u, v)) or (vis^-1(t, v) and vis^-1(u, v) and [writers](v, v)
        and v != u and (ww | rw)(v, t)))

level seen-cycle over vis, ar
axiom Cycle: acyclic(vis | rw) or not acyclic(vis | (ar \ vis)^-1 & ww^-1)
axiom Latest: forall x: key, t: txn. reads(t, x) implies exists u: txn. writes(u, x) and vis(u, t) and
    (forall v: txn. writes(v, x) and vis(v, t) implies (ar*)(v, u))

level seen-iff over vis, ar
axiom Iff: forall t, u: txn. vis(t, u) iff (so | wr)+(t, u) or (ww & ar)(t, u)

level blind over vis, ar without so
axiom Little: vis subset wr | so
axiom Some: not empty(vis) or empty(wr)
)";

// All built-in levels and these.
inline const LevelSet& levels_with_users() {
  static const LevelSet levels = [] {
    LevelSet set = LevelSet::built_in();
    const auto added = set.add(kUserLevels, "user.level");
    if (!added) std::fprintf(stderr, "%s\n", render(added.error()).c_str());
    ISO_ASSERT(added.ok());
    return set;
  }();
  return levels;
}

}  // namespace isoscope
