#pragma once
// A transactional program in the .txn language of docs/programs.md: parsed, checked, compiled.
//
//     init acct = 100
//     txn withdraw(amount) { b := read(acct); if (b < amount) { abort }; write(acct, b - amount) }
//     session alice { withdraw(60) }
//     session bob { withdraw(60) }
//     assert !(committed(alice[1]) && committed(bob[1]))
//
// Claims about the finished run are code too: their inputs are locals and outcomes of calls (of the
// last attempt, where a call is retried) and final values of keys, which are put into the first
// registers. One that overflows is a fault.
#include <memory>
#include <optional>
#include <string_view>

#include "program/code.h"
#include "program/executable.h"
#include "support/result.h"

namespace isoscope {

// What an `assert` about the finished run looks at.
struct FinalInput {
  CallId call = {};                         // its first attempt
  std::optional<std::uint32_t> local = {};  // its number; nothing asks whether the call committed
  std::optional<std::uint32_t> final_key = {};  // if set, of final_keys(): that counts instead
  friend bool operator==(const FinalInput&, const FinalInput&) = default;
};
struct FinalAssertion {
  AssertionId number = {};
  std::vector<FinalInput> inputs;  // input i is in register i
  Code code;                       // its single Assert says what must hold
};

class Program final : public Executable {
 public:
  const Outline& outline() const override { return outline_; }
  KeyTable& keys() const override { return *keys_; }
  std::unique_ptr<Executor> executor() const override;
  std::span<const std::string> local_names(CallId call) const override;
  std::span<const FamilyId> may_read(CallId call) const override {
    return touched_[code_of_[call]].reads;
  }
  std::span<const FamilyId> may_write(CallId call) const override {
    return touched_[code_of_[call]].writes;
  }
  Footprint may_read_keys(CallId call) const override {
    const Touched& touched = touched_[code_of_[call]];
    return {touched.read_keys, touched.read_families};
  }
  Footprint may_write_keys(CallId call) const override {
    const Touched& touched = touched_[code_of_[call]];
    return {touched.written_keys, touched.written_families};
  }
  FailedAssertion assertion(AssertionId number) const override { return assertions_[number]; }
  bool has_assertions() const override { return !assertions_.empty(); }
  std::span<const ProgramKey> final_keys() const override { return final_keys_; }
  std::optional<AssertionId> failed_at_end(std::span<const Ending> endings,
                                           std::span<const std::int64_t> finals) const override;
  std::optional<Error> fault_at_end(std::span<const Ending> endings,
                                    std::span<const std::int64_t> finals) const override;

  const Code& code(CallId call) const { return codes_[code_of_[call]]; }
  // Calls with the same code have the same number.
  std::uint32_t code_number(CallId call) const { return code_of_[call]; }
  IdRange<AssertionId> assertions() const { return assertions_.ids(); }
  // The access or stmt { … } at this place as it stands in the text, on one line.
  std::string statement_text(Place place) const;
  std::span<const FinalAssertion> final_assertions() const { return final_assertions_; }
  // By call and local: does a claim about the finished run look at it?
  ById<CallId, std::vector<bool>> locals_in_claims() const;
  // Of the code that needs most.
  std::size_t num_registers() const { return num_registers_; }

 private:
  friend class ProgramBuilder;
  Program() = default;

  // What a code may read and write, whatever it reads.
  struct Touched {
    std::vector<FamilyId> reads;
    std::vector<FamilyId> writes;
    // The same, by keys where the text names them; else by the families of which it computes keys.
    std::vector<ProgramKey> read_keys;
    std::vector<ProgramKey> written_keys;
    std::vector<FamilyId> read_families;
    std::vector<FamilyId> written_families;
  };

  std::string text_;
  Outline outline_;
  std::unique_ptr<KeyTable> keys_;
  std::vector<Code> codes_;  // calls with the same definition and arguments share one
  ById<CallId, std::uint32_t> code_of_;
  std::size_t num_registers_ = 0;
  std::vector<Touched> touched_;  // by code
  ById<AssertionId, FailedAssertion> assertions_;
  std::vector<FinalAssertion> final_assertions_;
  std::vector<ProgramKey> final_keys_;

  Stop evaluate(const FinalAssertion& claim, std::span<const Ending> endings,
                std::span<const std::int64_t> finals, std::vector<std::int64_t>& registers) const;
};

// Parses and compiles. Errors have line and column.
Result<Program> parse_program(std::string_view text);

}  // namespace isoscope
