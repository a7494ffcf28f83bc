#include "program/server_steps.h"

#include <algorithm>
#include <map>

#include "program/machine.h"

namespace isoscope {

std::vector<Step> server_steps(const Program& program, CallId call,
                               std::span<const std::int64_t> answers) {
  const auto is_plain = [](const Instruction& i) {
    return i.op != Op::LockKey && i.op != Op::LockIndexed && i.op != Op::ShareKey &&
           i.op != Op::ShareIndexed && i.op != Op::BeginStatement;
  };
  std::vector<Step> steps;
  if (std::ranges::all_of(program.code(call).instructions, is_plain)) return steps;
  Machine machine(program);
  machine.start(call);
  std::map<ProgramKey, std::int64_t> own;
  for (;;) {
    const Step step = machine.run_step();
    switch (step.kind) {
      case StepKind::Read:
        if (const auto written = own.find(step.key); written != own.end()) {
          machine.answer(written->second);
          continue;
        }
        if (answers.empty()) return steps;  // it went no further
        machine.answer(answers.front());
        answers = answers.subspan(1);
        break;
      case StepKind::Write: own[step.key] = step.value; break;
      case StepKind::Lock:
      case StepKind::LockShared:
      case StepKind::BeginStatement:
      case StepKind::EndStatement: break;
      case StepKind::Commit:
      case StepKind::Abort:
      case StepKind::Fault: return steps;
    }
    steps.push_back(step);
  }
}

}  // namespace isoscope
