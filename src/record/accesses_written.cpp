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
        const std::size_t place =
            version.xid == kInitialXid ? 0 : versions_.commit_place(version.xid);
        if (!held.empty()) all[held].push_back({place, version.lsn, version.xid, false});
        if (!now.empty()) all[now].push_back({place, version.lsn, version.xid, true});
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

Accesses::AllWritten Accesses::writes() const {
  AllWritten all;
  for (const auto& [name, versions] : versions_.tables()) write_unique_keys(versions, all);
  for (const auto& [name, versions] : versions_.tables()) {
    for (const auto& [row, chain] : versions.rows) write_row(versions, row, chain, all);
  }
  return all;
}

void Accesses::write_unique_keys(const TableVersions& versions, AllWritten& all) const {
  for (const auto& [key, list] : holdings(versions)) {
    bool was_held = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool is_last = i + 1 == list.size() || list[i + 1].xid != list[i].xid;
      if (!is_last) continue;
      const bool is_held = list[i].begins;
      if (list[i].xid != kInitialXid && is_held != was_held)
        all[list[i].xid].push_back({key, !is_held, is_held, "present", list[i].lsn});
      was_held = is_held;
    }
  }
}

// Presence, cells and answers, by each transaction that wrote the row.
void Accesses::write_row(const TableVersions& versions, const std::string& row,
                         const RowChain& chain, AllWritten& all) const {
  const Table& table = *versions.table;
  const auto asked = answers_.find(&versions);
  const Version* before = nullptr;
  for (const std::size_t i : chain.finals()) {
    const Version& after = chain.versions[i];
    const Version* old = std::exchange(before, &after);
    if (after.xid == kInitialXid) continue;
    std::vector<Written>& written = all[after.xid];
    const bool inserts = !exists(old) && after.exists;
    if (exists(old) != after.exists)
      written.push_back({presence_key(table, row), !after.exists, inserts, "present", after.lsn});
    for (std::size_t c = 0; after.exists && c < table.columns.size(); ++c) {
      if (!exists(old) || old->values[c] != after.values[c] || chain.is_assigned(after, c))
        written.push_back(
            {cell_key(table, row, c), false, inserts, after.values[c].value_or("null"), after.lsn});
    }
    if (asked == answers_.end()) continue;
    for (const auto& [question, answers] : asked->second) {
      const std::string& now = answers.answer(&after);
      if (answers.answer(old) != now || answers.is_assigned(chain, after))
        written.push_back({answer_key(table, row, question), false, inserts,
                           now.empty() ? "no" : now, after.lsn});
    }
  }
}

std::map<std::string, std::string> Accesses::initial_values() const {
  std::map<std::string, std::string> initial;
  for (const auto& [name, versions] : versions_.tables()) {
    for (const auto& [key, list] : holdings(versions)) {
      if (list[0].xid == kInitialXid && list[0].begins && list.size() > 1) initial[key] = "present";
    }
    const Table& table = *versions.table;
    const auto asked = answers_.find(&versions);
    for (const auto& [row, chain] : versions.rows) {
      const Version& first = chain.versions[0];
      if (first.xid != kInitialXid) continue;
      initial[presence_key(table, row)] = "present";
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        initial[cell_key(table, row, c)] = first.values[c].value_or("null");
      if (asked == answers_.end()) continue;
      for (const auto& [question, answers] : asked->second)
        initial[answer_key(table, row, question)] =
            answers.of[first.id].empty() ? "no" : answers.of[first.id];
    }
  }
  return initial;
}

}  // namespace isoscope::record
