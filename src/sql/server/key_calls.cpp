#include "sql/server/key_calls.h"

#include <algorithm>

#include "sql/server/claims.h"
#include "sql/server/key_statement.h"
#include "sql/server/machine.h"

namespace isoscope::sql::server {
namespace {

// Keys that the text names are shown in the end, written or not, unless they are many.
constexpr std::size_t kMostShown = 64;

std::vector<Value> as_values(std::span<const std::int64_t> numbers) {
  std::vector<Value> values;
  for (const std::int64_t number : numbers) values.emplace_back(number);
  return values;
}

}  // namespace

KeyCalls::KeyCalls(const Program& program) : program_(program), executor_(program) {
  const KeyTable& keys = program.keys();
  for (std::uint32_t f = 0; f < keys.num_families(); ++f) {
    Table& table = app_.tables.emplace_back();
    table.name = std::string(keys.name(FamilyId{f}));
    table.columns = {{.name = "key", .type = Type::Text}, {.name = "value"}};
    table.primary_key = {ColumnId{0}};
  }
  keys_of_.resize(app_.tables.size());
  if (keys.size() > kMostShown) return;
  num_shown_ = static_cast<std::uint32_t>(keys.size());
  for (std::uint32_t key = 0; key < num_shown_; ++key) place_of(ProgramKey{key});
}

Storage KeyCalls::storage() const {
  Storage storage(app_);
  for (std::uint32_t t = 0; t < app_.tables.size(); ++t) storage.table(TableId{t}).is_by_key = true;
  for (std::uint32_t key = 0; key < num_shown_; ++key) {
    const RowId id = row(storage, ProgramKey{key});
    StoredTable& table = storage.table(id.table);
    table.num_shown = std::max(table.num_shown, id.row + 1);
  }
  return storage;
}

RowId KeyCalls::place_of(ProgramKey key) const {
  if (places_.size() <= key.index) places_.resize(key.index + 1);
  auto& place = places_[key.index];
  if (!place) {
    const TableId table{program_.keys().family(key).index};
    auto& keys = keys_of_[table.index];
    place = RowId{table, static_cast<std::uint32_t>(keys.size())};
    keys.push_back(key);
  }
  return *place;
}

RowId KeyCalls::row(Storage& storage, ProgramKey key) const {
  const RowId id = place_of(key);
  const auto& rows = storage.table(id.table).rows;
  while (rows.size() <= id.row) {
    const ProgramKey next = keys_of_[id.table.index][rows.size()];
    storage.add_row(id.table,
                    std::make_shared<const TableRow>(TableRow{
                        Value(program_.keys().name(next)), Value(program_.keys().initial(next))}),
                    kInitialTxn, {});
  }
  return id;
}

std::int64_t KeyCalls::value_of(const Version& version) {
  return std::get<std::int64_t>(version.values->back().data);
}

// The statement that begins at this instruction of the call.
const Statement& KeyCalls::statement(CallId call, std::uint32_t instruction) const {
  const auto [at, is_new] = statements_.try_emplace({program_.code_number(call), instruction});
  if (is_new) {
    const Place place = program_.code(call).places[instruction];
    at->second.kind = Block();
    at->second.place = place;
    at->second.text = program_.statement_text(place);
    at->second.number = instruction;
  }
  return at->second;
}

NextStep KeyCalls::find_next(CallId call, const Log& log, const PartLogs& /*before*/) const {
  if (log.empty()) {
    executor_.start(call);
  } else {
    executor_.restore(call, log.back()->after);
  }
  NextStep next{.variables = as_values(executor_.state())};
  const Step step = executor_.run_step();
  next.failed_assertion = executor_.failed_assertion();
  next.locals = as_values(executor_.state().first(executor_.num_locals()));
  switch (step.kind) {
    case StepKind::Read:
    case StepKind::Write:
    case StepKind::Lock:
    case StepKind::LockShared:
    case StepKind::BeginStatement:
      next.kind = NextStep::Kind::Statement;
      next.statement = &statement(call, step.instruction);
      return next;
    case StepKind::Abort:
      next.kind = NextStep::Kind::Abort;
      next.failure.message = "the program aborts";
      return next;
    case StepKind::Fault:
      next.kind = NextStep::Kind::Limit;
      next.fault = executor_.fault();
      return next;
    case StepKind::Commit:
    case StepKind::EndStatement: break;
  }
  next.kind = NextStep::Kind::Commit;
  return next;
}

Attempt KeyCalls::go_on(const StatementContext& context, Running& running) const {
  return KeyStatement(*this, executor_, context, running).go_on();
}

Footprint KeyCalls::footprint(CallId call) const {
  const Code& code = program_.code(call);
  Footprint footprint;
  for (const Instruction& i : code.instructions) {
    const bool is_known =
        i.op == Op::ReadKey || i.op == Op::WriteKey || i.op == Op::LockKey || i.op == Op::ShareKey;
    const bool is_computed = i.op == Op::ReadIndexed || i.op == Op::WriteIndexed ||
                             i.op == Op::LockIndexed || i.op == Op::ShareIndexed;
    if (!is_known && !is_computed) continue;
    const FamilyId family =
        is_known ? program_.keys().family(ProgramKey{static_cast<std::uint32_t>(i.number)})
                 : code.key_terms[static_cast<std::size_t>(i.number)].family;
    footprint.touched.insert(TableId{family.index});
    if (i.op != Op::ReadKey && i.op != Op::ReadIndexed)
      footprint.changed.insert(TableId{family.index});
  }
  return footprint;
}

bool KeyCalls::may_change(TableId table) const {
  for (const CallId call : program_.outline().calls.ids()) {
    const auto writes = program_.may_write(call);
    if (std::ranges::find(writes, FamilyId{table.index}) != writes.end()) return true;
  }
  return false;
}

template <class Ask>
auto KeyCalls::at_end(const State& state, const Ask& ask) const {
  ById<CallId, std::vector<std::int64_t>> locals;
  for (const TxnNo txn : state.of_calls()) {
    locals.emplace_back(program_.local_names(call_of(txn)).size(), 0);
    const auto& values = state.txns[txn].locals;
    for (std::size_t i = 0; i < std::min(values.size(), locals.back().size()); ++i)
      locals.back()[i] = std::get<std::int64_t>(values[i].data);
  }
  std::vector<Ending> endings;
  for (const TxnNo txn : state.of_calls())
    endings.push_back({state.txns[txn].status == TxnStatus::Committed, locals[call_of(txn)]});
  std::vector<std::int64_t> finals;
  for (const ProgramKey key : program_.final_keys()) {
    const RowId id = place_of(key);
    const auto& rows = state.storage.table(id.table).rows;
    finals.push_back(id.row < rows.size() ? value_of(rows[id.row].versions.back())
                                          : program_.keys().initial(key));
  }
  return ask(endings, finals);
}

ClaimAnswer KeyCalls::ask(const State& state, const RowAssertion& claim) const {
  const bool fails_inside = std::ranges::any_of(
      state.txns, [&](const TxnState& t) { return t.failed_assertion == claim.number; });
  if (fails_inside) return {.holds = false};
  const auto failed = at_end(state, [&](const auto& endings, const auto& finals) {
    return program_.failed_at_end(endings, finals);
  });
  return {.holds = !failed || failed != claim.number};
}

std::optional<Error> KeyCalls::fault_at_end(const State& state) const {
  return at_end(state, [&](const auto& endings, const auto& finals) {
    return program_.fault_at_end(endings, finals);
  });
}

std::vector<RowAssertion> claims_of(const Program& program) {
  std::vector<RowAssertion> claims;
  for (const AssertionId number : program.assertions()) {
    const FailedAssertion claim = program.assertion(number);
    claims.push_back({.text = claim.text, .function = {}, .place = claim.place, .number = number});
  }
  return claims;
}

}  // namespace isoscope::sql::server
