#include "sql/server/state_digest.h"

#include <algorithm>
#include <numeric>

namespace isoscope::sql::server {
namespace {

void add_set(Digest& digest, const TxnNoSet& set) {
  std::size_t size = set.words().size();
  while (size > 0 && set.words()[size - 1] == 0) --size;
  digest.add(size);
  for (std::size_t i = 0; i < size; ++i) digest.add(set.words()[i]);
}

// Rows of a table by the order of their first versions: places in storage depend on rows that were
// taken away.
std::vector<std::uint32_t> ranks_of(const StoredTable& table) {
  if (table.is_by_key) {
    std::vector<std::uint32_t> places(table.rows.size());
    std::iota(places.begin(), places.end(), 0U);
    return places;
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t r = 0; r < table.rows.size(); ++r) {
    if (!table.rows[r].versions.empty()) order.push_back(r);
  }
  std::ranges::sort(order, {},
                    [&](std::uint32_t r) { return table.rows[r].versions.front().position; });
  std::vector<std::uint32_t> ranks(table.rows.size(), UINT32_MAX);
  for (std::uint32_t i = 0; i < order.size(); ++i) ranks[order[i]] = i;
  return ranks;
}

// What was done to keys. One that was only read adds nothing, like an unused one.
void add_keys(Digest& digest, const StoredTable& table) {
  for (std::uint32_t r = 0; r < table.rows.size(); ++r) {
    const StoredRow& row = table.rows[r];
    if (row.versions.size() == 1 && row.locks.empty()) continue;
    digest.add(r);
    digest.add(row.versions.size());
    for (const Version& version : row.versions) {
      digest.add(version.creator.index);
      digest.add(version.command.index);
      digest.add_value(version.values->back());
    }
    for (const HeldLock& lock : row.locks) {
      digest.add(lock.txn.index);
      digest.add(static_cast<std::uint64_t>(lock.mode));
    }
  }
  digest.add(UINT32_MAX);
}

using Ranks = ById<TableId, std::vector<std::uint32_t>>;

void add_table(Digest& digest, const StoredTable& table, const std::vector<std::uint32_t>& ranks) {
  struct Placed {
    std::uint32_t row;
    const Version* version;
  };
  std::vector<Placed> placed;
  for (std::uint32_t r = 0; r < table.rows.size(); ++r) {
    for (const Version& version : table.rows[r].versions) placed.push_back({r, &version});
  }
  std::ranges::sort(placed, {}, [](const Placed& p) { return p.version->position; });
  digest.add(placed.size());
  for (const auto& [row, version] : placed) {
    digest.add(ranks[row]);
    digest.add(version->creator.index);
    digest.add(version->command.index);
    digest.add(version->num_entries);
    digest.add((version->is_exclusive ? 2 : 0) + (version->is_deleted() ? 1 : 0));
    if (!version->is_deleted()) digest.add_values(version->values->entries());
  }
  for (std::uint32_t r = 0; r < table.rows.size(); ++r) {
    if (table.rows[r].locks.empty()) continue;
    digest.add(ranks[r]);
    for (const HeldLock& lock : table.rows[r].locks) {
      digest.add(lock.txn.index);
      digest.add(static_cast<std::uint64_t>(lock.mode));
    }
  }
  for (const std::int64_t fresh : table.next_fresh) digest.add(static_cast<std::uint64_t>(fresh));
}

void add_row(Digest& digest, const Ranks& ranks, RowId id) {
  digest.add(id.table.index);
  digest.add(ranks[id.table][id.row]);
}

void add_running(Digest& digest, const Ranks& ranks, const Running& running) {
  digest.add(running.result.statement->number);
  digest.add((running.has_begun ? 1 : 0) + (running.has_rows ? 2 : 0));
  add_set(digest, running.result.snapshot);
  digest.add(running.next);
  digest.add(running.skip);
  for (const auto& tuple : running.candidates) {
    for (const Storage::Seen& seen : tuple) {
      add_row(digest, ranks, seen.row);
      digest.add(seen.version);
    }
  }
  if (running.placed) add_row(digest, ranks, *running.placed);
  digest.add(running.next_key);
  digest.add_values(running.inserted.entries());
  digest.add(running.next_reference);
  if (running.reference_snapshot) add_set(digest, *running.reference_snapshot);
  digest.add(running.result.num_rows);
  for (const auto& row : running.result.rows) digest.add_values(row);
  for (const ReadVersion& read : running.result.reads) {
    add_row(digest, ranks, read.row);
    digest.add(read.version);
  }
  for (const std::int64_t number : running.keys.at) digest.add(static_cast<std::uint64_t>(number));
  for (const auto& [row, value] : running.keys.writes) {
    add_row(digest, ranks, row);
    digest.add(static_cast<std::uint64_t>(value));
  }
  for (const auto& [row, mode] : running.keys.taken) {
    add_row(digest, ranks, row);
    digest.add(static_cast<std::uint64_t>(mode));
  }
}

}  // namespace

Digest digest_of(const Machine& machine, const State& state) {
  Digest digest;
  Ranks ranks;
  for (const TableId id : state.storage.tables()) {
    const StoredTable& table = state.storage.table(id);
    ranks.push_back(ranks_of(table));
    if (table.is_by_key) {
      add_keys(digest, table);
    } else {
      add_table(digest, table, ranks.back());
    }
  }
  for (const std::int64_t next : state.storage.next_draws())
    digest.add(static_cast<std::uint64_t>(next));
  state.storage.advisory().add_to(digest);
  state.storage.index().add_to(digest);
  add_set(digest, state.committed);
  add_set(digest, state.running);
  for (const TxnNo txn : state.of_calls()) {
    const TxnState& t = state.txns[txn];
    digest.add(static_cast<std::uint64_t>(t.status));
    if (t.status == TxnStatus::Waiting) continue;
    // A snapshot that is kept says what later statements see, and what a dependency is.
    const PgLevel level = machine.level(txn);
    if (level == PgLevel::Serializable ||
        (level == PgLevel::RepeatableRead && t.status == TxnStatus::Running))
      add_set(digest, t.snapshot);
    digest.add(t.command.index);
    digest.add(t.log.size());
    for (const auto& result : t.log) digest.add(result->digest);
    digest.add_text(t.failure.sqlstate);
    digest.add_text(t.failure.message);
  }
  for (const SessionState& session : state.sessions) {
    digest.add(session.call.index);
    if (!session.running) continue;
    add_running(digest, ranks, *session.running);
    for (const TxnNo blocker : session.blockers) digest.add(blocker.index);
  }
  digest.add(state.broken);
  return digest;
}

Digest history_of(const State& state) {
  Digest digest;
  for (const TxnNo txn : state.of_calls()) {
    const TxnState& t = state.txns[txn];
    digest.add(static_cast<std::uint64_t>(t.status));
    digest.add_text(t.failure.sqlstate);
    digest.add_text(t.failure.message);
    digest.add(t.log.size());
    for (const auto& result : t.log) digest.add(result->digest);
  }
  return digest;
}

Digest digest_of(const Application& app, const Storage& storage, const StatementResult& result) {
  Digest digest;
  digest.add(result.statement->number);
  digest.add(result.num_rows);
  if (result.failure) digest.add_text(result.failure->sqlstate);
  for (const auto& row : result.rows) digest.add_values(row);
  digest.add(result.reads.size());
  for (const ReadVersion& read : result.reads) {
    const Version& version = storage.row(read.row).versions[read.version];
    digest.add(read.row.table.index);
    digest.add(read.creator.index);
    digest.add(version.creator == kInitialTxn ? 0 : version.command.index);
    if (!version.is_deleted())
      digest.add_values(columns_of(*version.values, app.table(read.row.table).primary_key));
  }
  return digest;
}

}  // namespace isoscope::sql::server
