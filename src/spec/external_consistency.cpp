#include "spec/external_consistency.h"

#include "spec/levels.h"
#include "support/assert.h"

namespace isoscope {

const Level& external_consistency(Framework framework) {
  ISO_ASSERT(framework != Framework::Co);
  static const LevelSet levels = [] {
    LevelSet set;
    const auto added = set.add(
        "level ext over vis, ar\n"
        "axiom EXT: forall x: key, t1, t2, t3: txn.\n"
        "    wr[x](t1, t3) and writes(t2, x) and t1 != t2 and vis(t2, t3)  implies  ar(t2, t1)\n"
        "level ext over co, snap\n"
        "axiom Snapshot: forall x: key, t1, t2: txn, r: read.\n"
        "    wr[x](t1, r) and not current(r) and writes(t2, x) and t1 != t2 and snap(t2, r)\n"
        "    implies  co(t2, t1)\n"
        "axiom CurrentRead: forall x: key, t1, t2, t3: txn, r: read.\n"
        "    wr[x](t1, r) and current(r) and of(r, t3) and writes(t2, x) and t1 != t2\n"
        "    and co(t2, t3)  implies  co(t2, t1)\n",
        "EXT");
    ISO_ASSERT(added.ok());
    return set;
  }();
  return *levels.lookup("ext", framework);
}

}  // namespace isoscope
