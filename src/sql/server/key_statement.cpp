#include "sql/server/key_statement.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/server/key_calls.h"
#include "sql/server/row_locks.h"

namespace isoscope::sql::server {
namespace {

template <class Pairs>
auto find_row(Pairs& pairs, RowId id) {
  return std::ranges::find(pairs, id, [](const auto& pair) { return pair.first; });
}

}  // namespace

// From its first access on; locks that it has taken stay.
void KeyStatement::begin() {
  keys_.at.clear();
  for (const Value& value : running_.result.variables)
    keys_.at.push_back(std::get<std::int64_t>(value.data));
  keys_.is_open = false;
  keys_.writes.clear();
  running_.result.reads.clear();
  running_.result.rows.assign(1, {});
  running_.result.num_rows = 0;
}

Attempt KeyStatement::go_on() {
  if (!running_.has_begun) begin();
  running_.has_begun = true;
  const CallId call = call_of(context_.txn);
  executor_.restore(call, keys_.at);
  for (;;) {
    const Step step = executor_.run_step();
    switch (step.kind) {
      case StepKind::Read: read(step.key); break;
      case StepKind::Write:
      case StepKind::Lock:
      case StepKind::LockShared: {
        const Lock mode = step.kind == StepKind::Write  ? Lock::NoKeyUpdate
                          : step.kind == StepKind::Lock ? Lock::Update
                                                        : Lock::Share;
        if (auto attempt = lock(step.key, mode)) return *std::move(attempt);
        if (std::exchange(begins_again_, false)) {
          begin();
          executor_.restore(call, keys_.at);
          continue;
        }
        if (step.kind == StepKind::Write) write(step.key, step.value);
        ++running_.result.num_rows;
        break;
      }
      case StepKind::BeginStatement: keys_.is_open = true; break;
      case StepKind::Fault: return {.kind = Attempt::Kind::Limit, .fault = executor_.fault()};
      case StepKind::EndStatement:
      case StepKind::Commit:
      case StepKind::Abort: keys_.is_open = false; break;
    }
    const auto at = executor_.state();
    keys_.at.assign(at.begin(), at.end());
    if (keys_.is_open) continue;
    finish();
    return {};
  }
}

bool KeyStatement::has_locked(RowId id) const {
  return find_row(keys_.taken, id) != keys_.taken.end();
}

void KeyStatement::read(ProgramKey key) {
  const RowId id = calls_.row(context_.storage, key);
  std::int64_t value = 0;
  if (const auto own = find_row(keys_.writes, id); own != keys_.writes.end()) {
    value = own->second;
  } else {
    const auto& versions = context_.storage.row(id).versions;
    const std::uint32_t version = has_locked(id)
                                      ? static_cast<std::uint32_t>(versions.size() - 1)
                                      : *context_.storage.visible(context_.storage.row(id), view());
    value = KeyCalls::value_of(versions[version]);
    running_.result.reads.push_back({id, version, versions[version].creator});
    ++running_.result.num_rows;
  }
  running_.result.rows.front().emplace_back(value);
  executor_.answer(value);
}

void KeyStatement::write(ProgramKey key, std::int64_t value) {
  const RowId id = calls_.row(context_.storage, key);
  if (const auto own = find_row(keys_.writes, id); own != keys_.writes.end()) {
    own->second = value;
  } else {
    keys_.writes.emplace_back(id, value);
  }
}

std::optional<Attempt> KeyStatement::lock(ProgramKey key, Lock mode) {
  const RowId id = calls_.row(context_.storage, key);
  const StoredRow& row = context_.storage.row(id);
  const std::uint32_t in_hand = has_locked(id) ? static_cast<std::uint32_t>(row.versions.size() - 1)
                                               : *context_.storage.visible(row, view());
  const RowAnswer answer = lock_row(context_, id, in_hand, mode, mode);
  switch (answer.kind) {
    case RowAnswer::Kind::Waits:
      return Attempt{.kind = Attempt::Kind::Waits, .blockers = answer.blockers};
    case RowAnswer::Kind::Conflict:
      return Attempt{
          .kind = Attempt::Kind::Failed,
          .failure = {"40001",
                      fmt::format("{} was changed by a concurrent transaction",
                                  std::get<std::string>(row.versions[0].values->front().data))}};
    case RowAnswer::Kind::Changed:
      begins_again_ = std::ranges::find(running_.result.reads, id, &ReadVersion::row) !=
                      running_.result.reads.end();
      break;
    case RowAnswer::Kind::Locked:
    case RowAnswer::Kind::Gone:  // keys are never deleted
      break;
  }
  if (const auto taken = find_row(keys_.taken, id); taken != keys_.taken.end()) {
    taken->second = std::max(taken->second, mode);
  } else {
    keys_.taken.emplace_back(id, mode);
  }
  return std::nullopt;
}

void KeyStatement::finish() {
  StatementResult& result = running_.result;
  for (const auto& [id, value] : keys_.writes) {
    const auto& name = context_.storage.row(id).versions.front().values->front();
    context_.storage.add_version(id, std::make_shared<const TableRow>(TableRow{name, Value(value)}),
                                 context_.txn, result.command,
                                 context_.storage.held(id, context_.txn) == Lock::Update);
    result.writes.push_back(id);
  }
  // The lock of a write is implied by the write; what a passed attempt wrote is only locked.
  for (const auto& [id, mode] : keys_.taken) {
    const bool is_written = find_row(keys_.writes, id) != keys_.writes.end();
    if (!is_written || mode != Lock::NoKeyUpdate) result.locks.emplace_back(id, mode);
  }
  result.written = std::move(keys_.writes);
  result.after = keys_.at;
}

}  // namespace isoscope::sql::server
