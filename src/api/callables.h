#pragma once
// Callables as an Executable: what the engines explore when transactions are C++ code.
//
// The state of an executor is the list of values that its transaction has read; to go on, it runs
// the body again with them. What a body does after the same reads is always the same, so segments
// are kept and most steps of an exploration run nothing.
//
// Keys are not known before they are used, so every transaction may read what any other writes.
#include <isoscope/isoscope.h>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "api/body_run.h"
#include "program/executable.h"

namespace isoscope::api {

struct FinalCheck {
  std::string text;
  std::function<bool(const Run&)> holds;
};

class Callables final : public Executable {
 public:
  // `bodies` by call.
  Callables(Outline outline, std::vector<Body> bodies, std::vector<FinalCheck> checks);

  const Outline& outline() const override { return outline_; }
  KeyTable& keys() const override { return keys_; }
  std::unique_ptr<Executor> executor() const override;
  std::span<const std::string> local_names(CallId) const override { return {}; }
  std::span<const FamilyId> may_read(CallId) const override { return families_; }
  std::span<const FamilyId> may_write(CallId) const override { return families_; }
  FailedAssertion assertion(AssertionId number) const override;
  bool has_assertions() const override { return true; }  // bodies do not say before they run
  std::optional<AssertionId> failed_at_end(std::span<const Ending> endings,
                                           std::span<const std::int64_t> finals) const override;

  const Body& body(CallId call) const { return bodies_[call.index]; }
  std::string name(CallId call) const;  // "alice[1]"
  // The number of a check or of a note by its text, a new one for a new text.
  std::uint32_t number_of(std::string_view text) const;
  // A transaction from its locals; without its accesses.
  TxnRun txn_run(CallId call, bool committed, std::span<const std::int64_t> locals) const;
  // The message of the first exception that a check at the end threw; empty if none did.
  std::string failure_at_end() const;

 private:
  Outline outline_;
  std::vector<Body> bodies_;
  std::vector<FinalCheck> checks_;
  std::vector<FamilyId> families_ = {FamilyId{0}};
  mutable KeyTable keys_;
  mutable std::mutex mutex_;
  mutable std::vector<std::string> texts_;  // those of checks_ first
  mutable std::string failure_at_end_;
};

}  // namespace isoscope::api
