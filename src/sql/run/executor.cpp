#include "sql/run/executor.h"

#include <fmt/format.h>

#include "sql/run/call_run.h"
#include "sql/run/memory_database.h"
#include "support/assert.h"

namespace isoscope::sql {

std::vector<RowKey> CallDatabase::rows(TableId table) {
  const auto& universe = program_.universe(table);
  const auto own = own_rows_.find(table);
  if (own == own_rows_.end()) return {universe.begin(), universe.end()};
  std::set<RowKey> all = universe;
  all.insert(own->second.begin(), own->second.end());
  return {all.begin(), all.end()};
}

bool CallDatabase::is_present(TableId table, const RowKey& key) {
  if (program_.changes().has_fixed_rows(table)) return program_.universe(table).contains(key);
  return read(program_.key(table, key, std::nullopt)) != 0;
}

Value CallDatabase::read(TableId table, const RowKey& key, ColumnId column) {
  if (program_.changes().is_static(table, column)) {
    const auto& rows = program_.initial_[table.index];
    const auto row = rows.find(key);
    return row == rows.end() ? Value() : row->second[column];
  }
  const Type type = program_.app().table(table).columns[column].type;
  return program_.numbers_.value_of(type, read(program_.key(table, key, column)));
}

void CallDatabase::set_present(TableId table, const RowKey& key, bool present) {
  if (present) {
    own_rows_[table].insert(key);
    program_.remember(table, key);
  }
  write(program_.key(table, key, std::nullopt), present ? 1 : 0);
}

void CallDatabase::write(TableId table, const RowKey& key, ColumnId column, Value value) {
  const Type type = program_.app().table(table).columns[column].type;
  write(program_.key(table, key, column), program_.numbers_.number_of(type, value));
}

Value CallDatabase::fresh(TableId table, ColumnId column) {
  return fresh_value(program_.app().table(table).columns[column], next_fresh());
}

std::int64_t CallDatabase::draw(SequenceId) { return next_fresh(); }

// Calls do not share numbers, whatever the order in which they run.
std::int64_t CallDatabase::next_fresh() {
  const auto num_calls = static_cast<std::int64_t>(program_.outline().calls.size());
  return program_.first_fresh_ + static_cast<std::int64_t>(call_.index) + num_calls * num_fresh_++;
}

std::int64_t CallDatabase::read(ProgramKey key) {
  if (const auto own = own_.find(key); own != own_.end()) return own->second;
  if (num_answered_ == answers_.size()) {
    segment_.stop = StopKind::Read;
    segment_.key = key;
    throw Leave{};
  }
  segment_.writes.clear();
  return answers_[num_answered_++];
}

void CallDatabase::write(ProgramKey key, std::int64_t value) {
  own_[key] = value;
  segment_.writes.push_back({key, value});
}

void SqlExecutor::start(CallId call) {
  call_ = call;
  answers_.clear();
  enter();
}

Stop SqlExecutor::run() {
  if (num_told_ < segment_->writes.size()) {
    const Segment::Write& write = segment_->writes[num_told_++];
    return {StopKind::Write, write.key, write.value};
  }
  return {segment_->stop, segment_->key, 0};
}

void SqlExecutor::answer(std::int64_t value) {
  ISO_ASSERT(segment_->stop == StopKind::Read);
  answers_.push_back(value);
  enter();
}

Error SqlExecutor::fault() const {
  const Call& call = program_.outline().calls[call_];
  return {.where = call.place, .what = fmt::format("{}: {}", call.name, segment_->fault)};
}

std::span<const std::int64_t> SqlExecutor::state() const {
  state_ = segment_->locals;
  state_.resize(num_locals());
  state_.push_back(static_cast<std::int64_t>(num_told_));
  state_.insert(state_.end(), answers_.begin(), answers_.end());
  return state_;
}

void SqlExecutor::restore(CallId call, std::span<const std::int64_t> state) {
  call_ = call;
  const std::size_t locals = num_locals();
  const auto num_told = static_cast<std::size_t>(state[locals]);
  const auto answers = state.subspan(locals + 1);
  answers_.assign(answers.begin(), answers.end());
  enter();
  num_told_ = num_told;
}

std::size_t SqlExecutor::Hash::operator()(const std::vector<std::int64_t>& numbers) const noexcept {
  std::uint64_t hash = 0;
  for (const std::int64_t number : numbers) {
    hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

void SqlExecutor::enter() {
  num_told_ = 0;
  path_.assign(1, call_.index);
  path_.insert(path_.end(), answers_.begin(), answers_.end());
  if (const auto found = kept_.find(path_); found != kept_.end()) {
    segment_ = &found->second;
    return;
  }
  if (kept_.size() >= kMaxKept) kept_.clear();
  segment_ = &kept_.emplace(path_, execute()).first->second;
}

Segment SqlExecutor::execute() {
  if (program_.outline().calls[call_].part > 1) {
    Segment refused;
    refused.stop = StopKind::Fault;
    refused.fault = "COMMIT in a procedure needs a level of PostgreSQL";
    return refused;
  }
  CallDatabase database(program_, call_, answers_);
  std::vector<Value> variables;
  Result<CallResult> result = CallResult{};
  try {
    result = run_call_with(program_.app(), program_.changes(), program_.function(call_),
                           program_.arguments(call_), database, kMaxSteps, &budget_, &variables);
  } catch (const CallDatabase::Leave&) {
    return database.take();
  }
  Segment segment = database.take();
  if (!result) {
    segment.stop = StopKind::Fault;
    segment.fault = result.error().what;
    return segment;
  }
  segment.stop = result->committed ? StopKind::Commit : StopKind::Abort;
  const std::vector<Value> locals = program_.locals_of(call_, variables, result->returned);
  const auto& declared = program_.locals_[call_.index];
  for (std::size_t i = 0; i < locals.size(); ++i)
    segment.locals.push_back(program_.numbers_.number_of(declared[i].type, locals[i]));
  return segment;
}

std::unique_ptr<Executor> SqlProgram::executor() const {
  return std::make_unique<SqlExecutor>(*this);
}

}  // namespace isoscope::sql
