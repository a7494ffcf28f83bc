#include "predict/validate.h"

#include <fmt/format.h>

#include "history/restrict.h"
#include "store/level_plan.h"
#include "support/assert.h"
#include "support/budget.h"

namespace isoscope::predict {
namespace {

// Whom an attempt that aborts reads from proves nothing.
History committed_part(const History& h) {
  std::vector<TxnId> committed;
  for (const TxnId t : h.txns()) {
    if (h.status(t) == TxnStatus::Committed) committed.push_back(t);
  }
  return restrict_to(h, committed);
}

}  // namespace

Result<Validation> validate(const Executable& program, const Prediction& prediction,
                            const Level& level, const LevelSet& levels, Boundary boundary,
                            Budget& budget) {
  auto plan = store::plan_levels(program, level, levels);
  if (!plan) return plan.error();
  auto script = store::script_of(program, prediction.history, budget);
  if (!script) return script.error();
  if (boundary != Boundary::Relaxed) {
    // Up to its stop a boundary transaction is directed; what it reads then is its own affair.
    // It is the last call of its session in the script.
    for (std::size_t s = 0; s < prediction.ends.size(); ++s) {
      if (prediction.ends[s].boundary.is_none()) continue;
      const std::string session = prediction.history.name(prediction.ends[s].session);
      store::ScriptedCall* last = nullptr;
      for (store::ScriptedCall& scripted : script->calls) {
        const Call& call = program.outline().calls[scripted.call];
        const bool is_same = program.outline().sessions[call.session].name == session ||
                             fmt::format("s{}", call.session + 1) == session;
        if (is_same && (last == nullptr || last->call < scripted.call)) last = &scripted;
      }
      if (last != nullptr) last->direction = store::Direction::Prefix;
    }
  }
  auto replayed = store::replay(program, *script, &*plan, budget);
  if (!replayed) return replayed.error();
  History history = committed_part(store::to_history(program, replayed->recording));
  const auto ser = LevelSet::built_in().find("ser");
  ISO_ASSERT(ser.ok());
  CheckAnswer serial = check(history, **ser, budget);
  Validation validation{.is_validated = serial.verdict.outcome == Outcome::Violated,
                        .divergences = std::move(replayed->divergences),
                        .history = std::move(history),
                        .serial = std::move(serial),
                        .reason = {},
                        .has_failed_assertion = replayed->recording.has_failed_assertion()};
  if (replayed->is_expired || validation.serial.verdict.outcome == Outcome::Unknown) {
    validation.reason = limit_reached();
  } else if (!validation.is_validated) {
    validation.reason = validation.divergences.empty()
                            ? "what happened is serializable: the boundary transactions, run to "
                              "their end, undo the conflict"
                            : "the run diverges, and what happened instead is serializable";
  }
  return validation;
}

}  // namespace isoscope::predict
