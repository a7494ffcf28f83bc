#include "sql/server/references.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/server/row_locks.h"

namespace isoscope::sql::server {
namespace {

using Reference = Running::Reference;

bool any_null(const std::vector<Value>& values) {
  return std::ranges::any_of(values, &Value::is_null);
}

Attempt failed(std::string sqlstate, std::string message) {
  return {.kind = Attempt::Kind::Failed, .failure = {std::move(sqlstate), std::move(message)}};
}

// Looks for a row with these values in these columns and locks it FOR KEY SHARE.
struct Found {
  bool is_found = false;
  Attempt attempt = {};  // Done, or why it is not known
};
Found find_and_lock(const StatementContext& context, TableId table,
                    std::span<const ColumnId> columns, const std::vector<Value>& values,
                    const TxnNoSet& snapshot, CommandNo command) {
  const View view{snapshot, context.txn, command};
  for (const Storage::Seen& seen : context.storage.scan(table, view)) {
    if (columns_of(context.storage.values(seen), columns) != values) continue;
    const RowAnswer answer =
        lock_row(context, seen.row, seen.version, Lock::KeyShare, Lock::KeyShare);
    switch (answer.kind) {
      case RowAnswer::Kind::Locked: return {.is_found = true};
      case RowAnswer::Kind::Changed:
        if (columns_of(context.storage.values({seen.row, answer.version}), columns) == values)
          return {.is_found = true};
        break;
      case RowAnswer::Kind::Gone: break;
      case RowAnswer::Kind::Waits:
        return {.attempt = {.kind = Attempt::Kind::Waits, .blockers = answer.blockers}};
      case RowAnswer::Kind::Conflict:
        return {.attempt = failed("40001",
                                  "a row that a foreign key looks at was changed by a "
                                  "concurrent transaction")};
    }
  }
  return {};
}

Attempt check(const StatementContext& context, const Reference& reference, Running& running) {
  const Table& table = context.app.table(reference.table);
  const ForeignKey& foreign = table.foreign_keys[reference.foreign];
  const Table& target = context.app.table(foreign.target);
  const CommandNo command{running.result.command.index + 1};  // it sees what the statement did
  const bool refers = reference.kind == Reference::Kind::Refers;
  // A DELETE looks at all that is committed, even if the transaction keeps a snapshot.
  if (!running.reference_snapshot)
    running.reference_snapshot =
        refers && context.keeps_snapshot ? context.txn_snapshot : context.committed;
  const TxnNoSet& snapshot = *running.reference_snapshot;
  if (!reference.restricts) {
    const Found parent = find_and_lock(context, foreign.target, foreign.target_columns,
                                       reference.values, snapshot, command);
    if (parent.attempt.kind != Attempt::Kind::Done) return parent.attempt;
    if (parent.is_found) return {};
  }
  if (refers) {
    return failed("23503", fmt::format("a row of {} refers to a row of {} that is not there",
                                       table.name, target.name));
  }
  const Found child =
      find_and_lock(context, reference.table, foreign.columns, reference.values, snapshot, command);
  if (child.attempt.kind != Attempt::Kind::Done) return child.attempt;
  if (!child.is_found) return {};
  // Which one is the DETAIL of the server's message, and nothing that results are compared by.
  return failed("23503",
                fmt::format("a row of {} still refers to a row of {}", table.name, target.name));
}

}  // namespace

void add_references(const Application& app, TableId table, const TableRow* from, const TableRow& to,
                    Running& running) {
  const auto& keys = app.table(table).foreign_keys;
  for (std::size_t f = 0; f < keys.size(); ++f) {
    std::vector<Value> values = columns_of(to, keys[f].columns);
    if (any_null(values)) continue;
    if (from != nullptr && columns_of(*from, keys[f].columns) == values) continue;
    running.references.push_back({Reference::Kind::Refers, table, f, std::move(values)});
  }
}

void add_referrers(const Application& app, TableId table, const TableRow& from, const TableRow* to,
                   Running& running) {
  for (std::uint32_t t = 0; t < app.tables.size(); ++t) {
    const auto& keys = app.tables[t].foreign_keys;
    for (std::size_t f = 0; f < keys.size(); ++f) {
      if (keys[f].target != table) continue;
      // What ON DELETE and ON UPDATE do are statements of their own.
      const ReferenceAction action = to == nullptr ? keys[f].on_delete : keys[f].on_update;
      if (action != ReferenceAction::Refuse) continue;
      std::vector<Value> values = columns_of(from, keys[f].target_columns);
      if (any_null(values)) continue;
      if (to != nullptr && columns_of(*to, keys[f].target_columns) == values) continue;
      running.references.push_back({Reference::Kind::IsReferred, TableId{t}, f, std::move(values),
                                    to != nullptr && keys[f].restricts_update});
    }
  }
}

Attempt check_references(const StatementContext& context, Running& running) {
  while (running.next_reference < running.references.size()) {
    Attempt attempt = check(context, running.references[running.next_reference], running);
    if (attempt.kind != Attempt::Kind::Done) return attempt;
    running.reference_snapshot.reset();
    ++running.next_reference;
  }
  return {};
}

}  // namespace isoscope::sql::server
