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
  WeakOracle(const Executable& program, std::vector<WeakLevel> levels);

  void reset() override;
  void begin(std::uint32_t call) override;
  bool allows(ProgramKey x, std::uint32_t w) override;
  void take(ProgramKey x, std::uint32_t w) override;
  bool allows_commit(std::span<const ProgramKey>) override { return true; }
  void end(bool is_committed, std::span<const ProgramKey> written) override;
  void abandon() override;
  std::span<const std::uint32_t> explanation() override { return {}; }
  // As they ran, but for what is forced.
  std::span<const std::uint32_t> commit_order() override;

 private:
  struct Read {
    ProgramKey key;
    std::uint32_t writer = kInitialWriter;
  };
  // Every member of `from` commits before `to`.
  struct Edges {
    Set from;
    std::uint32_t to = 0;
    Set past = {};  // `from` and whoever is known to come before them
  };
  struct Pending {
    std::uint32_t call = 0;
    Reader<Set, Read> reader;  // its reads are those below
    std::vector<Read> reads;
  };

  bool collect(ProgramKey x, std::uint32_t w);
  void force(Set from, std::uint32_t to);
  bool is_acyclic();
  Set& writers(ProgramKey x);

  const Executable& program_;
  const std::vector<WeakLevel> levels_;   // by call
  std::vector<Set> before_;               // by call: who is known to commit before it
  std::vector<Set> past_;                 // by call: (so ∪ wr)+
  std::vector<Set> session_;              // by session: its calls so far
  std::vector<std::uint32_t> last_call_;  // by session
  std::vector<Set> writers_;              // by key: committed calls that write it
  Pending pending_;
  std::optional<std::vector<Set>> saved_;  // before_ as the pending transaction found it
  std::vector<Edges> edges_;               // what the read in question forces
  std::vector<std::uint32_t> ended_;       // as they ran
  std::vector<std::uint32_t> commit_order_;
};

}  // namespace isoscope::store
