#pragma once
// The oracle of true, rc, ra, cc and their mixtures: so, wr and the commit order that reads force
// have no cycle.
// What a read forces, weak_rules.h says.
//
// Paper  [BiswasEnea-OOPSLA'19], section 2.
// Cost   A question: O(k) words for k forced edges, and k² where several edges meet. A read that
//        forces something: O(n) words an edge, n transactions.
#include <optional>
#include <vector>

#include "store/oracle.h"
#include "store/weak_rules.h"

namespace isoscope::store {

template <class Set>
class WeakOracle final : public Oracle {
 public:
  WeakOracle(const Executable& program, ById<CallId, WeakLevel> levels);

  void reset() override;
  void begin(CallId call) override;
  bool allows(ProgramKey x, CallId w) override;
  void take(ProgramKey x, CallId w) override;
  bool allows_commit(std::span<const ProgramKey>) override { return true; }
  void end(bool is_committed, std::span<const ProgramKey> written) override;
  void abandon() override;
  std::span<const CallId> explanation() override { return {}; }
  // As they ran, but for what is forced.
  std::span<const CallId> commit_order() override;

 private:
  struct Read {
    ProgramKey key;
    CallId writer = kInitialWriter;
  };
  // Every member of `from` commits before `to`.
  struct Edges {
    Set from;
    CallId to = {};
    Set past = {};  // `from` and whoever is known to come before them
  };
  struct Pending {
    CallId call = {};
    Reader<Set, Read> reader;  // its reads are those below
    std::vector<Read> reads;
  };

  bool collect(ProgramKey x, CallId w);
  void force(Set from, CallId to);
  bool is_acyclic();
  Set& writers(ProgramKey x);

  const Executable& program_;
  const ById<CallId, WeakLevel> levels_;
  ById<CallId, Set> before_;           // who is known to commit before it
  ById<CallId, Set> past_;             // (so ∪ wr)+
  ById<ProgramSession, Set> session_;  // its calls so far
  ById<ProgramSession, CallId> last_call_;
  ById<ProgramKey, Set> writers_;  // committed calls that write it
  Pending pending_;
  std::optional<ById<CallId, Set>> saved_;  // before_ as the pending transaction found it
  std::vector<Edges> edges_;                // what the read in question forces
  std::vector<CallId> ended_;               // as they ran
  std::vector<CallId> commit_order_;
};

}  // namespace isoscope::store
