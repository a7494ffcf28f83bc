#include "store/store.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/shorten.h"

namespace isoscope::store {

Store::Store(const Executable& program, std::unique_ptr<Oracle> oracle, const Budget& budget)
    : program_(program),
      executor_(program.executor()),
      oracle_(std::move(oracle)),
      budget_(budget) {
  recording_.txns.resize(program.outline().calls.size());
}

void Store::reset() {
  if (oracle_) oracle_->reset();
  for (std::vector<Version>& of_key : versions_) of_key.resize(1);
  for (RecordedTxn& txn : recording_.txns) {
    txn.is_committed = false;
    txn.accesses.clear();
    txn.locals.clear();
    txn.failed_assertion.reset();
    txn.is_left_out = false;
  }
  recording_.order.clear();
  recording_.failed_at_end.reset();
  recording_.finals.clear();
  num_ended_ = 0;
}

bool Store::is_left_out(CallId call) const {
  return program_.outline().calls[call].attempt > 1 &&
         recording_.txns[call_before(call)].is_committed;
}

const std::vector<Version>& Store::versions(ProgramKey x) {
  while (!versions_.contains(x))
    versions_.push_back({{kInitialWriter, program_.keys().initial(versions_.next_id())}});
  return versions_[x];
}

const std::int64_t* Store::own_write(ProgramKey x) const {
  if (!own_writes_.contains(x) || own_writes_[x] == 0) return nullptr;
  return &pending_.accesses[own_writes_[x] - 1].value;
}

void Store::note_write(ProgramKey x, std::int64_t value) {
  std::uint32_t& own = own_writes_.grown(x, 0);
  if (own == 0) written_.push_back(x);
  pending_.accesses.push_back({.key = x, .value = value});
  own = static_cast<std::uint32_t>(pending_.accesses.size());
}

Error Store::describe_fault(CallId call) const {
  Error error = executor_->fault();
  std::vector<const Access*> read;
  for (const Access& access : pending_.accesses) {
    if (access.is_read) read.push_back(&access);
  }
  const std::string reads = short_list(read.size(), ", ", [&](std::size_t i) {
    return fmt::format("{} = {} from {}", program_.keys().name(read[i]->key), read[i]->value,
                       name_of_writer(program_, read[i]->writer));
  });
  error.what += fmt::format(", in {}{}{}", name_of(program_, call),
                            reads.empty() ? "" : ", which read ", reads);
  return error;
}

void Store::commit(CallId call) {
  for (const ProgramKey x : written_) {
    versions(x);
    versions_[x].push_back({call, *own_write(x)});
  }
}

Result<TxnEnd> Store::execute(CallId call, ReadPolicy& policy, std::optional<TxnEnd> only) {
  for (const ProgramKey x : written_) own_writes_[x] = 0;
  pending_.accesses.clear();
  pending_.failed_assertion.reset();
  written_.clear();
  if (oracle_) oracle_->begin(call);
  const auto refuse = [&] {
    if (oracle_) oracle_->abandon();
    return TxnEnd::Refused;
  };
  executor_->start(call);
  pending_.is_left_out = is_left_out(call);
  for (;;) {
    if (budget_.expired()) is_expired_ = true;
    if (is_expired_) return refuse();
    const Stop stop = pending_.is_left_out ? Stop{.kind = StopKind::Commit} : executor_->run();
    switch (stop.kind) {
      case StopKind::Read: {
        if (const std::int64_t* own = own_write(stop.key)) {
          executor_->answer(*own);
          break;
        }
        const std::vector<Version>& choices = versions(stop.key);
        const auto chosen = policy.choose(stop.key, choices, oracle_.get());
        if (!chosen) return refuse();
        const Version& version = choices[*chosen];
        if (oracle_) oracle_->take(stop.key, version.writer);
        pending_.accesses.push_back({true, stop.key, version.value, version.writer});
        executor_->answer(version.value);
        break;
      }
      case StopKind::Write: note_write(stop.key, stop.value); break;
      case StopKind::Fault: return describe_fault(call);
      case StopKind::Commit:
      case StopKind::Abort: {
        pending_.is_committed = stop.kind == StopKind::Commit;
        const TxnEnd end = pending_.is_committed ? TxnEnd::Committed : TxnEnd::Aborted;
        const auto locals = executor_->state().first(executor_->num_locals());
        pending_.locals.assign(locals.begin(), locals.end());
        pending_.failed_assertion = executor_->failed_assertion();
        if (only && end != *only) return refuse();
        if (oracle_ && pending_.is_committed && !oracle_->allows_commit(written_)) return refuse();
        if (oracle_) oracle_->end(pending_.is_committed, written_);
        if (pending_.is_committed) commit(call);
        recording_.txns[call] = pending_;
        if (!pending_.is_left_out) recording_.order.push_back(call);
        ++num_ended_;
        return end;
      }
    }
  }
}

Result<void> Store::finish() {
  std::vector<Ending> endings;
  endings.reserve(recording_.txns.size());
  for (const RecordedTxn& txn : recording_.txns)
    endings.push_back({.committed = txn.is_committed, .locals = txn.locals});
  find_finals();
  std::vector<std::int64_t> finals;
  for (const FinalValue& final_value : recording_.finals) finals.push_back(final_value.value);
  recording_.failed_at_end = program_.failed_at_end(endings, finals);
  if (!recording_.failed_at_end) return {};
  if (auto fault = program_.fault_at_end(endings, finals)) return *std::move(fault);
  return {};
}

// Who wrote each final key last?
void Store::find_finals() {
  recording_.finals.clear();
  if (program_.final_keys().empty()) return;
  ById<CallId, std::uint32_t> place(recording_.txns.size(), 0);
  const auto number = [&](std::span<const CallId> order) {
    for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i + 1;
  };
  const auto explained =
      oracle_ ? oracle_->commit_order() : std::span<const CallId>(recording_.order);
  number(explained);
  for (const ProgramKey x : program_.final_keys()) {
    const Version* last = &versions(x).front();
    for (const Version& version : versions(x)) {
      if (version.writer == kInitialWriter) continue;
      if (last->writer == kInitialWriter || place[last->writer] < place[version.writer])
        last = &version;
    }
    recording_.finals.push_back({x, last->writer, last->value});
  }
}

}  // namespace isoscope::store
