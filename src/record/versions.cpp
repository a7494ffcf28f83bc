#include "record/versions.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace isoscope::record {
std::vector<Cell> ordered_values(const Table& table, LogChange::Values values) {
  std::vector<Cell> cells(table.columns.size());
  for (auto& named : values) {
    const std::size_t column = table.column(named.first);
    if (column != std::string::npos) cells[column] = std::move(named.second);
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

std::string TableVersions::untouched_key(std::size_t i) const {
  return key_text(*table, copied_cells(untouched[i], table->key, table->columns.size()));
}

bool TableVersions::has_untouched(const std::string& key) const {
  if (!std::exchange(is_sorted, true)) std::ranges::sort(untouched_keys);
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

Versions::Versions(const Catalog& catalog, const ServerLog& log) : catalog_(catalog), log_(log) {
  for (const auto& [name, table] : catalog.tables) {
    if (!table.no_reads.empty()) continue;
    TableVersions& versions = tables_[name];
    versions.table = &table;
    // Who takes a value of a unique key reads who had it before.
    versions.keeps_all = !table.unique_keys.empty();
  }
}

const std::string& Versions::owner_of(const std::string& full_name) const {
  const auto partition = catalog_.partitions.find(full_name);
  return partition == catalog_.partitions.end() ? full_name : partition->second;
}

const TableVersions* Versions::find(const std::string& full_name) const {
  const auto found = tables_.find(owner_of(full_name));
  return found == tables_.end() ? nullptr : &found->second;
}

TableVersions* Versions::find(const std::string& full_name) {
  const auto found = tables_.find(owner_of(full_name));
  return found == tables_.end() ? nullptr : &found->second;
}

void Versions::number(DecodedLog& part, std::size_t& last) const {
  for (LogTxn& txn : part.txns) {
    const bool is_copied = log_.start().sees(txn.xid);
    txn.place = is_copied || txn.changes.empty() ? 0 : ++last;
  }
}

void Versions::touch(const DecodedLog& part) {
  for (const LogTxn& txn : part.txns) {
    for (const LogChange& change : txn.changes) {
      TableVersions* versions = find(change.table);
      if (versions == nullptr) continue;
      const Table& table = *versions->table;
      if (change.kind == LogChange::Kind::Truncate) emptied_.insert(table.full_name());
      for (const LogChange::Values* values : {&change.values, &change.old}) {
        if (!has_key(table, *values)) continue;
        RowChain& chain = versions->rows[key_text(table, ordered_values(table, *values))];
        chain.ever_exists |= values == &change.values && change.kind != LogChange::Kind::Delete;
      }
    }
  }
  for (const auto& [name, why] : part.troubles) {
    if (TableVersions* versions = find(name); versions != nullptr) versions->trouble = why;
  }
}

void Versions::keep_all(const Table& table) {
  const auto found = tables_.find(table.full_name());
  if (found != tables_.end()) found->second.keeps_all = true;
}

namespace {

// The primary key of a line of COPY. Most keys are one column without escapes, which stands in the
// line as it is; others are put together in `buffer`.
std::string_view key_of_line(const Table& table, std::string_view line, std::string& buffer) {
  if (table.key.size() == 1) {
    std::string_view rest = line;
    for (std::size_t column = 0; column < table.key[0]; ++column)
      rest.remove_prefix(std::min(rest.find('\t'), rest.size() - 1) + 1);
    const std::string_view field = rest.substr(0, rest.find('\t'));
    if (field.find('\\') == std::string_view::npos) return field;
  }
  buffer = key_text(table, copied_cells(line, table.key, table.columns.size()));
  return buffer;
}

}  // namespace

void Versions::start() {
  for (const auto& [name, copy] : log_.copies()) {
    TableVersions* versions = find(name);
    if (versions == nullptr) continue;
    const Table& table = *versions->table;
    if (copy.columns != table.columns) {
      versions->trouble = "a table whose columns changed during the run";
      continue;
    }
    if (!copy.definition.empty() && copy.definition != table.definition)
      versions->trouble = "a table that was altered during the run";
    // ALTER … USING gives rows other values, and no transaction of the log has them. A TRUNCATE is
    // in the log.
    const bool is_emptied = emptied_.contains(name);
    if (copy.storage != table.storage && !is_emptied)
      versions->trouble = "a table that was written anew";
    if (copy.is_cut) versions->trouble = "a table with too many rows to be copied";
    // Most rows were not written: their hashes tell.
    std::unordered_set<std::uint64_t> hashes;
    for (const auto& [key, chain] : versions->rows) hashes.insert(std::hash<std::string>()(key));
    std::string buffer;
    for (std::string_view rest = copy.lines; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() + 1);
      const std::string_view key = key_of_line(table, line, buffer);
      const std::uint64_t hash = std::hash<std::string_view>()(key);
      const auto written =
          hashes.contains(hash) ? versions->rows.find(std::string(key)) : versions->rows.end();
      if (!is_emptied && written == versions->rows.end()) {
        versions->untouched.push_back(line);
        versions->untouched_keys.push_back(hash);
        continue;
      }
      std::vector<Cell> values = copied_cells(line, {}, table.columns.size());
      // The log prints booleans as words.
      for (const std::size_t column : table.booleans) {
        if (values[column]) values[column] = values[column] == "t" ? "true" : "false";
      }
      RowChain& chain =
          written == versions->rows.end() ? versions->rows[std::string(key)] : written->second;
      chain.ever_exists = chain.is_there = true;
      chain.append({.values = std::move(values), .id = versions->next_id++});
    }
  }
  for (auto& [name, versions] : tables_) {
    for (const auto& entry : versions.rows) versions.touched.push_back(&entry);
  }
}

void Versions::apply_kept(DecodedLog& part) {
  for (LogTxn& txn : part.txns) {
    if (txn.place == 0) continue;
    for (LogChange& change : txn.changes) {
      TableVersions* versions = find(change.table);
      if (versions == nullptr) continue;
      check(change);
      if (versions->keeps_all) apply(txn, change);
    }
    sort_writer(txn.xid);
  }
}

void Versions::apply_others(DecodedLog& part) {
  for (LogTxn& txn : part.txns) {
    for (LogChange& change : txn.changes) {
      TableVersions* versions = find(change.table);
      if (txn.place != 0 && versions != nullptr && !versions->keeps_all) apply(txn, change);
      change.values = {};
      change.old = {};
    }
    sort_writer(txn.xid);
  }
}

void Versions::prune(std::uint64_t horizon, std::size_t place) {
  std::vector<std::pair<TableVersions*, TableVersions::Entry*>> grown;
  std::ranges::sort(grown_);
  grown_.erase(std::unique(grown_.begin(), grown_.end()), grown_.end());
  for (const auto& [versions, entry] : grown_) {
    RowChain& chain = entry->second;
    std::size_t first = 0;
    for (const std::size_t i : chain.finals()) {
      const Version& version = chain.versions[i];
      if (version.xid >= horizon || version.place >= place) break;
      first = i;
    }
    if (first > 0) chain.prune(first, versions->table->columns.size());
    if (chain.versions.size() > 1) grown.emplace_back(versions, entry);
  }
  grown_ = std::move(grown);
}

void Versions::append(TableVersions& versions, TableVersions::Entry& entry, Version version) {
  versions.by_writer[version.xid].push_back(&entry);
  entry.second.append(std::move(version));
  if (!versions.keeps_all) grown_.emplace_back(&versions, &entry);
}

// The rows of a transaction, each once, in the order of their keys.
void Versions::sort_writer(std::uint64_t xid) {
  for (auto& [name, versions] : tables_) {
    const auto found = versions.by_writer.find(xid);
    if (found == versions.by_writer.end()) continue;
    std::vector<const TableVersions::Entry*>& rows = found->second;
    std::ranges::sort(
        rows, {}, [](const TableVersions::Entry* row) -> const std::string& { return row->first; });
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  }
}

void Versions::forget_writer(std::uint64_t xid) {
  for (auto& [name, versions] : tables_) versions.by_writer.erase(xid);
}

void Versions::assign(const Assigned& assigned) {
  const auto found = tables_.find(assigned.table->full_name());
  if (found == tables_.end()) return;
  TableVersions& versions = found->second;
  const auto written = versions.by_writer.find(assigned.xid);
  if (written == versions.by_writer.end()) return;
  std::set<std::size_t> places;
  for (const std::string& name : assigned.columns) {
    const std::size_t column = assigned.table->column(name);
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
    const auto [begin, end] = chain.versions_of(assigned.place);
    for (std::size_t i = begin; i < end; ++i) {
      const Version& version = chain.versions[i];
      if (version.exists && version.lsn >= assigned.from && version.lsn < assigned.to)
        chain.assign(i, with(version.assigned));
    }
  }
}

const TableVersions* Versions::of(const Table& table) const {
  const auto found = tables_.find(table.full_name());
  return found == tables_.end() ? nullptr : &found->second;
}

// The row that a change writes, and the one that it replaces, if they have different keys.
struct Versions::Place {
  std::string key;
  std::string old_key;
  bool may_insert = false;
};

// Requires: the change has a key.
Versions::Place Versions::place_of(const LogChange& change, const TableVersions& versions) const {
  const Table& table = *versions.table;
  Place place;
  place.key = key_text(table, ordered_values(table, change.values));
  place.old_key = place.key;
  if (change.kind == LogChange::Kind::Update && has_key(table, change.old))
    place.old_key = key_text(table, ordered_values(table, change.old));
  place.may_insert = change.kind == LogChange::Kind::Insert || change.kind == LogChange::Kind::Put;
  return place;
}

// Do the changes of the log fit to each other and to the rows that were there?
void Versions::check(const LogChange& change) {
  TableVersions& versions = *find(change.table);
  if (change.kind == LogChange::Kind::Truncate) {
    if (catalog_.partitions.contains(change.table))
      versions.trouble = "a table of which a partition was emptied";
    for (auto& [key, chain] : versions.rows) chain.is_there = false;
    return;
  }
  if (!has_key(*versions.table, change.values)) {
    versions.trouble = "a change without its primary key";
    return;
  }
  const Place place = place_of(change, versions);
  RowChain& old = versions.rows[place.old_key];
  if (!place.may_insert && !old.is_there) {
    versions.trouble = "a change of a row that the recording does not know";
    return;
  }
  if (change.kind == LogChange::Kind::Insert && old.is_there)
    versions.trouble = "a table that was made anew during the run";
  old.is_there = false;
  versions.rows[place.key].is_there = change.kind != LogChange::Kind::Delete;
}

void Versions::truncate(const LogTxn& txn, const LogChange& change, TableVersions& versions) {
  for (auto& entry : versions.rows) {
    RowChain& chain = entry.second;
    if (!chain.versions.empty() && chain.versions.back().exists)
      append(versions, entry,
             {.xid = txn.xid, .lsn = change.lsn, .place = txn.place, .exists = false});
  }
}

void Versions::apply(const LogTxn& txn, LogChange& change) {
  TableVersions& versions = *find(change.table);
  const Table& table = *versions.table;
  if (change.kind == LogChange::Kind::Truncate) return truncate(txn, change, versions);
  if (!has_key(table, change.values)) return;
  const Place place = place_of(change, versions);
  const auto old = versions.rows.find(place.old_key);
  const bool is_known = old != versions.rows.end() && !old->second.versions.empty() &&
                        old->second.versions.back().exists;
  if (!place.may_insert && !is_known) return;
  const Version gone{.xid = txn.xid, .lsn = change.lsn, .place = txn.place, .exists = false};
  if (change.kind == LogChange::Kind::Delete) return append(versions, *old, gone);
  Version version{.xid = txn.xid,
                  .lsn = change.lsn,
                  .place = txn.place,
                  .values = ordered_values(table, std::move(change.values))};
  for (const std::string& name : change.kept) {
    const std::size_t column = table.column(name);
    if (column != std::string::npos && is_known)
      version.values[column] = old->second.versions.back().values[column];
  }
  if (place.old_key != place.key) append(versions, *old, gone);
  version.id = versions.next_id++;
  append(versions, *versions.rows.find(place.key), std::move(version));
}

}  // namespace isoscope::record
