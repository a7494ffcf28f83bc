#pragma once
// The interpreter of a program's code: stops at every database access, and can be put back to
// where it stopped.
//
// Its state is the locals, the instruction, the number of loop rounds so far and the first failed
// assertion: what a transaction is, between two accesses. After restore() to a read, answer() has
// to come before run(): how the key was computed is not kept.
//
// Cost  About two nanoseconds an instruction and thirty an access; state() copies nothing.
#include "program/interpreter.h"
#include "program/program.h"

namespace isoscope {

class Machine final : public Executor {
 public:
  explicit Machine(const Program& program);

  void start(CallId call) override;
  Stop run() override;
  // The same for a server: stops at locks and at the borders of statements, too.
  Step run_step();
  void answer(std::int64_t value) override;
  const std::int64_t* registers() const { return registers_.data(); }
  Error fault() const override;
  void hold_keys() override { finder_.hold(); }
  std::size_t num_held_keys() const override { return finder_.num_held(); }
  void drop_keys_but(std::span<const ProgramKey> used) override { finder_.drop_but(used); }
  std::span<const std::int64_t> state() const override;
  void restore(CallId call, std::span<const std::int64_t> state) override;
  std::size_t num_locals() const override;
  std::optional<AssertionId> failed_assertion() const override;

 private:
  void load(CallId call);

  const Program& program_;
  const Code* code_ = nullptr;
  std::vector<std::int64_t> registers_;  // as many as the largest code needs
  KeyFinder finder_;
};

}  // namespace isoscope
