#include "record/versions.h"

#include <algorithm>

namespace isoscope::record {
namespace {

// The values in the order of the table's columns.
std::vector<Cell> ordered(const Table& table, LogChange::Values values) {
  std::vector<Cell> cells(table.columns.size());
  for (auto& [name, value] : values) {
    const std::size_t column = table.column(name);
    if (column != std::string::npos) cells[column] = std::move(value);
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

std::pair<std::size_t, std::size_t> RowChain::versions_of(std::size_t place) const {
  const auto begin = std::ranges::lower_bound(versions, place, {}, &Version::place);
  const auto end = std::ranges::upper_bound(versions, place, {}, &Version::place);
  return {static_cast<std::size_t>(begin - versions.begin()),
          static_cast<std::size_t>(end - versions.begin())};
}

bool RowChain::is_assigned(const Version& last, std::size_t column) const {
  for (const Version* version = &last;; --version) {
    if (version->assigned != nullptr && version->assigned->contains(column)) return true;
    if (version == versions.data() || (version - 1)->xid != last.xid) return false;
  }
}

std::vector<std::uint64_t> writers_of(
    const RowChain& chain, const std::function<bool(const Version*, const Version*)>& same) {
  std::vector<std::uint64_t> writers(chain.versions.size(), kInitialXid);
  const Version* before = nullptr;
  std::uint64_t writer = kInitialXid;
  std::size_t from = 0;
  for (const std::size_t i : chain.finals()) {
    const Version& current = chain.versions[i];
    if (!same(before, &current)) writer = current.xid;
    for (; from <= i; ++from) writers[from] = writer;
    before = &current;
  }
  return writers;
}

const std::vector<std::uint64_t>& RowChain::writers(std::size_t column) const {
  std::vector<std::uint64_t>& writers = writers_[column];
  if (!writers.empty()) return writers;
  writers = writers_of(*this, [this, column](const Version* a, const Version* b) {
    if (column == kPresence) return exists(a) == exists(b);
    return exists(a) && exists(b) && a->values[column] == b->values[column] &&
           !is_assigned(*b, column);
  });
  return writers;
}

bool TableVersions::has_untouched(const std::string& key) const {
  return std::ranges::binary_search(untouched_keys, std::hash<std::string>()(key));
}

// Of several columns, a comma within a value must not look like the one between two.
std::string escaped_part(const std::string& value) {
  std::string out;
  for (const char c : value) {
    if (c == ',' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string key_text(const Table& table, const std::vector<Cell>& values) {
  if (table.key.size() == 1) return values[table.key[0]].value_or("null");
  std::string out;
  for (const std::size_t column : table.key) {
    if (column != table.key.front()) out += ',';
    out += values[column] ? escaped_part(*values[column]) : "null";
  }
  return out;
}

Versions::Versions(const Catalog& catalog, const ServerLog& log, DecodedLog& decoded)
    : catalog_(catalog) {
  for (const auto& [name, table] : catalog.tables) {
    if (table.no_reads.empty()) tables_[name].table = &table;
  }
  start_from(log, decoded);
  for (LogTxn& txn : decoded.txns) {
    const bool is_copied = log.start().sees(txn.xid);  // its rows are in the copies
    if (!is_copied && !txn.changes.empty()) commits_.emplace(txn.xid, commits_.size() + 1);
    for (LogChange& change : txn.changes) {
      if (!is_copied) apply(txn, commit_place(txn.xid), change);
      change.values = {};
      change.old = {};
    }
  }
  for (const auto& [name, why] : decoded.troubles) {
    if (TableVersions* versions = find(name); versions != nullptr) versions->trouble = why;
  }
  for (auto& [name, versions] : tables_) {
    for (const auto& entry : versions.rows) {
      versions.touched.push_back(&entry);
      for (const std::size_t i : entry.second.finals())
        versions.by_writer[entry.second.versions[i].xid].push_back(&entry);
    }
  }
}

TableVersions* Versions::find(const std::string& full_name) {
  const auto partition = catalog_.partitions.find(full_name);
  const auto found =
      tables_.find(partition == catalog_.partitions.end() ? full_name : partition->second);
  return found == tables_.end() ? nullptr : &found->second;
}

void Versions::assign(std::uint64_t xid, const Table& table, std::uint64_t from, std::uint64_t to,
                      const std::set<std::string>& columns) {
  const auto found = tables_.find(table.full_name());
  if (found == tables_.end()) return;
  TableVersions& versions = found->second;
  const auto written = versions.by_writer.find(xid);
  if (written == versions.by_writer.end()) return;
  std::set<std::size_t> places;
  for (const std::string& name : columns) {
    const std::size_t column = table.column(name);
    if (column != std::string::npos) places.insert(column);
  }
  // Two statements without a snapshot between them share what they set: either may have.
  const auto with = [&](const std::set<std::size_t>* known) {
    std::set<std::size_t> all = places;
    if (known != nullptr) all.insert(known->begin(), known->end());
    return &*assigned_.insert(std::move(all)).first;
  };
  for (const auto* entry : written->second) {
    RowChain& chain = versions.rows.find(entry->first)->second;
    const auto [begin, end] = chain.versions_of(commit_place(xid));
    for (std::size_t i = begin; i < end; ++i) {
      Version& version = chain.versions[i];
      if (version.exists && version.lsn >= from && version.lsn < to)
        version.assigned = with(version.assigned);
    }
  }
}

const TableVersions* Versions::of(const Table& table) const {
  const auto found = tables_.find(table.full_name());
  return found == tables_.end() ? nullptr : &found->second;
}

std::size_t Versions::commit_place(std::uint64_t xid) const {
  const auto found = commits_.find(xid);
  return found == commits_.end() ? 0 : found->second;
}

// The rows that the log tells of. `emptied`: tables that were truncated, which touches all rows.
std::map<std::string, Versions::Written> Versions::written_keys(const DecodedLog& decoded,
                                                                std::set<std::string>& emptied) {
  std::map<std::string, Written> written;
  for (const LogTxn& txn : decoded.txns) {
    for (const LogChange& change : txn.changes) {
      const TableVersions* versions = find(change.table);
      if (versions == nullptr) continue;
      const Table& table = *versions->table;
      if (change.kind == LogChange::Kind::Truncate) emptied.insert(table.full_name());
      Written& keys = written[table.full_name()];
      for (const LogChange::Values* values : {&change.values, &change.old}) {
        if (has_key(table, *values)) keys.insert(key_text(table, ordered(table, *values)));
      }
    }
  }
  return written;
}

void Versions::start_from(const ServerLog& log, const DecodedLog& decoded) {
  std::set<std::string> emptied;
  const auto written = written_keys(decoded, emptied);
  for (const auto& [name, copy] : log.copies()) {
    TableVersions* versions = find(name);
    if (versions == nullptr) continue;
    const Table& table = *versions->table;
    if (copy.columns != table.columns) {
      versions->trouble = "a table whose columns changed during the run";
      continue;
    }
    // ALTER … USING gives rows other values, and no transaction of the log has them. A TRUNCATE is
    // in the log.
    if (copy.storage != table.storage && !emptied.contains(name))
      versions->trouble = "a table that was written anew";
    if (copy.is_cut) versions->trouble = "a table with too many rows to be copied";
    const auto keys = written.find(name);
    const bool is_emptied = emptied.contains(name);
    for (std::string_view rest = copy.lines; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() + 1);
      const std::string key = key_text(table, copied_cells(line, table.key, table.columns.size()));
      if (!is_emptied && (keys == written.end() || !keys->second.contains(key))) {
        versions->untouched.push_back(line);
        versions->untouched_keys.push_back(std::hash<std::string>()(key));
        continue;
      }
      std::vector<Cell> values = copied_cells(line, {}, table.columns.size());
      // The log prints booleans as words.
      for (const std::size_t column : table.booleans) {
        if (values[column]) values[column] = values[column] == "t" ? "true" : "false";
      }
      versions->rows[key].versions.push_back(
          {.values = std::move(values), .id = versions->next_id++});
    }
    std::ranges::sort(versions->untouched_keys);
  }
}

void Versions::apply(const LogTxn& txn, std::size_t place, LogChange& change) {
  TableVersions* versions = find(change.table);
  if (versions == nullptr) return;
  const Table& table = *versions->table;
  const auto gone = [&](RowChain& chain) {
    chain.versions.push_back({.xid = txn.xid, .lsn = change.lsn, .place = place, .exists = false});
  };
  if (change.kind == LogChange::Kind::Truncate) {
    if (catalog_.partitions.contains(change.table))
      versions->trouble = "a table of which a partition was emptied";
    for (auto& [key, chain] : versions->rows) {
      if (chain.versions.back().exists) gone(chain);
    }
    return;
  }
  if (!has_key(table, change.values)) {
    versions->trouble = "a change without its primary key";
    return;
  }
  Version version{.xid = txn.xid,
                  .lsn = change.lsn,
                  .place = place,
                  .values = ordered(table, std::move(change.values))};
  const std::string key = key_text(table, version.values);
  std::string old_key = key;
  if (change.kind == LogChange::Kind::Update && has_key(table, change.old))
    old_key = key_text(table, ordered(table, std::move(change.old)));
  const auto old = versions->rows.find(old_key);
  const bool is_known = old != versions->rows.end() && old->second.versions.back().exists;
  const bool may_insert =
      change.kind == LogChange::Kind::Insert || change.kind == LogChange::Kind::Put;
  if (!may_insert && !is_known) {
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
