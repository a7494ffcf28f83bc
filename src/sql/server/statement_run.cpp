#include "sql/server/statement_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/server/references.h"
#include "sql/server/row_locks.h"
#include "sql/server/row_values.h"
#include "sql/server/rows_in_hand.h"
#include "sql/sqlstates.h"

namespace isoscope::sql::server {
namespace {

constexpr std::size_t kAllRows = std::numeric_limits<std::size_t>::max();
using Row = TableRow;

class StatementRun {
 public:
  StatementRun(const StatementContext& context, Running& running)
      : context_(context),
        running_(running),
        statement_(*running.result.statement),
        variables_(running.result.variables) {}

  Attempt go_on() {
    if (!running_.has_rows) {
      Attempt attempt = rows();
      if (attempt.kind != Attempt::Kind::Done) return attempt;
      running_.has_rows = true;
      if (context_.leaves_references) return {};
    }
    return check_references(context_, running_);
  }

 private:
  using Kind = Attempt::Kind;

  static Attempt fail(std::string sqlstate, std::string message) {
    return {.kind = Kind::Failed, .failure = {std::move(sqlstate), std::move(message)}};
  }
  Attempt fail(const Error& error) const {
    if (error.is_limit) {
      Error fault = error;
      fault.what = fmt::format("line {}: {}", statement_.place.line, error.what);
      return {.kind = Kind::Limit, .fault = std::move(fault)};
    }
    return fail(sqlstate_of_error(error.what), error.what);
  }
  static Attempt wait(std::vector<TxnNo> blockers) {
    return {.kind = Kind::Waits, .blockers = std::move(blockers)};
  }
  Attempt conflict(RowId id) const {
    return fail("40001", fmt::format("a row of {} was changed by a concurrent transaction",
                                     context_.app.table(id.table).name));
  }

  Attempt rows() {
    if (const auto* insert = statement_.find<Insert>()) return run_insert(*insert);
    if (const SearchedWrite* write = statement_.searched()) return modify(*write);
    const Query& query = *statement_.query();
    if (const auto sequence = statement_.draws()) return draw(*sequence);
    const AdvisoryLock* advisory = statement_.advisory();
    return advisory != nullptr ? lock_number(query, *advisory) : select(query);
  }

  View view() const { return {running_.result.snapshot, context_.txn, running_.result.command}; }
  // A version that the snapshot lacks which the transaction keeps.
  bool is_outside(TxnNo creator) const {
    return context_.keeps_snapshot && creator != context_.txn &&
           !context_.txn_snapshot.contains(creator);
  }
  // Of one that writes.
  TableId table_id() const { return statement_.write()->table; }
  const Table& table() const { return context_.app.table(table_id()); }
  const Row& values(RowId id, std::uint32_t version) const {
    return *context_.storage.row(id).versions[version].values;
  }
  void note_read(RowId id, std::uint32_t version) {
    running_.result.reads.push_back(
        {id, version, context_.storage.row(id).versions[version].creator});
  }

  Result<std::size_t> count(const std::optional<Expr>& expr, std::size_t otherwise,
                            std::string_view if_negative) {
    if (!expr) return otherwise;
    auto value = evaluate(*expr, variables_);
    if (!value) return value.error();
    const auto* number = std::get_if<std::int64_t>(&value->data);
    if (number == nullptr) return otherwise;
    if (*number < 0) return Error{.what = std::string(if_negative)};
    return static_cast<std::size_t>(*number);
  }

  Attempt select(const Query& query) {
    auto limit = count(query.limit, kAllRows, kNegativeLimit);
    if (!limit) return fail(limit.error());
    auto offset = count(query.offset, 0, kNegativeOffset);
    if (!offset) return fail(offset.error());
    std::size_t max_rows = std::min(*limit, running_.needs.max_rows);
    if (context_.is_scalar_subquery) max_rows = std::min(*limit, std::size_t{2});
    if (!running_.has_begun) {
      running_.has_begun = true;
      running_.skip = *offset;
      auto all = matches(context_.storage, query.sources, query.where, variables_, view());
      if (!all) return fail(all.error());
      if (auto sorted = sort(context_.storage, query, variables_, *all); !sorted)
        return fail(sorted.error());
      running_.candidates = *std::move(all);
    }
    if (query.lock != Lock::None && !query.is_aggregate()) {
      if (Attempt attempt = lock_rows(query, max_rows); attempt.kind != Kind::Done) return attempt;
    } else {
      for (const auto& tuple : running_.candidates) {
        for (const Storage::Seen& seen : tuple) note_read(seen.row, seen.version);
      }
      auto found = rows_of(context_.storage, query, running_.needs, variables_, running_.candidates,
                           max_rows, *offset);
      if (!found) return fail(found.error());
      running_.result.rows = *std::move(found);
    }
    if (context_.is_scalar_subquery && running_.result.rows.size() > 1)
      return fail("21000", std::string(kSecondRow));
    running_.result.num_rows = running_.result.rows.size();
    return {};
  }

  // Locks the rows of one candidate after the other; `Gone` and rows that no longer match are
  // passed over, and no row behind the last that is needed is locked.
  Attempt lock_rows(const Query& query, std::size_t max_rows) {
    while (running_.next < running_.candidates.size() && running_.result.rows.size() < max_rows) {
      auto& tuple = running_.candidates[running_.next];
      bool has_changed = false;
      bool is_gone = false;
      for (Storage::Seen& seen : tuple) {
        const RowAnswer answer = lock_row(context_, seen.row, seen.version, query.lock, query.lock);
        if (answer.kind == RowAnswer::Kind::Waits) {
          if (query.wait == LockWait::Wait) return wait(answer.blockers);
          if (query.wait == LockWait::Fail)
            return fail("55P03", "a row is locked by another transaction");
          is_gone = true;  // SKIP LOCKED
          break;
        }
        if (answer.kind == RowAnswer::Kind::Conflict) return conflict(seen.row);
        is_gone = answer.kind == RowAnswer::Kind::Gone;
        if (is_gone) break;
        has_changed = has_changed || answer.kind == RowAnswer::Kind::Changed;
        seen.version = answer.version;
      }
      ++running_.next;
      if (is_gone) continue;
      RowsInHand row = in_hand(context_.storage, tuple);
      if (has_changed && query.where) {
        auto holds = evaluate(*query.where, variables_, row);
        if (!holds) return fail(holds.error());
        if (!is_true(*holds)) continue;
      }
      for (const Storage::Seen& seen : tuple) note_read(seen.row, seen.version);
      if (running_.skip > 0) {
        --running_.skip;
        continue;
      }
      std::vector<Value> outputs;
      if (running_.needs.outputs) {
        for (const Output& output : query.outputs) {
          auto value = evaluate(output.expr, variables_, row);
          if (!value) return fail(value.error());
          outputs.push_back(*std::move(value));
        }
      }
      running_.result.rows.push_back(std::move(outputs));
    }
    return {};
  }

  Attempt draw(SequenceId sequence) {
    running_.result.rows = {{Value(context_.storage.draw(sequence))}};
    running_.result.num_rows = 1;
    return {};
  }

  Attempt lock_number(const Query& query, const AdvisoryLock& lock) {
    AdvisoryLocks::Request request{.txn = context_.txn,
                                   .command = running_.result.command,
                                   .is_shared = lock.is_shared,
                                   .is_tried = lock.is_tried,
                                   .passes_queue = context_.passes_queue};
    for (const Output& output : query.outputs) {
      auto value = evaluate(output.expr, variables_);
      if (!value) return fail(value.error());
      if (const auto* number = std::get_if<std::int64_t>(&value->data))
        request.key.push_back(*number);
    }
    Value answer;
    // The functions are strict: with a NULL among the numbers nothing is locked.
    if (request.key.size() == query.outputs.size()) {
      AdvisoryLocks::Answer asked = context_.storage.advisory().ask(request);
      if (!asked.is_granted && !lock.is_tried) {
        Attempt attempt = wait(std::move(asked.holders));
        attempt.blockers.insert(attempt.blockers.end(), asked.ahead.begin(), asked.ahead.end());
        attempt.ahead = std::move(asked.ahead);
        return attempt;
      }
      if (lock.is_tried) answer = Value(asked.is_granted);
    }
    running_.result.rows = {{answer}};
    running_.result.num_rows = 1;
    return {};
  }

  // --- UPDATE and DELETE

  Attempt modify(const SearchedWrite& write) {
    if (!running_.has_begun) {
      running_.has_begun = true;
      const ById<SourceId, TableId> sources = {write.table};
      auto all = matches(context_.storage, sources, write.where, variables_, view());
      if (!all) return fail(all.error());
      running_.candidates = *std::move(all);
    }
    while (running_.next < running_.candidates.size()) {
      Attempt attempt = running_.placed ? enter_keys() : modify_row(write);
      if (attempt.kind != Kind::Done) return attempt;
      if (!running_.placed) ++running_.next;
    }
    return {};
  }

  // One candidate: if it is still there and matches, its new version is placed.
  Attempt modify_row(const SearchedWrite& searched) {
    Storage::Seen& seen = running_.candidates[running_.next].front();
    const Version& newest = context_.storage.row(seen.row).versions.back();
    if (searched.once && newest.creator == context_.txn &&
        newest.command == running_.result.command)
      return {};
    const auto* update = statement_.find<Update>();
    for (;;) {
      const Row from = values(seen.row, seen.version);
      Row to;
      Lock mode = Lock::Update;
      if (update != nullptr) {
        RowsInHand row({&from});
        auto changed = changed_row(from, update->sets, row);
        if (!changed) return fail(changed.error());
        to = *std::move(changed);
        // A BEFORE trigger runs when the row is locked, and so does what comes after it.
        if (update->raises.empty()) {
          if (Attempt valid = check_values(to); valid.kind != Kind::Done) return valid;
        }
        mode = changes_key(table(), from, to) ? Lock::Update : Lock::NoKeyUpdate;
      }
      const Lock again = update == nullptr ? Lock::Update : lock_of_sets(table(), update->sets);
      const RowAnswer answer = lock_row(context_, seen.row, seen.version, mode, again);
      switch (answer.kind) {
        case RowAnswer::Kind::Waits: return wait(answer.blockers);
        case RowAnswer::Kind::Conflict: return conflict(seen.row);
        case RowAnswer::Kind::Gone: return {};
        case RowAnswer::Kind::Locked:
          if (searched.is_cascade &&
              is_outside(context_.storage.row(seen.row).versions[seen.version].creator))
            return conflict(seen.row);
          note_read(seen.row, seen.version);
          if (update != nullptr && !update->raises.empty()) {
            if (Attempt fired = fire_before(*update, from, to); fired.kind != Kind::Done)
              return fired;
          }
          return write(seen.row, from, update == nullptr ? nullptr : &to);
        case RowAnswer::Kind::Changed: break;
      }
      seen.version = answer.version;
      const Row& current = values(seen.row, seen.version);
      RowsInHand row({&current});
      if (searched.where) {
        auto holds = evaluate(*searched.where, variables_, row);
        if (!holds) return fail(holds.error());
        if (!is_true(*holds)) {
          note_read(seen.row, seen.version);
          return {};
        }
      }
    }
  }

  // What BEFORE triggers raise, and the values that they leave.
  Attempt fire_before(const Update& update, const Row& from, const Row& to) {
    RowsInHand row({&from});
    for (std::size_t i = 0; i < update.raises.size(); ++i) {
      auto holds = evaluate(update.raises[i], variables_, row);
      if (!holds) return fail(holds.error());
      if (!is_true(*holds)) continue;
      auto state = evaluate(update.raised_states[i], variables_, row);
      if (!state) return fail(state.error());
      return fail(std::get<std::string>(state->data), "a trigger raises an exception");
    }
    return check_values(to);
  }

  Result<Row> changed_row(const Row& from, const std::vector<SetColumn>& sets, RowsInHand& rows) {
    Row to = from;
    for (const SetColumn& set : sets) {
      auto value = evaluate(set.value, variables_, rows);
      if (!value) return value.error();
      to[set.column] = kept_in(table().columns[set.column].width, *std::move(value));
    }
    return to;
  }

  // Places what becomes of a row, which is locked; entries in its keys follow.
  Attempt write(RowId id, const Row& from, const Row* to) {
    const bool is_exclusive = to == nullptr || changes_key(table(), from, *to) ||
                              context_.storage.held(id, context_.txn) == Lock::Update;
    context_.storage.add_version(id, to == nullptr ? nullptr : std::make_shared<const Row>(*to),
                                 context_.txn, running_.result.command, is_exclusive);
    running_.result.writes.push_back(id);
    add_referrers(context_.app, table_id(), from, to, running_);
    if (to == nullptr) return finish(from, &from);
    add_references(context_.app, table_id(), &from, *to, running_);
    running_.placed = id;
    running_.next_key = 0;
    context_.storage.row(id).versions.back().num_entries = 0;
    return enter_keys();
  }

  // Goes through the unique keys of the row that was placed. Those that an UPDATE leaves as they
  // are keep their entries.
  Attempt enter_keys() {
    const RowId id = *running_.placed;
    const auto keys = unique_keys(table());
    auto& versions = context_.storage.row(id).versions;
    const Row now = *versions.back().values;
    const Version* before = versions.size() > 1 ? &versions[versions.size() - 2] : nullptr;
    for (; running_.next_key < keys.size(); ++running_.next_key) {
      const auto& key = keys[running_.next_key];
      const bool is_new = before == nullptr || before->is_deleted() ||
                          columns_of(*before->values, key) != columns_of(now, key);
      if (is_new) {
        const EntryAnswer answer =
            find_entry(context_, table_id(), running_.next_key, key, now, id);
        if (!answer.blockers.empty()) return wait(answer.blockers);
        if (answer.taken)
          return fail("23505", fmt::format("{} has a row with the same key already", table().name));
      }
      versions.back().num_entries = running_.next_key + 1;
    }
    if (Attempt entered = enter_exclusions(id, now, before); entered.kind != Kind::Done)
      return entered;
    versions.back().num_entries = UINT32_MAX;
    running_.placed.reset();
    return finish(now, before == nullptr || before->is_deleted() ? nullptr : before->values.get());
  }

  // EXCLUDE constraints, behind the keys. Here the entry comes first, and then who is in the way is
  // looked for: also by an UPDATE that changes columns of another index only. An index that is
  // UNIQUE has the entry last.
  Attempt enter_exclusions(RowId id, const Row& now, const Version* before) {
    const auto num_keys = static_cast<std::uint32_t>(unique_keys(table()).size());
    const auto& exclusions = table().exclusions;
    if (exclusions.empty()) return {};
    const bool is_new =
        before == nullptr || before->is_deleted() || changes_index(table(), *before->values, now);
    for (ExclusionId e{running_.next_key - num_keys}; exclusions.contains(e); ++e) {
      running_.next_key = num_keys + e.index;
      const bool is_unique = exclusions[e].is_unique;
      auto& num_entries = context_.storage.row(id).versions.back().num_entries;
      num_entries = running_.next_key + (is_unique ? 0 : 1);
      if (is_new) {
        const auto values = values_of(exclusions[e], now);
        if (!values) return fail("22000", values.error().what);
        const EntryAnswer answer = find_excluded(context_, table_id(), e, *values, id);
        if (!answer.blockers.empty()) return wait(answer.blockers);
        if (answer.taken && is_unique)
          return fail("23505", fmt::format("{} has a row with the same key already", table().name));
        if (answer.taken)
          return fail("23P01", fmt::format("a row of {} is excluded by another one", table().name));
      }
      num_entries = running_.next_key + 1;
    }
    return {};
  }

  Attempt finish(const Row& row, const Row* from) {
    ++running_.result.num_rows;
    const std::vector<Expr>& returning = statement_.write()->returning;
    if (returning.empty()) return {};
    RowsInHand rows({&row, from == nullptr ? &row : from});
    std::vector<Value> returned;
    for (const Expr& expr : returning) {
      auto value = evaluate(expr, variables_, rows);
      if (!value) return fail(value.error());
      returned.push_back(*std::move(value));
    }
    running_.result.rows.push_back(std::move(returned));
    return {};
  }

  Attempt check_values(const Row& row) {
    const auto broken = broken_constraint(table(), row);
    if (!broken) return {};
    switch (broken->kind) {
      case BrokenConstraint::Kind::NotNull: return fail("23502", broken->message);
      case BrokenConstraint::Kind::Check: return fail("23514", broken->message);
      case BrokenConstraint::Kind::Error: break;
    }
    return fail(broken->error);
  }

  // --- INSERT

  Attempt run_insert(const Insert& insert) {
    if (running_.placed) return enter_keys();
    if (!running_.has_begun) {
      running_.has_begun = true;
      auto row = inserted_row(context_, insert, variables_);
      if (!row) return fail(row.error());
      running_.inserted = *std::move(row);
      if (Attempt valid = check_values(running_.inserted); valid.kind != Kind::Done) return valid;
    }
    if (insert.conflict != OnConflict::Fail) {
      const auto keys = unique_keys(table());
      for (std::uint32_t k = 0; k < keys.size(); ++k) {
        if (!insert.names_key(keys[k])) continue;
        const EntryAnswer answer =
            find_entry(context_, table_id(), k, keys[k], running_.inserted, {});
        if (!answer.blockers.empty()) return wait(answer.blockers);
        if (answer.taken) return resolve(insert, *answer.taken);
      }
      for (const ExclusionId e : table().exclusions.ids()) {
        if (!insert.names_index(e)) continue;
        const auto values = values_of(table().exclusions[e], running_.inserted);
        if (!values) return fail("22000", values.error().what);
        const EntryAnswer answer = find_excluded(context_, table_id(), e, *values, {});
        if (!answer.blockers.empty()) return wait(answer.blockers);
        if (answer.taken) return resolve(insert, *answer.taken);
      }
    }
    const RowId id =
        context_.storage.add_row(table_id(), std::make_shared<const Row>(running_.inserted),
                                 context_.txn, running_.result.command);
    context_.storage.row(id).versions.back().num_entries = 0;
    running_.result.writes.push_back(id);
    running_.placed = id;
    running_.next_key = 0;
    add_references(context_.app, table_id(), nullptr, running_.inserted, running_);
    return enter_keys();
  }

  // ON CONFLICT, where a row is there: as it is now.
  Attempt resolve(const Insert& insert, RowId id) {
    const auto& versions = context_.storage.row(id).versions;
    const auto latest = static_cast<std::uint32_t>(versions.size() - 1);
    const TxnNo creator = versions[latest].creator;
    const bool outside = is_outside(creator);
    if (insert.conflict == OnConflict::Nothing) {
      if (outside) return conflict(id);
      note_read(id, latest);
      return {};
    }
    if (creator == context_.txn && versions[latest].command == running_.result.command)
      return fail("21000", "ON CONFLICT DO UPDATE changes a row a second time");
    const Lock mode = lock_of_sets(table(), insert.conflict_sets);
    const RowAnswer answer = lock_row(context_, id, latest, mode, mode);
    if (answer.kind == RowAnswer::Kind::Waits) return wait(answer.blockers);
    if (outside || answer.kind == RowAnswer::Kind::Conflict) return conflict(id);
    note_read(id, latest);
    const Row from = values(id, latest);
    RowsInHand both({&from, &running_.inserted});
    if (insert.conflict_where) {
      auto applies = evaluate(*insert.conflict_where, variables_, both);
      if (!applies) return fail(applies.error());
      if (!is_true(*applies)) return {};
    }
    auto to = changed_row(from, insert.conflict_sets, both);
    if (!to) return fail(to.error());
    if (Attempt valid = check_values(*to); valid.kind != Kind::Done) return valid;
    if (changes_key(table(), from, *to)) context_.storage.lock(id, context_.txn, Lock::Update);
    return write(id, from, &*to);
  }

  const StatementContext& context_;
  Running& running_;
  const Statement& statement_;
  const std::vector<Value>& variables_;
};

}  // namespace

Attempt go_on(const StatementContext& context, Running& running) {
  return StatementRun(context, running).go_on();
}

}  // namespace isoscope::sql::server
