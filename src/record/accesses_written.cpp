// What transactions wrote: rows, cells, answers to questions, and values of unique keys.
#include <tuple>
#include <utility>

#include "record/accesses_parts.h"

namespace isoscope::record {

const Accesses::Holdings& Accesses::holdings(const TableVersions& versions) const {
  const auto known = holdings_.find(&versions);
  if (known != holdings_.end()) return known->second;
  Holdings& all = holdings_[&versions];
  const Table& table = *versions.table;
  for (const auto& columns : table.unique_keys) {
    for (const auto& [row, chain] : versions.rows) {
      std::string held;
      for (const Version& version : chain.versions) {
        const std::string now = version.exists ? unique_key(table, columns, version) : "";
        if (now == held) continue;
        if (!held.empty()) all[held].push_back({version.place, version.lsn, version.xid, false});
        if (!now.empty()) all[now].push_back({version.place, version.lsn, version.xid, true});
        held = now;
      }
    }
  }
  for (auto& [key, list] : all)
    std::ranges::stable_sort(list, [](const Holding& a, const Holding& b) {
      return std::tuple(a.place, a.lsn, a.begins) < std::tuple(b.place, b.lsn, b.begins);
    });
  return all;
}

std::vector<Accesses::Written> Accesses::writes_of(std::uint64_t xid, std::size_t place) const {
  std::vector<Written> all;
  if (place == 0) return all;
  for (const auto& [name, versions] : versions_.tables())
    write_unique_keys(versions, xid, place, all);
  for (const auto& [name, versions] : versions_.tables()) {
    const auto rows = versions.by_writer.find(xid);
    if (rows == versions.by_writer.end()) continue;
    for (const auto* entry : rows->second)
      write_row(versions, entry->first, entry->second, place, all);
  }
  return all;
}

// The values of unique keys that the transaction has taken, or given free.
void Accesses::write_unique_keys(const TableVersions& versions, std::uint64_t xid,
                                 std::size_t place, std::vector<Written>& all) const {
  const Table& table = *versions.table;
  const auto rows = versions.by_writer.find(xid);
  if (table.unique_keys.empty() || rows == versions.by_writer.end()) return;
  std::set<std::string> keys;
  for (const auto* entry : rows->second) {
    const RowChain& chain = entry->second;
    const auto [begin, end] = chain.versions_of(place);
    for (std::size_t i = begin == 0 ? 0 : begin - 1; i < end; ++i) {
      for (const auto& columns : table.unique_keys) {
        if (chain.versions[i].exists) keys.insert(unique_key(table, columns, chain.versions[i]));
      }
    }
  }
  const Holdings& held = holdings(versions);
  for (const std::string& key : keys) {
    const auto list = held.find(key);
    if (list == held.end()) continue;
    const auto begin = std::ranges::lower_bound(list->second, place, {}, &Holding::place);
    const auto end = std::ranges::upper_bound(list->second, place, {}, &Holding::place);
    if (begin == end) continue;
    const Holding& last = *std::prev(end);
    const bool was_held = begin != list->second.begin() && std::prev(begin)->begins;
    if (last.begins != was_held)
      all.push_back({key, !last.begins, last.begins, "present", last.lsn});
  }
}

// Presence, cells and answers.
void Accesses::write_row(const TableVersions& versions, const std::string& row,
                         const RowChain& chain, std::size_t place,
                         std::vector<Written>& all) const {
  const auto [begin, end] = chain.versions_of(place);
  if (begin == end) return;
  const Table& table = *versions.table;
  const Version& after = chain.versions[end - 1];
  const Version* old = begin == 0 ? nullptr : &chain.versions[begin - 1];
  const bool inserts = !exists(old) && after.exists;
  const auto add = [&](std::string key, bool deletes, std::string value) {
    all.push_back({std::move(key), deletes, inserts, std::move(value), after.lsn, &table, row});
  };
  if (exists(old) != after.exists) add(presence_key(table, row), !after.exists, "present");
  for (std::size_t c = 0; after.exists && c < table.columns.size(); ++c) {
    if (!exists(old) || old->values[c] != after.values[c] || chain.is_assigned(after, c))
      add(cell_key(table, row, c), false, after.values[c].value_or("null"));
  }
  const auto asked = answers_.find(&versions);
  if (asked == answers_.end()) return;
  for (const auto& [question, answers] : asked->second) {
    if (!answers.is_same(old, &after) || answers.is_assigned(chain, after))
      add(answer_key(table, row, question), false, answers.text(&after));
  }
}

void Accesses::initial_values(const EachValue& each) const {
  for (const auto& [name, versions] : versions_.tables()) {
    for (const auto& [key, list] : holdings(versions)) {
      if (list[0].xid == kInitialXid && list[0].begins && list.size() > 1) each(key, "present");
    }
    const Table& table = *versions.table;
    const auto asked = answers_.find(&versions);
    for (const auto& [row, chain] : versions.rows) {
      if (chain.versions.empty() || chain.versions[0].xid != kInitialXid) continue;
      const Version& first = chain.versions[0];
      each(presence_key(table, row), "present");
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        each(cell_key(table, row, c), first.values[c].value_or("null"));
      if (asked == answers_.end()) continue;
      for (const auto& [question, answers] : asked->second)
        each(answer_key(table, row, question), answers.text(&first));
    }
  }
}

}  // namespace isoscope::record
