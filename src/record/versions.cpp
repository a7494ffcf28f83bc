#include "record/versions.h"

namespace isoscope::record {
namespace {

// The values in the order of the table's columns.
std::vector<Cell> ordered(const Table& table, const LogChange::Values& values) {
  std::vector<Cell> cells(table.columns.size());
  for (const auto& [name, value] : values) {
    const std::size_t column = table.column(name);
    if (column != std::string::npos) cells[column] = value;
  }
  return cells;
}

bool has_key(const Table& table, const LogChange::Values& values) {
  for (const std::size_t column : table.key) {
    bool found = false;
    for (const auto& [name, value] : values) found |= name == table.columns[column];
    if (!found) return false;
  }
  return true;
}

}  // namespace

std::vector<std::size_t> RowChain::finals() const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (i + 1 == versions.size() || versions[i + 1].xid != versions[i].xid) result.push_back(i);
  }
  return result;
}

std::string key_text(const Table& table, const std::vector<Cell>& values) {
  std::string out;
  for (const std::size_t column : table.key)
    out += (out.empty() ? "" : ",") + values[column].value_or("null");
  return out;
}

Versions::Versions(const Catalog& catalog, const ServerLog& log, const DecodedLog& decoded)
    : catalog_(catalog) {
  for (const auto& [name, table] : catalog.tables) {
    if (table.no_reads.empty()) tables_[name].table = &table;
  }
  start_from(log);
  for (const LogTxn& txn : decoded.txns) {
    if (log.start().sees(txn.xid)) continue;  // its rows are in the copies
    if (!txn.changes.empty()) commits_.emplace(txn.xid, commits_.size() + 1);
    for (const LogChange& change : txn.changes) apply(txn, change);
  }
  for (auto& [name, versions] : tables_) {
    versions.is_untouched.resize(versions.next_id);
    for (const auto& entry : versions.rows) {
      if (entry.second.is_touched()) {
        versions.touched.push_back(&entry);
      } else {
        versions.is_untouched[entry.second.versions[0].id] = true;
      }
    }
  }
}

TableVersions* Versions::find(const std::string& full_name) {
  const auto found = tables_.find(full_name);
  return found == tables_.end() ? nullptr : &found->second;
}

const TableVersions* Versions::of(const Table& table) const {
  const auto found = tables_.find(table.full_name());
  return found == tables_.end() ? nullptr : &found->second;
}

std::size_t Versions::commit_place(std::uint64_t xid) const {
  const auto found = commits_.find(xid);
  return found == commits_.end() ? 0 : found->second;
}

void Versions::start_from(const ServerLog& log) {
  for (const auto& [name, copy] : log.copies()) {
    TableVersions* versions = find(name);
    if (versions == nullptr) continue;
    if (copy.columns != versions->table->columns) {
      versions->trouble = "a table whose columns changed during the run";
      continue;
    }
    if (copy.is_cut) versions->trouble = "a table with too many rows to be copied";
    for (const Row& row : copy.rows)
      versions->rows[key_text(*versions->table, row)].versions.push_back(
          {.values = row, .id = versions->next_id++});
  }
}

void Versions::apply(const LogTxn& txn, const LogChange& change) {
  TableVersions* versions = find(change.table);
  if (versions == nullptr) return;
  const Table& table = *versions->table;
  const auto gone = [&](RowChain& chain) {
    chain.versions.push_back({.xid = txn.xid, .lsn = change.lsn, .exists = false});
  };
  if (change.kind == LogChange::Kind::Truncate) {
    for (auto& [key, chain] : versions->rows) {
      if (chain.versions.back().exists) gone(chain);
    }
    return;
  }
  if (!has_key(table, change.values)) {
    versions->trouble = "a change without its primary key";
    return;
  }
  Version version{.xid = txn.xid, .lsn = change.lsn, .values = ordered(table, change.values)};
  const std::string key = key_text(table, version.values);
  std::string old_key = key;
  if (change.kind == LogChange::Kind::Update && has_key(table, change.old))
    old_key = key_text(table, ordered(table, change.old));
  const auto old = versions->rows.find(old_key);
  const bool is_known = old != versions->rows.end() && old->second.versions.back().exists;
  if (change.kind != LogChange::Kind::Insert && !is_known) {
    versions->trouble = "a change of a row that the recording does not know";
    return;
  }
  if (change.kind == LogChange::Kind::Insert && is_known)
    versions->trouble = "a table that was made anew during the run";
  if (change.kind == LogChange::Kind::Delete) return gone(old->second);
  for (const std::string& name : change.kept) {
    const std::size_t column = table.column(name);
    if (column != std::string::npos && is_known)
      version.values[column] = old->second.versions.back().values[column];
  }
  if (old_key != key) gone(old->second);
  version.id = versions->next_id++;
  versions->rows[key].versions.push_back(std::move(version));
}

}  // namespace isoscope::record
