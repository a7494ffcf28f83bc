#pragma once
// How reads choose among the versions that the level allows.
#include <cstdint>
#include <vector>

#include "store/store.h"
#include "support/rng.h"

namespace isoscope::store {

// The latest legal version, in the order of commits.
class LatestPolicy final : public ReadPolicy {
 public:
  std::optional<std::size_t> choose(ProgramKey x, std::span<const Version> versions,
                                    Oracle* oracle) override;
};

// Any legal version, each as likely as the others.
class RandomPolicy final : public ReadPolicy {
 public:
  explicit RandomPolicy(Rng& rng) : rng_(rng) {}
  std::optional<std::size_t> choose(ProgramKey x, std::span<const Version> versions,
                                    Oracle* oracle) override;

 private:
  Rng& rng_;
  std::vector<std::size_t> untried_;
};

// The latest legal version whose writer the call's session has heard of, through so and wr, before
// the call; else the latest legal one. What is read so puts no further transaction into the past of
// those that follow.
class FamiliarPolicy final : public ReadPolicy {
 public:
  FamiliarPolicy(const Executable& program, const Recording& recording, CallId call);
  std::optional<std::size_t> choose(ProgramKey x, std::span<const Version> versions,
                                    Oracle* oracle) override;

 private:
  ById<CallId, bool> is_familiar_;
  LatestPolicy latest_;
};

// The latest version in an order that explains the history so far, without asking: at the built-in
// levels the transaction can then come last in that order, and commit.
class ExplainedPolicy final : public ReadPolicy {
 public:
  // `order` are the committed calls.
  ExplainedPolicy(std::span<const CallId> order, std::size_t num_calls);
  std::optional<std::size_t> choose(ProgramKey x, std::span<const Version> versions,
                                    Oracle* oracle) override;

 private:
  ById<CallId, std::uint32_t> rank_;  // from 1
};

}  // namespace isoscope::store
