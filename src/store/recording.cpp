#include "store/recording.h"

#include <fmt/format.h>

#include <algorithm>

#include "history/builder.h"
#include "program/server_steps.h"
#include "support/assert.h"

namespace isoscope::store {

namespace {

struct Naming {
  ById<ProgramSession, std::string> sessions;
  ById<CallId, std::string> txns;
};

// One step for each access, or with locks and borders of statements if these are the accesses of
// such a call: an exploration may have passed over reads on which nothing depends.
std::vector<Step> steps_of(const Executable& program, CallId call, const RecordedTxn& txn) {
  std::vector<std::int64_t> answers;
  std::vector<Step> plain;
  for (const Access& access : txn.accesses) {
    if (access.is_read) answers.push_back(access.value);
    plain.push_back({.kind = access.is_read ? StepKind::Read : StepKind::Write, .key = access.key});
  }
  // Only .txn programs have locks that a formal level passes over.
  const auto* text = dynamic_cast<const Program*>(&program);
  if (text == nullptr) return plain;
  std::vector<Step> steps = server_steps(*text, call, answers);
  auto next = plain.begin();
  for (const Step& step : steps) {
    if (step.kind != StepKind::Read && step.kind != StepKind::Write) continue;
    if (next == plain.end() || next->kind != step.kind || next->key != step.key) return plain;
    ++next;
  }
  return next == plain.end() ? steps : plain;
}

// `with_all`: calls without effect, locks and statements, too.
History build(const Executable& program, const Recording& recording, const Naming& names,
              bool with_all) {
  HistoryBuilder builder(InitialValues::None);
  ById<ProgramSession, SessionId> sessions;
  for (const std::string& name : names.sessions) sessions.push_back(builder.session(name));
  for (const CallId call : recording.order) {
    const Call& c = program.outline().calls[call];
    const RecordedTxn& txn = recording.txns[call];
    if (!with_all && (!txn.is_committed || txn.accesses.empty())) continue;
    const TxnId t = builder.begin(
        sessions[c.session], txn.is_committed ? TxnStatus::Committed : TxnStatus::Aborted, c.place);
    builder.set_name(t, names.txns[call]);
    if (!c.level.empty()) builder.set_level(t, c.level);
    const auto add = [&](const Access& access) {
      const KeyId x = builder.key(program.keys().name(access.key));
      builder.set_initial(x, Value::of(program.keys().initial(access.key)), {});
      if (access.is_read) {
        builder.read_from(t, x, access.writer == kInitialWriter ? "T0" : names.txns[access.writer],
                          c.place);
      } else {
        builder.write(t, x, Value::of(access.value), c.place);
      }
    };
    if (!with_all) {
      for (const Access& access : txn.accesses) add(access);
      continue;
    }
    auto access = txn.accesses.begin();
    for (const Step& step : steps_of(program, call, txn)) {
      switch (step.kind) {
        case StepKind::Read:
        case StepKind::Write: add(*access++); break;
        case StepKind::Lock:
        case StepKind::LockShared:
          builder.lock(t, builder.text(program.keys().name(step.key)),
                       step.kind == StepKind::Lock ? LockMode::Exclusive : LockMode::Share,
                       c.place);
          break;
        case StepKind::BeginStatement: builder.begin_statement(t); break;
        case StepKind::EndStatement: builder.end_statement(t); break;
        case StepKind::Commit:
        case StepKind::Abort:
        case StepKind::Fault: break;
      }
    }
  }
  Result<History> history = std::move(builder).build();
  ISO_ASSERT(history.ok());  // writers exist, wrote the keys, and committed
  return *std::move(history);
}

}  // namespace

bool Recording::has_failed_assertion() const {
  return failed_at_end || std::any_of(txns.begin(), txns.end(), [](const RecordedTxn& txn) {
           return txn.failed_assertion.has_value();
         });
}

std::vector<AssertionId> Recording::failed_assertions() const {
  std::vector<AssertionId> failed;
  for (const CallId call : order) {
    if (txns[call].failed_assertion) failed.push_back(*txns[call].failed_assertion);
  }
  if (failed_at_end) failed.push_back(*failed_at_end);
  return failed;
}

std::string name_of(const Executable& program, CallId call) {
  const Call& c = program.outline().calls[call];
  const std::string& session = program.outline().sessions[c.session].name;
  if (c.part > 1) return fmt::format("{}[{}/{}]", session, c.number, c.part);
  return c.attempt == 1 ? fmt::format("{}[{}]", session, c.number)
                        : fmt::format("{}[{}.{}]", session, c.number, c.attempt);
}

std::string name_of_writer(const Executable& program, CallId writer) {
  return writer == kInitialWriter ? "T0" : name_of(program, writer);
}

History to_history(const Executable& program, const Recording& recording) {
  Naming names;
  for (const Session& session : program.outline().sessions) names.sessions.push_back(session.name);
  for (const CallId call : recording.txns.ids()) names.txns.push_back(name_of(program, call));
  return build(program, recording, names, true);
}

std::string plain_name_of(const Executable& program, CallId call) {
  const Call& c = program.outline().calls[call];
  const std::string& session = program.outline().sessions[c.session].name;
  if (c.part > 1) return fmt::format("{}_{}p{}", session, c.number, c.part);
  return c.attempt == 1 ? fmt::format("{}_{}", session, c.number)
                        : fmt::format("{}_{}r{}", session, c.number, c.attempt);
}

std::string numbered_name_of(const Executable& program, CallId call) {
  const ProgramSession session = program.outline().calls[call].session;
  const CallId first = program.outline().sessions[session].first;
  return fmt::format("t{}_{}", session.index + 1, call.index - first.index + 1);
}

History to_plain_history(const Executable& program, const Recording& recording) {
  Naming names;
  for (const Session& session : program.outline().sessions) names.sessions.push_back(session.name);
  for (const CallId call : recording.txns.ids()) names.txns.push_back(plain_name_of(program, call));
  return build(program, recording, names, true);
}

History to_numbered_history(const Executable& program, const Recording& recording) {
  Naming names;
  for (std::size_t s = 1; s <= program.outline().sessions.size(); ++s)
    names.sessions.push_back(fmt::format("s{}", s));
  for (const CallId call : program.outline().calls.ids())
    names.txns.push_back(numbered_name_of(program, call));
  return build(program, recording, names, false);
}

}  // namespace isoscope::store
