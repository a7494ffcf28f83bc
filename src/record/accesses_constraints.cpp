// What INSERT, UPDATE and DELETE read because of keys: primary, unique and foreign.
#include "record/accesses_parts.h"

namespace isoscope::record {

std::string Accesses::read_inserted(const Execution& run, std::vector<Access>& reads,
                                    std::set<std::string>& changed) {
  std::size_t counted = 0;
  std::set<std::size_t> columns;
  if (!columns_of(*run.shape, *run.table->table, columns))
    return "a column that the table does not have";
  for (const auto* entry : written_by(*run.table, run)) {
    const auto& [row, chain] = *entry;
    const auto [begin, end] = own_versions(chain, run);
    for (std::size_t i = begin; i < end; ++i) {
      const Version& version = chain.versions[i];
      if (version.lsn < run.from || version.lsn >= run.to) continue;
      const bool was_there = i > 0 && chain.versions[i - 1].exists;
      if (!version.exists) continue;
      if (was_there && run.shape->conflict != Shape::Conflict::IsUpdated) continue;
      ++counted;
      changed.insert(row);
      // It reads that there is no such row, or what is there.
      const bool is_own = i > 0 && chain.versions[i - 1].xid == run.own;
      if (was_there && !is_own) {
        for (const std::size_t column : columns)
          reads.push_back({cell_key(*run.table->table, row, column), writer(chain, i - 1, column)});
      }
      if (!is_own)
        reads.push_back({presence_key(*run.table->table, row),
                         writer(chain, i == 0 ? kNone : i - 1, RowChain::kPresence)});
    }
    if (!changed.contains(row)) continue;
    if (auto why = read_constraints(run, row, chain, reads); !why.empty()) return why;
  }
  if (counted == 0 && told_rows(run.statement->tag) == 0 &&
      run.shape->conflict == Shape::Conflict::IsIgnored)
    return read_ignored(run, reads);
  if (counted != told_rows(run.statement->tag))
    return "the number of rows that the server reported is not the one in the log";
  return {};
}

// A foreign key reads that its parent is there, and keeps it from being deleted.
// `is_last`: the transaction does not change the row again.
std::string Accesses::read_parents(const Execution& run, const Version* before,
                                   const Version& version, bool is_last,
                                   std::vector<Access>& reads) {
  for (const ForeignKey& key : run.table->table->foreign_keys) {
    if (key.is_deferred && !is_last) continue;  // COMMIT looks at what there is then
    const auto is_same = [&](std::size_t column) {
      return exists(before) && before->values[column] == version.values[column];
    };
    if (std::ranges::all_of(key.columns, is_same)) continue;
    std::string row;
    bool is_null = false;
    for (const std::size_t column : key.columns) {
      is_null |= !version.values[column];
      row += (row.empty() ? "" : ",") + version.values[column].value_or("");
    }
    if (is_null) continue;
    const auto parent = versions_.tables().find(key.parent);
    if (!key.is_primary || parent == versions_.tables().end())
      return "a foreign key to something else than a primary key";
    const std::string parent_key = presence_key(*parent->second.table, row);
    const auto lock = [&] {
      const bool is_held = !reads.empty() && reads.back().kind == RunEvent::Kind::LockKey &&
                           reads.back().key == parent_key;  // by a row of the same statement
      if (is_held) return;
      reads.push_back({parent_key, kInitialXid, RunEvent::Kind::LockKey,
                       key.is_deferred ? Access::Phase::AtCommit : Access::Phase::Within});
    };
    const auto found = parent->second.rows.find(row);
    if (found == parent->second.rows.end()) {
      if (!parent->second.has_untouched(row))
        return "a parent row that the recording does not know";
      lock();  // not written, but FOR UPDATE of it excludes who refers to it
      continue;
    }
    const RowChain& chain = found->second;
    const std::size_t current = current_version(chain, kNone, run);
    if (current == kUnclear) return "a parent row that others changed";
    if (current == kNone || !chain.versions[current].exists) continue;  // its own parent
    const std::uint64_t from = writer(chain, current, RowChain::kPresence);
    const bool is_newer =
        run.message != nullptr && from != kInitialXid && !run.message->snapshot.sees(from);
    const Access::Phase phase = key.is_deferred ? Access::Phase::AtCommit
                                : is_newer      ? Access::Phase::After
                                                : Access::Phase::Within;
    reads.push_back({parent_key, from, RunEvent::Kind::Read, phase});
    lock();
  }
  return {};
}

std::string Accesses::Reference::question() const {
  std::string text = "where ";
  for (std::size_t i = 0; i < columns.size(); ++i)
    text += fmt::format("{}{} = {}", i == 0 ? "" : " and ", children->table->columns[columns[i]],
                        values[i].value_or("null"));
  return text;
}

bool Accesses::Reference::matches(const Version& version) const {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!version.exists || version.values[columns[i]] != values[i]) return false;
  }
  return true;
}

// `deleted`: the values of the row, by the columns of its table; those of its key are enough.
std::optional<Accesses::Reference> Accesses::reference(const Table& table, const ChildTable& child,
                                                       const std::vector<Cell>& deleted) const {
  const auto found = versions_.tables().find(child.name);
  if (!child.is_primary || found == versions_.tables().end()) return std::nullopt;
  Reference reference{.children = &found->second, .columns = child.columns, .values = {}};
  for (std::size_t i = 0; i < child.columns.size(); ++i)
    reference.values.push_back(deleted[table.key[i]]);
  return reference;
}

// Who deletes a row reads that no other row refers to it, or which ones do.
std::string Accesses::read_children(const Execution& run, const Version& deleted,
                                    std::vector<Access>& reads) {
  const Table& table = *run.table->table;
  for (const ChildTable& child : table.children) {
    const auto referring = reference(table, child, deleted.values);
    if (!referring || !referring->children->trouble.empty())
      return "DELETE of rows that others refer to";
    const TableVersions& children = *referring->children;
    for (const auto* entry : written_by(children, run)) {
      if (changed_by(entry->second, run) && !children.table->children.empty())
        return "DELETE that goes on to rows that others refer to";
    }
    Question asked{.table = *children.table, .text = referring->question()};
    if (!find_answers(children, asked)) return kUnannounced;
    asked.matching = &asked.answers->matching;
    for (const auto* entry : children.touched) {
      const auto& [row, chain] = *entry;
      if (!asked.ever_matches(chain)) continue;
      // What earlier statements of its transaction made of the row, no other one has to tell.
      const auto [own_begin, own_end] = own_versions(chain, run);
      if (own_begin != own_end && (child.is_deferred || chain.versions[own_begin].lsn < run.from))
        continue;
      const std::size_t current = current_version(chain, kNone, run);
      if (current == kUnclear) return "rows that refer to it, changed by others";
      const std::size_t searched = reads.size();
      asked.search(row, chain, current, reads);
      // Rows that go with it (CASCADE) are read as they are then, and written by this very
      // statement.
      for (std::size_t i = searched; i < reads.size() && !changed_by(chain, run); ++i) {
        if (child.is_deferred) {
          reads[i].phase = Access::Phase::AtCommit;
        } else if (run.message != nullptr && reads[i].writer != kInitialXid &&
                   !run.message->snapshot.sees(reads[i].writer))
          reads[i].phase = Access::Phase::After;
      }
    }
  }
  return {};
}

std::string Accesses::read_constraints(const Execution& run, const std::string& row,
                                       const RowChain& chain, std::vector<Access>& reads) {
  const auto [begin, end] = own_versions(chain, run);
  const Version* before = begin == 0 ? nullptr : &chain.versions[begin - 1];
  for (std::size_t i = begin; i < end; ++i) {
    const Version& version = chain.versions[i];
    if (version.lsn >= run.from && version.lsn < run.to) {
      if (version.exists) {
        // Who gives a row another key reads that the key is free.
        if (run.shape->kind == StatementKind::Update && !exists(before) &&
            (before == nullptr || before->xid != run.own))
          reads.push_back({presence_key(*run.table->table, row),
                           writer(chain, i == 0 ? kNone : i - 1, RowChain::kPresence)});
        if (auto why = read_parents(run, before, version, i + 1 == end, reads); !why.empty())
          return why;
        read_unique(run, before, version, reads);
      } else if (exists(before)) {
        if (auto why = read_children(run, *before, reads); !why.empty()) return why;
      }
    }
    before = &version;
  }
  return {};
}

// Who takes a value of a unique key reads that no row has it.
void Accesses::read_unique(const Execution& run, const Version* before, const Version& version,
                           std::vector<Access>& reads) {
  const Table& table = *run.table->table;
  for (const auto& columns : table.unique_keys) {
    const std::string key = unique_key(table, columns, version);
    if (key.empty() || (exists(before) && unique_key(table, columns, *before) == key)) continue;
    // Who takes a value and gives it back, or the reverse, has not written it: `settled` wrote what
    // there was before the transaction of the last holding, and `was_held` is whether it was taken.
    std::uint64_t writer = kInitialXid;
    std::uint64_t settled = kInitialXid;
    bool was_held = false;
    bool is_own = false;
    const Holding* last = nullptr;
    for (const Holding& holding : holdings(*run.table).at(key)) {
      if (holding.xid == run.own && holding.lsn >= version.lsn) break;
      is_own = holding.xid == run.own;
      if (last != nullptr && last->xid != holding.xid) {
        settled = writer;
        was_held = last->begins;
      }
      if (!is_own) writer = holding.begins != was_held ? holding.xid : settled;
      last = &holding;
    }
    if (!is_own) reads.push_back({key, writer});
  }
}

std::optional<std::string> Accesses::inserted_key(const Execution& run) {
  const Table& table = *run.table->table;
  if (run.shape->values.empty() || !run.shape->functions.empty()) return std::nullopt;
  auto inserted = matches_.values(
      std::string(Constants(*run.shape, run.statement->sql).text(run.shape->values)),
      *run.statement);
  if (!inserted) return std::nullopt;
  std::vector<Cell> values(table.columns.size());
  const auto& named = run.shape->insert_columns;
  for (std::size_t i = 0; i < inserted->size() && (named.empty() || i < named.size()); ++i) {
    const std::size_t column = named.empty() ? i : table.column(named[i]);
    if (column < values.size()) values[column] = (*inserted)[i];
  }
  // A column that is not named gets a default, which the text does not tell.
  for (const std::size_t column : table.key) {
    if (!values[column]) return std::nullopt;
  }
  return key_text(table, values);
}

// It read that there is such a row, committed, perhaps after its snapshot.
std::string Accesses::read_refused_insert(const Execution& run, std::vector<Access>& reads) {
  const Table& table = *run.table->table;
  std::string why = "it failed with " + run.statement->error;
  const bool is_plain = std::ranges::all_of(
      table.key, [&](std::size_t column) { return table.integers.contains(column); });
  if (!is_plain || !table.unique_keys.empty() || run.message == nullptr) return why;
  const auto row = inserted_key(run);
  if (!row) return why;
  if (run.lost != nullptr && run.lost->contains(*row)) return {};  // its own
  const auto found = run.table->rows.find(*row);
  if (found == run.table->rows.end()) return run.table->has_untouched(*row) ? "" : why;
  const RowChain& chain = found->second;
  const std::size_t seen = seen_version(chain, run);
  if (seen != kNone && run.own != 0 && chain.versions[seen].xid == run.own) return {};
  // Everything that was there between its snapshot and its end may be what refused it.
  std::set<std::uint64_t> from;
  for (std::size_t i = seen == kNone ? 0 : seen; i < chain.versions.size(); ++i) {
    const Version& version = chain.versions[i];
    if (i != seen && run.is_later(version)) break;
    if (version.exists) from.insert(writer(chain, i, RowChain::kPresence));
  }
  if (from.size() != 1) return why;
  const bool is_newer = *from.begin() != kInitialXid && !run.message->snapshot.sees(*from.begin());
  if (is_newer && run.level != sql::server::PgLevel::ReadCommitted) return why;
  reads.push_back({presence_key(table, *row), *from.begin(), RunEvent::Kind::Read,
                   is_newer ? Access::Phase::After : Access::Phase::Within});
  return {};
}

// It read that there is no such row, and kept others from inserting one until its end; or, with ON
// CONFLICT, what is there.
std::string Accesses::read_undone_insert(const Execution& run, std::vector<Access>& reads,
                                         std::set<std::string>& changed) {
  constexpr const char* kUndone = "an INSERT that was rolled back";
  const Table& table = *run.table->table;
  const bool is_ignored =
      run.shape->conflict == Shape::Conflict::IsIgnored && told_rows(run.statement->tag) == 0;
  if (!table.unique_keys.empty() || !table.foreign_keys.empty() || run.message == nullptr ||
      (told_rows(run.statement->tag) != 1 && !is_ignored))
    return kUndone;
  // Of other types it is not known how the server prints what it made of the text.
  for (const std::size_t column : table.key) {
    if (!table.integers.contains(column)) return kUndone;
  }
  const auto row = inserted_key(run);
  if (!row) return kUndone;
  const bool is_own = run.lost != nullptr && run.lost->contains(*row);
  if (is_ignored) return is_own ? std::string() : read_ignored(run, reads);
  const auto found = run.table->rows.find(*row);
  if (found != run.table->rows.end() && !is_own) {
    const RowChain& chain = found->second;
    const std::size_t seen = seen_version(chain, run);
    if (seen != kNone && run.own != 0 && chain.versions[seen].xid == run.own) return kUndone;
    const std::size_t current = current_version(chain, seen, run);
    const bool is_there = current != kUnclear && current != kNone && chain.versions[current].exists;
    std::set<std::size_t> columns;
    if (current == kUnclear || (is_there && run.shape->conflict != Shape::Conflict::IsUpdated) ||
        !columns_of(*run.shape, table, columns))
      return kUndone;
    reads.push_back({presence_key(table, *row), writer(chain, current, RowChain::kPresence)});
    for (const std::size_t column : columns) {
      if (is_there)
        reads.push_back({cell_key(table, *row, column), writer(chain, current, column)});
    }
  }
  changed.insert(*row);
  return {};
}

// ON CONFLICT DO NOTHING, and nothing was done: the row of its key is there.
std::string Accesses::read_ignored(const Execution& run, std::vector<Access>& reads) {
  const Table& table = *run.table->table;
  const auto key = inserted_key(run);
  if (!key || run.message == nullptr) return "ON CONFLICT DO NOTHING that did nothing";
  const std::string& row = *key;
  const auto found = run.table->rows.find(row);
  if (found == run.table->rows.end())
    return run.table->has_untouched(row) ? ""
                                         : "ON CONFLICT on something else than the primary key";
  const std::size_t seen = seen_version(found->second, run);
  if (seen == kNone || !found->second.versions[seen].exists)
    return "ON CONFLICT with a row that its snapshot does not see";
  if (run.own == 0 || found->second.versions[seen].xid != run.own)
    reads.push_back({presence_key(table, row), writer(found->second, seen, RowChain::kPresence)});
  return {};
}

}  // namespace isoscope::record
