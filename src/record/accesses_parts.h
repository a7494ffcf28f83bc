#pragma once
// What the files of Accesses share: versions of rows, names of keys, and questions.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

#include "record/accesses.h"

namespace isoscope::record {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// The number at the end of a command tag: "UPDATE 3", "INSERT 0 2".
inline std::size_t told_rows(const std::string& tag) {
  const std::size_t blank = tag.rfind(' ');
  std::size_t rows = kNone;
  if (blank != std::string::npos)
    std::from_chars(tag.data() + blank + 1, tag.data() + tag.size(), rows);
  return rows;
}

// The last version, by position, that the statement's snapshot shows; kNone if there is no row.
inline std::size_t seen_version(const RowChain& chain, const Execution& run) {
  for (std::size_t i = chain.versions.size(); i-- > 0;) {
    const Version& version = chain.versions[i];
    const bool is_own = run.own != 0 && version.xid == run.own;
    if (version.xid == kInitialXid || (is_own && version.lsn < run.message->lsn) ||
        (!is_own && run.message->snapshot.sees(version.xid)))
      return i;
  }
  return kNone;
}

// Who gave a row what it has in the version at `i`, as `same` compares versions? Only the last
// versions of transactions count. A position of kNone is the row before its first version.
inline std::uint64_t writer_of(const RowChain& chain, std::size_t i,
                               const std::function<bool(const Version*, const Version*)>& same) {
  if (i == kNone) return kInitialXid;
  const std::vector<std::size_t> finals = chain.finals();
  auto place = std::ranges::lower_bound(finals, i);
  for (;;) {
    const Version* current = &chain.versions[*place];
    const Version* before = place == finals.begin() ? nullptr : &chain.versions[*(place - 1)];
    if (!same(before, current)) return current->xid;
    if (before == nullptr) return kInitialXid;
    --place;
  }
}

inline bool exists(const Version* version) { return version != nullptr && version->exists; }

inline bool same_presence(const Version* a, const Version* b) { return exists(a) == exists(b); }

inline std::function<bool(const Version*, const Version*)> same_cell(std::size_t column) {
  return [column](const Version* a, const Version* b) {
    return exists(a) && exists(b) && a->values[column] == b->values[column];
  };
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

inline std::size_t current_version(const RowChain& chain, std::size_t seen, const Execution& run,
                                   const Versions& versions) {
  const std::size_t own_place = run.own == 0 ? 0 : versions.commit_place(run.own);
  std::size_t current = seen;
  for (std::size_t i = seen == kNone ? 0 : seen + 1; i < chain.versions.size(); ++i) {
    const Version& version = chain.versions[i];
    if (version.xid == run.own && run.own != 0) break;
    if (own_place == 0 || run.has_rolled_back_to) return kUnclear;
    if (versions.commit_place(version.xid) > own_place) break;
    current = i;
  }
  return current;
}

// Did the statement itself change the row?
inline bool changed_by(const RowChain& chain, const Execution& run) {
  return run.own != 0 && std::ranges::any_of(chain.versions, [&](const Version& version) {
           return version.xid == run.own && version.lsn >= run.from && version.lsn < run.to;
         });
}

// t[email=a@b]: a value of a unique key, or nothing if it has a null.
inline std::string unique_key(const Table& table, const std::vector<std::size_t>& columns,
                              const Version& version) {
  std::string out;
  for (const std::size_t column : columns) {
    if (!version.values[column]) return {};
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", table.columns[column],
                       *version.values[column]);
  }
  return fmt::format("{}[{}]", table.label(), out);
}

// The row of a lookup by a primary key of integers, if the values are plain to see.
inline std::optional<std::string> looked_up(const Execution& run) {
  const Table& table = *run.table->table;
  if (run.shape->equated_columns.size() != table.key.size()) return std::nullopt;
  std::string row;
  for (const std::size_t column : table.key) {
    const auto found = run.shape->equated_integers.find(table.columns[column]);
    if (found == run.shape->equated_integers.end() || !table.integers.contains(column))
      return std::nullopt;
    std::string value = found->second;
    if (value[0] == '$') {
      std::size_t number = 0;
      std::from_chars(value.data() + 1, value.data() + value.size(), number);
      if (number == 0 || number > run.statement->parameters.size()) return std::nullopt;
      const Parameter& parameter = run.statement->parameters[number - 1];
      if (parameter.is_null) return std::nullopt;
      if (parameter.is_binary) {
        const std::size_t size = parameter.bytes.size();
        if (size != 2 && size != 4 && size != 8) return std::nullopt;
        std::int64_t decoded = static_cast<signed char>(parameter.bytes[0]);
        for (std::size_t i = 1; i < size; ++i)
          decoded = decoded * 256 + static_cast<unsigned char>(parameter.bytes[i]);
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
  bool is_lookup = false;                             // by the whole primary key
  std::string text = {};                              // otherwise: the question
  std::set<std::size_t> columns;                      // that are shown of a row that matches
  const std::vector<bool>& matching;                  // by Version::id
  const std::vector<std::string>* answers = nullptr;  // to the question, by Version::id

  bool matches_all = false;  // of the rows that are looked at, every version that is there
  bool matches(const Version* version) const {
    return exists(version) && (matches_all || matching[version->id]);
  }
  bool ever_matches(const RowChain& chain) const {
    return std::ranges::any_of(chain.versions, [this](const Version& v) { return matches(&v); });
  }
  std::string answer(const Version* version) const {
    return exists(version) ? (*answers)[version->id] : std::string();
  }
  // Reads of the row, as it is in the version at `i`, whether it matches (and, if the question says
  // so, what is shown of it).
  void search(const std::string& row, const RowChain& chain, std::size_t i,
              std::vector<Access>& reads) const {
    if (is_lookup) {
      reads.push_back({presence_key(table, row), writer_of(chain, i, same_presence)});
      return;
    }
    reads.push_back({answer_key(table, row, text),
                     writer_of(chain, i, [this](const Version* a, const Version* b) {
                       return answer(a) == answer(b);
                     })});
  }
  void read_cells(const std::string& row, const RowChain& chain, std::size_t i,
                  std::vector<Access>& reads) const {
    for (const std::size_t column : columns)
      reads.push_back({cell_key(table, row, column), writer_of(chain, i, same_cell(column))});
  }
};

}  // namespace isoscope::record
