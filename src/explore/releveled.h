#pragma once
// A program with other levels, and how to get at the program behind it.
#include "program/program.h"
#include "program/unused_reads.h"

namespace isoscope::explore {

// The same program with levels of our choice for calls that have none of their own; perhaps without
// reads on which nothing depends.
class Releveled final : public Executable {
 public:
  Releveled(const Executable& program, const ById<CallId, std::string>& levels,
            bool reads_in_vain = true)
      : program_(program), outline_(program.outline()), reads_in_vain_(reads_in_vain) {
    for (const CallId call : levels.ids()) {
      if (outline_.calls[call].level.empty()) outline_.calls[call].level = levels[call];
    }
  }

  const Outline& outline() const override { return outline_; }
  KeyTable& keys() const override { return program_.keys(); }
  std::unique_ptr<Executor> executor() const override;
  std::span<const std::string> local_names(CallId call) const override {
    return program_.local_names(call);
  }
  std::span<const FamilyId> may_read(CallId call) const override { return program_.may_read(call); }
  std::span<const FamilyId> may_write(CallId call) const override {
    return program_.may_write(call);
  }
  Footprint may_read_keys(CallId call) const override { return program_.may_read_keys(call); }
  Footprint may_write_keys(CallId call) const override { return program_.may_write_keys(call); }
  FailedAssertion assertion(AssertionId number) const override {
    return program_.assertion(number);
  }
  bool has_assertions() const override { return program_.has_assertions(); }
  std::span<const ProgramKey> final_keys() const override { return program_.final_keys(); }
  std::optional<AssertionId> failed_at_end(std::span<const Ending> endings,
                                           std::span<const std::int64_t> finals) const override {
    return program_.failed_at_end(endings, finals);
  }
  std::optional<Error> fault_at_end(std::span<const Ending> endings,
                                    std::span<const std::int64_t> finals) const override {
    return program_.fault_at_end(endings, finals);
  }

  bool may_have_new_rows() const override { return program_.may_have_new_rows(); }
  bool has_new_rows() const override { return program_.has_new_rows(); }
  void adopt_rows() const override { program_.adopt_rows(); }

  const Executable& program() const { return program_; }
  // Was there a read on which nothing depends?
  bool has_left_out_reads() const { return has_left_out_reads_; }

 private:
  const Executable& program_;
  Outline outline_;
  bool reads_in_vain_;
  mutable std::atomic<bool> has_left_out_reads_{false};
};

// The program, if it is a text, whose claims and accesses are known before it runs; else null.
inline const Program* text_of(const Executable& program) {
  const auto* releveled = dynamic_cast<const Releveled*>(&program);
  if (releveled != nullptr) return text_of(releveled->program());
  return dynamic_cast<const Program*>(&program);
}

inline std::unique_ptr<Executor> Releveled::executor() const {
  const Program* text = text_of(program_);
  if (reads_in_vain_ || text == nullptr) return program_.executor();
  return executor_without_unused_reads(*text, has_left_out_reads_);
}

}  // namespace isoscope::explore
