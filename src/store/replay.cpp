#include "store/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "program/rounds.h"
#include "store/directed_policy.h"
#include "store/policies.h"
#include "store/store.h"
#include "support/rng.h"

namespace isoscope::store {

namespace {

Result<void> check_script(const Executable& program, const Script& script) {
  const Outline& outline = program.outline();
  ById<ProgramSession, CallId> next;
  for (const Session& session : outline.sessions) next.push_back(session.first);
  for (const ScriptedCall& scripted : script.calls) {
    if (!outline.calls.contains(scripted.call)) {
      return Error{.what = fmt::format("the program has {} transactions, and no number {}",
                                       outline.calls.size(), scripted.call.index)};
    }
    CallId& expected = next[outline.calls[scripted.call].session];
    if (scripted.call != expected) {
      return Error{
          .where = outline.calls[scripted.call].place,
          .what = fmt::format("{} cannot run when {} is next in its session",
                              name_of(program, scripted.call), name_of(program, expected))};
    }
    ++expected;
  }
  return {};
}

// "x, y".
std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Has it written the wanted keys, and, if it is directed to its end, no others?
void compare_writes(const Executable& program, const ScriptedCall& scripted, const RecordedTxn& txn,
                    std::vector<Divergence>& divergences) {
  if (!scripted.writes || scripted.direction == Direction::Free) return;
  std::set<std::string> missing;
  for (const std::string& key : *scripted.writes) missing.insert(plain_key(key));
  std::set<std::string> others;
  for (const Access& access : txn.accesses) {
    if (access.is_read) continue;
    const std::string key = plain_key(program.keys().name(access.key));
    if (std::ranges::none_of(*scripted.writes,
                             [&](const std::string& wanted) { return plain_key(wanted) == key; }))
      others.insert(key);
    missing.erase(key);
  }
  if (scripted.direction == Direction::Prefix) others.clear();
  if (missing.empty() && others.empty()) return;
  divergences.push_back(
      {.kind = DivergenceKind::Writes,
       .call = scripted.call,
       .read = {},
       .expected = missing.empty() ? "no further write" : "a write of " + joined(missing),
       .actual = others.empty() ? "it did not write that" : "it wrote " + joined(others)});
}

// Tells what the end of a call has to do with what was wanted.
void compare_end(const Executable& program, const ScriptedCall& scripted, std::uint32_t num_reads,
                 TxnEnd end, const RecordedTxn& txn, std::vector<Divergence>& divergences) {
  if (scripted.direction != Direction::Free) {
    for (std::uint32_t i = num_reads; i < scripted.reads.size(); ++i) {
      divergences.push_back(
          {.kind = DivergenceKind::ReadsLess,
           .call = scripted.call,
           .read = i + 1,
           .expected = wanted_text(program, scripted.reads[i]),
           .actual = num_reads == 1 ? "the call ended after 1 read"
                                    : fmt::format("the call ended after {} reads", num_reads)});
    }
  }
  const bool is_committed = end == TxnEnd::Committed;
  if (is_committed) compare_writes(program, scripted, txn, divergences);
  if (scripted.is_committed && *scripted.is_committed != is_committed) {
    divergences.push_back({.kind = DivergenceKind::Outcome,
                           .call = scripted.call,
                           .read = {},
                           .expected = *scripted.is_committed ? "a commit" : "an abort",
                           .actual = is_committed ? "it committed" : "it aborted"});
  }
}

// The level does not let the call end as it was directed.
Result<TxnEnd> execute_again(Store& store, const ScriptedCall& scripted,
                             std::vector<Divergence>& divergences) {
  divergences.push_back({.kind = DivergenceKind::Commit,
                         .call = scripted.call,
                         .read = {},
                         .expected = "a commit",
                         .actual = "the level forbids it"});
  const auto explanation = store.oracle()->explanation();
  if (store.is_expired()) return TxnEnd::Refused;
  ExplainedPolicy explained(explanation, store.program().outline().calls.size());
  auto end = store.execute(scripted.call, explained);
  if (end && *end == TxnEnd::Refused && !store.is_expired()) {
    return Error{.where = store.program().outline().calls[scripted.call].place,
                 .what = fmt::format("{} can neither commit nor abort: the level allows no way to "
                                     "go on",
                                     name_of(store.program(), scripted.call))};
  }
  return end;
}

}  // namespace

std::string_view name_of(DivergenceKind kind) {
  switch (kind) {
    case DivergenceKind::Key: return "key";
    case DivergenceKind::Writer: return "writer";
    case DivergenceKind::Level: return "level";
    case DivergenceKind::ReadsMore: return "reads-more";
    case DivergenceKind::ReadsLess: return "reads-less";
    case DivergenceKind::Writes: return "writes";
    case DivergenceKind::Outcome: return "outcome";
    case DivergenceKind::Commit: return "commit";
  }
  return {};
}

std::string describe(const Executable& program, const Divergence& divergence) {
  std::string text = name_of(program, divergence.call);
  if (divergence.read) text += fmt::format(", read {}", *divergence.read);
  return fmt::format("{}: expected {}, but {}", text, divergence.expected, divergence.actual);
}

Result<TxnEnd> execute_to_abort(Store& store, CallId call) {
  constexpr std::uint64_t kAttempts = 32;
  // An attempt that comes to nothing shall not forbid the reads of those after it.
  FamiliarPolicy familiar(store.program(), store.recording(), call);
  auto end = store.execute(call, familiar, TxnEnd::Aborted);
  LatestPolicy latest;
  if (end && *end == TxnEnd::Refused) end = store.execute(call, latest, TxnEnd::Aborted);
  Rng rng(call.index);
  RandomPolicy random(rng);
  for (std::uint64_t i = 0; i < kAttempts && end && *end == TxnEnd::Refused; ++i) {
    if (store.is_expired()) break;
    end = store.execute(call, random, TxnEnd::Aborted);
  }
  return end;
}

namespace {

// No history has calls that are left out: sessions that end with them are not cut short.
Result<void> leave_out_rest(Store& store) {
  const Outline& outline = store.program().outline();
  ById<CallId, bool> has_run(outline.calls.size(), false);
  for (const CallId call : store.recording().order) has_run[call] = true;
  LatestPolicy latest;
  for (const Session& session : outline.sessions) {
    CallId last = session.end();
    while (last > session.first && !has_run[call_before(last)]) last = call_before(last);
    for (; last > session.first && last < session.end() && store.is_left_out(last); ++last) {
      if (store.recording().txns[last].is_left_out) continue;
      if (auto end = store.execute(last, latest); !end) return end.error();
    }
  }
  return {};
}

Result<Replay> follow(const Executable& program, const Script& script, const LevelPlan* plan,
                      const Budget& budget) {
  auto oracle = make_oracle(program, plan, budget);
  if (!oracle) return oracle.error();
  Store store(program, *std::move(oracle), budget);
  Replay result;
  LatestPolicy latest;
  for (const ScriptedCall& scripted : script.calls) {
    const bool shall_abort =
        scripted.direction == Direction::Free && scripted.is_committed && !*scripted.is_committed;
    if (shall_abort) {
      auto end = execute_to_abort(store, scripted.call);
      if (!end) return end.error();
      if (*end == TxnEnd::Aborted) continue;
      // A transaction that does nothing leaves no trace either.
      if (store.last_txn().accesses.empty()) end = store.execute(scripted.call, latest);
      if (!end) return end.error();
      if (*end == TxnEnd::Committed) continue;
    }
    if (store.is_expired()) break;
    const std::size_t known = result.divergences.size();
    DirectedPolicy directed(store, scripted, result.divergences);
    auto end = store.execute(scripted.call, directed);
    if (end && *end == TxnEnd::Refused && !store.is_expired())
      end = execute_again(store, scripted, result.divergences);
    if (!end) return end.error();
    if (store.is_expired()) {
      result.divergences.resize(known);  // an oracle without time forbids whatever it is asked
      break;
    }
    compare_end(program, scripted, directed.num_reads(), *end, store.last_txn(),
                result.divergences);
  }
  result.is_expired = store.is_expired();
  if (!result.is_expired) {
    if (auto rest = leave_out_rest(store); !rest) return rest.error();
  }
  result.is_complete = store.is_complete();
  if (result.is_complete) {
    if (auto finished = store.finish(); !finished) return finished.error();
  }
  result.recording = store.recording();
  return result;
}

}  // namespace

Result<Replay> replay(const Executable& program, const Script& script, const LevelPlan* plan,
                      const Budget& budget) {
  if (auto fits = check_script(program, script); !fits) return fits.error();
  const auto follow_in_time = [&]() -> Result<Replay> {
    auto followed = follow(program, script, plan, budget);
    // A call that was left because the time is over has no fault.
    Budget now = budget;
    if (followed || !now.expired_now()) return followed;
    Replay result;
    result.is_expired = true;
    return result;
  };
  return until_rows_are_known(program, follow_in_time,
                              [](const Replay& replayed) { return replayed.is_expired; });
}

}  // namespace isoscope::store
