#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "api/callables.h"
#include "explore/explore.h"
#include "report/explore_report.h"

namespace isoscope::api {

struct Program::Parts {
  struct Transaction {
    std::string label;
    Body body;
    std::string level;
  };
  struct SessionPart {
    std::string name;
    std::vector<Transaction> transactions;
  };

  std::vector<std::pair<std::string, Value>> initial;
  std::vector<SessionPart> sessions;
  std::vector<FinalCheck> checks;

  Callables build() const;
};

namespace {

Exploration failed(std::string why) {
  Exploration none;
  none.outcome = Outcome::Failed;
  none.failure = std::move(why);
  return none;
}

Outcome outcome_of(isoscope::Outcome outcome) {
  switch (outcome) {
    case isoscope::Outcome::Complete: return Outcome::Complete;
    case isoscope::Outcome::Violated: return Outcome::Violated;
    case isoscope::Outcome::Unknown: return Outcome::Unknown;
  }
  return Outcome::Unknown;
}

Violation violation_of(const Callables& program, const store::Recording& run) {
  std::vector<TxnRun> txns;
  for (const CallId call : run.txns.ids()) {
    const store::RecordedTxn& txn = run.txns[call];
    TxnRun shown = program.txn_run(call, txn.is_committed, txn.locals);
    for (const store::Access& access : txn.accesses) {
      shown.accesses.push_back(
          {.is_read = access.is_read,
           .key = program.keys().name(access.key),
           .value = access.value,
           .writer = access.is_read ? store::name_of_writer(program, access.writer) : ""});
    }
    txns.push_back(std::move(shown));
  }
  Violation violation{
      .failed = {}, .run = Run(std::move(txns)), .text = violation_text(program, "", run, Paint())};
  for (const AssertionId number : run.failed_assertions())
    violation.failed.push_back(program.assertion(number).text);
  return violation;
}

}  // namespace

Value TxnRun::noted(std::string_view note_name, Value otherwise) const {
  const auto found = std::find_if(notes.begin(), notes.end(),
                                  [&](const Note& note) { return note.name == note_name; });
  return found == notes.end() ? otherwise : found->value;
}

const TxnRun& Run::txn(std::string_view session, unsigned number) const {
  const std::string wanted = fmt::format("{}[{}]", session, number);
  const auto found = std::find_if(txns_.begin(), txns_.end(),
                                  [&](const TxnRun& txn) { return txn.name == wanted; });
  if (found == txns_.end()) throw std::out_of_range("there is no transaction " + wanted);
  return *found;
}

Program::Program() : parts_(std::make_unique<Parts>()) {}
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

Program& Program::init(std::string_view key, Value value) {
  parts_->initial.emplace_back(key, value);
  return *this;
}

Session Program::session(std::string_view name) {
  auto& sessions = parts_->sessions;
  const auto found = std::find_if(sessions.begin(), sessions.end(),
                                  [&](const auto& session) { return session.name == name; });
  const auto number = static_cast<std::size_t>(found - sessions.begin());
  if (found == sessions.end()) sessions.push_back({std::string(name), {}});
  return {*parts_, number};
}

Program& Program::check_at_end(std::string_view text, std::function<bool(const Run&)> holds) {
  parts_->checks.push_back({std::string(text), std::move(holds)});
  return *this;
}

Session& Session::transaction(std::string_view label, Body body, std::string_view level) {
  parts_->sessions[number_].transactions.push_back(
      {std::string(label), std::move(body), std::string(level)});
  return *this;
}

Callables Program::Parts::build() const {
  Outline outline;
  std::vector<Body> bodies;
  for (const SessionPart& session : sessions) {
    const auto first = static_cast<std::uint32_t>(outline.calls.size());
    const auto number = static_cast<std::uint32_t>(outline.sessions.size());
    for (std::uint32_t i = 0; i < session.transactions.size(); ++i) {
      const Transaction& txn = session.transactions[i];
      outline.calls.push_back(
          {.session = {number}, .number = i + 1, .name = txn.label, .level = txn.level});
      bodies.push_back(txn.body);
    }
    const auto size = static_cast<std::uint32_t>(session.transactions.size());
    outline.sessions.push_back({session.name, {first}, size});
  }
  return {std::move(outline), std::move(bodies), checks};
}

Exploration Program::explore(const Options& options) const {
  const Callables program = parts_->build();
  for (const auto& [key, value] : parts_->initial) {
    KeyTable& keys = program.keys();
    keys.set_initial(keys.intern(keys.family(key), {}), value);
  }
  if (program.outline().calls.size() > explore::kMaxCalls) {
    return failed(fmt::format("{} transactions are more than explore can have ({})",
                              program.outline().calls.size(), explore::kMaxCalls));
  }
  for (const CallId call : program.outline().calls.ids()) {
    if (!program.body(call)) return failed(fmt::format("{} has no body", program.name(call)));
  }
  LevelSet levels = LevelSet::built_in();
  if (!options.level_definitions.empty()) {
    const auto added = levels.add(options.level_definitions, "level_definitions");
    if (!added) return failed(render(added.error()));
  }
  const auto level = levels.find(options.level);
  if (!level) return failed(render(level.error()));
  const auto plan = make_plan(program, **level, levels, explore::Algorithm::Best, {});
  if (!plan) return failed(render(plan.error()));

  const explore::Exploration found = explore::explore(
      program, *plan,
      {.threads = options.threads == 0 ? std::thread::hardware_concurrency() : options.threads,
       .budget = options.seconds > 0 ? Budget::seconds(options.seconds) : Budget(),
       .stop_at_violation = options.stop_at_violation,
       .max_violations = options.stop_at_violation ? 1 : options.max_violations,
       .on_history = {},
       .gives_up = {},
       .progress = {}});
  if (found.fault) return failed(found.fault->error.what);
  if (const std::string failure = program.failure_at_end(); !failure.empty())
    return failed(failure);
  Exploration all;
  all.outcome = outcome_of(found.outcome);
  all.histories = found.histories;
  all.violating = found.violating;
  all.end_states = found.end_states;
  all.blocked = found.blocked;
  all.is_out_of_time = found.is_out_of_time;
  for (const store::Recording& run : found.violations)
    all.violations.push_back(violation_of(program, run));
  return all;
}

}  // namespace isoscope::api
