#pragma once
// What the files of Accesses share: versions of rows, names of keys, and questions.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "record/accesses.h"

namespace isoscope::record {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);
// Transactions would lack what they wrote for it.
inline constexpr const char* kUnannounced = "a question that was not foreseen";

// The number at the end of a command tag: "UPDATE 3", "INSERT 0 2".
inline std::size_t told_rows(const std::string& tag) {
  const std::size_t blank = tag.rfind(' ');
  std::size_t rows = kNone;
  if (blank != std::string::npos)
    std::from_chars(tag.data() + blank + 1, tag.data() + tag.size(), rows);
  return rows;
}

// The versions that the statement's own transaction wrote.
inline std::pair<std::size_t, std::size_t> own_versions(const RowChain& chain,
                                                        const Execution& run) {
  return run.own_place == 0 ? std::pair<std::size_t, std::size_t>{0, 0}
                            : chain.versions_of(run.own_place);
}

// The last version that a snapshot of the statement's transaction shows, of those that others wrote
// before it wrote the row itself. Who sees a version also sees those before it.
inline std::size_t seen_by(const RowChain& chain, const Snapshot& snapshot, const Execution& run) {
  const auto [own_begin, own_end] = own_versions(chain, run);
  const auto begin = chain.versions.begin();
  const auto end =
      own_begin == own_end ? chain.versions.end() : begin + static_cast<std::ptrdiff_t>(own_begin);
  const auto unseen = std::partition_point(begin, end, [&](const Version& version) {
    return version.xid == kInitialXid || snapshot.sees(version.xid);
  });
  return unseen == begin ? kNone : static_cast<std::size_t>(unseen - begin) - 1;
}

// The last version, by position, that the statement's snapshot shows; kNone if there is no row.
// Versions after an own one are of later commits.
inline std::size_t seen_version(const RowChain& chain, const Execution& run) {
  const auto [own_begin, own_end] = own_versions(chain, run);
  for (std::size_t i = own_end; i > own_begin; --i) {
    if (chain.versions[i - 1].lsn < run.message->lsn) return i - 1;
  }
  return seen_by(chain, run.message->snapshot, run);
}

// Does the statement see two rows of one key? From REPEATABLE READ on, a key that was freed after
// the snapshot can be taken, and the old row is there still.
inline bool sees_two_rows(const RowChain& chain, const Execution& run) {
  const auto [own_begin, own_end] = own_versions(chain, run);
  if (own_begin == own_end || chain.versions[own_begin].lsn >= run.message->lsn) return false;
  const std::size_t other = seen_by(chain, run.message->snapshot, run);
  return other != kNone && other + 1 < own_begin && chain.versions[other].exists;
}

// Who gave a row what it has in the version at `i`; kNone is the row before its first version.
inline std::uint64_t writer(const RowChain& chain, std::size_t i, std::size_t column) {
  return i == kNone ? kInitialXid : chain.writer(i, column);
}

inline std::string presence_key(const Table& table, const std::string& row) {
  return fmt::format("{}[{}]", table.label(), row);
}
inline std::string cell_key(const Table& table, const std::string& row, std::size_t column) {
  return fmt::format("{}[{}].{}", table.label(), row, table.columns[column]);
}
inline std::string answer_key(const Table& table, const std::string& row,
                              const std::string& question) {
  return fmt::format("{}[{}]{{{}}}", table.label(), row, question);
}

// The columns that a statement shows or computes with, by position; none if one is unknown.
inline bool columns_of(const Shape& shape, const Table& table, std::set<std::size_t>& columns) {
  for (const std::string& name : shape.used_columns) {
    const std::size_t column = table.column(name);
    if (column != std::string::npos) {
      columns.insert(column);
    } else if (name == shape.alias) {
      for (std::size_t i = 0; i < table.columns.size(); ++i) columns.insert(i);
    } else if (!shape.output_names.contains(name)) {
      return false;
    }
  }
  if (shape.uses_all_columns) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) columns.insert(i);
  }
  return true;
}

// The current version of a row that matched, as the statement took it: the last that others had
// committed before its own transaction, which holds the row until its end. kNone - 1: not known.
inline constexpr std::size_t kUnclear = kNone - 1;

inline std::size_t current_version(const RowChain& chain, std::size_t seen, const Execution& run) {
  const std::size_t next = seen == kNone ? 0 : seen + 1;
  const auto begin = chain.versions.begin() + static_cast<std::ptrdiff_t>(next);
  if (begin == chain.versions.end()) return seen;
  const bool is_own = run.own_place != 0 && begin->place == run.own_place;
  if (!is_own && (run.own_place == 0 || !run.is_committed)) {
    // Whoever holds the row until a later snapshot took what that shows.
    if (run.next != nullptr) return seen_by(chain, run.next->snapshot, run);
    return run.is_later(*begin) ? seen : kUnclear;
  }
  const auto later = std::partition_point(begin, chain.versions.end(), [&](const Version& version) {
    return version.place < run.own_place;
  });
  return later == begin ? seen : static_cast<std::size_t>(later - chain.versions.begin()) - 1;
}

// Did the statement itself change the row?
inline bool changed_by(const RowChain& chain, const Execution& run) {
  const auto [begin, end] = own_versions(chain, run);
  for (std::size_t i = begin; i < end; ++i) {
    if (chain.versions[i].lsn >= run.from && chain.versions[i].lsn < run.to) return true;
  }
  return false;
}

// The rows that the statement's transaction wrote.
inline const std::vector<const TableVersions::Entry*>& written_by(const TableVersions& versions,
                                                                  const Execution& run) {
  static const std::vector<const TableVersions::Entry*> kNoRows;
  const auto found = versions.by_writer.find(run.own);
  return run.own == 0 || found == versions.by_writer.end() ? kNoRows : found->second;
}

// t[email=a@b]: a value of a unique key, or nothing if it has a null.
inline std::string unique_key(const Table& table, const std::vector<std::size_t>& columns,
                              const Version& version) {
  std::string out;
  for (const std::size_t column : columns) {
    if (!version.values[column]) return {};
    const std::string& value = *version.values[column];
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", table.columns[column],
                       columns.size() == 1 ? value : escaped_part(value));
  }
  return fmt::format("{}[{}]", table.label(), out);
}

// The row of a lookup by a primary key of integers, if the values are plain to see.
inline std::optional<std::string> looked_up(const Shape& shape, const RecordedStatement& statement,
                                            const Table& table) {
  if (shape.equated_columns.size() != table.key.size()) return std::nullopt;
  const Constants constants(shape, statement.sql);
  std::string row;
  for (const std::size_t column : table.key) {
    const auto found = shape.equated_integers.find(table.columns[column]);
    if (found == shape.equated_integers.end() || !table.integers.contains(column))
      return std::nullopt;
    const IntegerPlace& place = found->second;
    std::string value;
    if (const auto number = constants.integer(place)) {
      value = std::to_string(*number);
    } else {
      if (place.kind != IntegerPlace::Kind::Parameter || place.index == 0 ||
          place.index > statement.parameters.size())
        return std::nullopt;
      const Parameter& parameter = statement.parameters[place.index - 1];
      if (parameter.is_null) return std::nullopt;
      if (parameter.is_binary) {
        const std::size_t size = parameter.bytes.size();
        if (size != 2 && size != 4 && size != 8) return std::nullopt;
        std::int64_t decoded = (parameter.bytes[0] & 0x80) != 0 ? -1 : 0;
        for (const char byte : parameter.bytes)
          decoded = decoded * 256 + static_cast<unsigned char>(byte);
        value = std::to_string(decoded);
      } else {
        value = parameter.bytes;
        std::int64_t decoded = 0;
        const char* end = value.data() + value.size();
        const auto [stop, failure] = std::from_chars(value.data(), end, decoded);
        if (failure != std::errc() || stop != end || std::to_string(decoded) != value)
          return std::nullopt;
      }
    }
    row += (row.empty() ? "" : ",") + value;
  }
  return row;
}

struct Accesses::Question {
  const Table& table;
  bool is_lookup = false;                       // by the whole primary key
  std::string text = {};                        // otherwise: the question
  std::set<std::size_t> columns = {};           // that are shown of a row that matches
  bool shows_columns = true;                    // are they part of the answer?
  const std::vector<bool>* matching = nullptr;  // by Version::id
  Answers* answers = nullptr;                   // to the question

  bool matches_all = false;  // of the rows that are looked at, every version that is there
  bool matches(const Version* version) const {
    return exists(version) && (matches_all || (*matching)[version->id]);
  }
  bool ever_matches(const RowChain& chain) const {
    if (matches_all) return chain.ever_exists;
    return std::ranges::any_of(chain.versions, [this](const Version& v) { return matches(&v); });
  }
  // Reads of the row, as it is in the version at `i`, whether it matches (and, if the question says
  // so, what is shown of it).
  void search(const std::string& row, const RowChain& chain, std::size_t i,
              std::vector<Access>& reads) const {
    if (is_lookup) {
      reads.push_back({presence_key(table, row), writer(chain, i, RowChain::kPresence)});
      return;
    }
    reads.push_back(
        {answer_key(table, row, text), i == kNone ? kInitialXid : answers->writer(chain, i)});
  }
  void read_cells(const std::string& row, const RowChain& chain, std::size_t i,
                  std::vector<Access>& reads) const {
    for (const std::size_t column : columns)
      reads.push_back({cell_key(table, row, column), writer(chain, i, column)});
  }
  // The same where the version at `i` is its own transaction's: what other transactions gave the
  // row, and its own statements since the version at `own` have not written.
  void search_own(const std::string& row, const RowChain& chain, std::size_t own, std::size_t i,
                  std::vector<Access>& reads) const {
    if (is_lookup || own == 0) return;
    const Version* before = &chain.versions[own - 1];
    for (std::size_t k = own; k <= i; ++k) {
      if (!answers->is_same(before, &chain.versions[k])) return;
    }
    if (!answers->is_assigned(chain, chain.versions[i])) search(row, chain, own - 1, reads);
  }
  void read_own_cells(const std::string& row, const RowChain& chain, std::size_t own, std::size_t i,
                      std::vector<Access>& reads) const {
    if (own == 0 || !chain.versions[own - 1].exists) return;
    const Version& before = chain.versions[own - 1];
    for (const std::size_t column : columns) {
      bool is_written = chain.is_assigned(chain.versions[i], column);
      for (std::size_t k = own; k <= i && !is_written; ++k)
        is_written =
            !chain.versions[k].exists || chain.versions[k].values[column] != before.values[column];
      if (!is_written)
        reads.push_back({cell_key(table, row, column), writer(chain, own - 1, column)});
    }
  }
};

}  // namespace isoscope::record
