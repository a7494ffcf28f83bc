#pragma once
// Answers the reads of a call as its script wants, and notes where that is not possible.
#include <string>
#include <string_view>
#include <vector>

#include "store/policies.h"
#include "store/replay.h"
#include "store/store.h"

namespace isoscope::store {

class DirectedPolicy final : public ReadPolicy {
 public:
  // Adds to `divergences`. All arguments outlive the policy.
  DirectedPolicy(const Store& store, const ScriptedCall& scripted,
                 std::vector<Divergence>& divergences)
      : store_(store),
        scripted_(scripted),
        divergences_(divergences),
        rng_(scripted.seed.value_or(0)),
        random_(rng_) {}
  DirectedPolicy(const DirectedPolicy&) = delete;
  DirectedPolicy& operator=(const DirectedPolicy&) = delete;

  std::optional<std::size_t> choose(ProgramKey x, std::span<const Version> versions,
                                    Oracle* oracle) override;
  std::uint32_t num_reads() const { return num_reads_; }

 private:
  // The version that the script wants, or what is wrong with it.
  std::optional<std::size_t> find(const WantedRead& wanted, ProgramKey x,
                                  std::span<const Version> versions, Oracle* oracle,
                                  DivergenceKind& kind) const;

  const Store& store_;
  const ScriptedCall& scripted_;
  std::vector<Divergence>& divergences_;
  LatestPolicy latest_;
  Rng rng_;
  RandomPolicy random_;
  std::uint32_t num_reads_ = 0;
};

// Without blanks: stock[1, 2] and stock[1,2] are the same key.
std::string plain_key(std::string_view key);

// "x from alice[1]".
std::string wanted_text(const Executable& program, const WantedRead& wanted);

// Runs the call so that it aborts, if a few attempts find a way; else it is refused.
Result<TxnEnd> execute_to_abort(Store& store, CallId call);

}  // namespace isoscope::store
