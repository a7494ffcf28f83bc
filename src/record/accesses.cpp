#include "record/accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

namespace isoscope::record {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// The number at the end of a command tag: "UPDATE 3", "INSERT 0 2".
std::size_t told_rows(const std::string& tag) {
  const std::size_t blank = tag.rfind(' ');
  std::size_t rows = kNone;
  if (blank != std::string::npos)
    std::from_chars(tag.data() + blank + 1, tag.data() + tag.size(), rows);
  return rows;
}

// The last version, by position, that the statement's snapshot shows; kNone if there is no row.
std::size_t seen_version(const RowChain& chain, const Execution& run) {
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
std::uint64_t writer_of(const RowChain& chain, std::size_t i,
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

bool exists(const Version* version) { return version != nullptr && version->exists; }

bool same_presence(const Version* a, const Version* b) { return exists(a) == exists(b); }

std::function<bool(const Version*, const Version*)> same_cell(std::size_t column) {
  return [column](const Version* a, const Version* b) {
    return exists(a) && exists(b) && a->values[column] == b->values[column];
  };
}

std::string presence_key(const Table& table, const std::string& row) {
  return fmt::format("{}[{}]", table.label(), row);
}
std::string cell_key(const Table& table, const std::string& row, std::size_t column) {
  return fmt::format("{}[{}].{}", table.label(), row, table.columns[column]);
}
std::string answer_key(const Table& table, const std::string& row, const std::string& question) {
  return fmt::format("{}[{}]{{{}}}", table.label(), row, question);
}

// The columns that a statement shows or computes with, by position; none if one is unknown.
bool columns_of(const Shape& shape, const Table& table, std::set<std::size_t>& columns) {
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

}  // namespace

struct Accesses::Question {
  const Table& table;
  bool is_lookup = false;                             // by the whole primary key
  std::string text = {};                              // otherwise: the question
  std::set<std::size_t> columns;                      // that are shown of a row that matches
  const std::vector<bool>& matching;                  // by Version::id
  const std::vector<std::string>* answers = nullptr;  // to the question, by Version::id

  bool matches(const Version* version) const { return exists(version) && matching[version->id]; }
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

std::string Accesses::read(const Execution& run, std::vector<Access>& reads) {
  return run.shape->kind == StatementKind::Insert ? read_inserted(run, reads)
                                                  : read_rows(run, reads);
}

namespace {

// The current version of a row that matched, as the statement took it: the last that others had
// committed before its own transaction, which holds the row until its end. kNone - 1: not known.
constexpr std::size_t kUnclear = kNone - 1;

std::size_t current_version(const RowChain& chain, std::size_t seen, const Execution& run,
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
bool changed_by(const RowChain& chain, const Execution& run) {
  return run.own != 0 && std::ranges::any_of(chain.versions, [&](const Version& version) {
           return version.xid == run.own && version.lsn >= run.from && version.lsn < run.to;
         });
}

}  // namespace

// What the statement asks of each row. The answers are kept for those who change them.
Accesses::Question Accesses::ask(const Execution& run, const std::set<std::size_t>& columns,
                                 const std::vector<bool>& matching, bool takes_current) {
  const Table& table = *run.table->table;
  std::set<std::string> key_columns;
  for (const std::size_t column : table.key) key_columns.insert(table.columns[column]);
  Question asked{.table = table, .columns = columns, .matching = matching};
  asked.is_lookup = run.shape->equated_columns == key_columns;
  if (asked.is_lookup) return asked;
  // Who takes the current version of a row reads the cells of that one; the search itself asks only
  // whether the row matches.
  std::string selected;
  for (const std::size_t column : columns) {
    if (!takes_current) selected += (selected.empty() ? "" : ", ") + table.columns[column];
  }
  asked.text = question(*run.shape, *run.statement, selected);
  std::vector<std::string>& answers = answers_[run.table][asked.text];
  if (answers.empty()) {
    answers.resize(run.table->next_id);
    for (const auto& [row, chain] : run.table->rows) {
      for (const Version& version : chain.versions) {
        if (!asked.matches(&version)) continue;
        std::string& answer = answers[version.id] = "yes";
        for (const std::size_t column : columns) {
          if (!takes_current)
            answer += "," + (version.values[column] ? "'" + *version.values[column] + "'" : "null");
        }
      }
    }
  }
  asked.answers = &answers;
  return asked;
}

std::string Accesses::read_rows(const Execution& run, std::vector<Access>& reads) {
  const Shape& shape = *run.shape;
  const bool writes = shape.kind != StatementKind::Select;
  const bool takes_current = writes || (shape.locks_rows && !shape.is_key_share);
  std::set<std::size_t> columns;
  if (!columns_of(shape, *run.table->table, columns))
    return "a column that the table does not have";
  auto matching = matches_.of(*run.table, shape, *run.statement);
  if (!matching) return "the condition cannot be evaluated again: " + matching.error().what;
  const Question asked = ask(run, columns, **matching, takes_current);
  std::size_t counted = 0;
  for (const auto& [row, chain] : run.table->rows) {
    const std::size_t seen = seen_version(chain, run);
    const Version* version = seen == kNone ? nullptr : &chain.versions[seen];
    const bool is_own = version != nullptr && run.own != 0 && version->xid == run.own;
    const bool is_changed = writes && changed_by(chain, run);
    // A lookup reads no other rows than those of its key; and rows that nobody wrote tell nothing.
    const bool is_asked = chain.is_touched() && (!asked.is_lookup || asked.ever_matches(chain));
    if (is_asked && !is_own) asked.search(row, chain, seen, reads);
    if (!asked.matches(version)) {
      if (is_changed) return "it changed a row that its condition does not match";
      continue;
    }
    if (!takes_current) {
      ++counted;
      if (is_asked && !is_own && asked.is_lookup) asked.read_cells(row, chain, seen, reads);
      continue;
    }
    std::size_t current = seen;
    if (!is_own) current = current_version(chain, seen, run, versions_);
    if (current == kUnclear) return "a row that others changed while it may have waited";
    if (current != seen && run.message->isolation != "read committed")
      return "a row that its snapshot does not see";
    if (is_asked && current != seen) asked.search(row, chain, current, reads);
    const bool still_matches = asked.matches(&chain.versions[current]);
    if (writes && run.is_committed && still_matches != is_changed)
      return "a row that matched was not changed";
    if (!still_matches) continue;
    ++counted;
    if (is_asked && !is_own) asked.read_cells(row, chain, current, reads);
  }
  const std::size_t told = told_rows(run.statement->tag);
  if (shape.limit && static_cast<std::int64_t>(counted) > *shape.limit)
    return "a LIMIT that leaves rows out";
  if ((writes || shape.counts_rows) && told != counted)
    return "the number of rows that the server told is not the one computed";
  return {};
}

std::string Accesses::read_inserted(const Execution& run, std::vector<Access>& reads) {
  std::size_t counted = 0;
  for (const auto& [row, chain] : run.table->rows) {
    for (std::size_t i = 0; i < chain.versions.size(); ++i) {
      const Version& version = chain.versions[i];
      if (version.xid != run.own || version.lsn < run.from || version.lsn >= run.to) continue;
      const bool was_there = i > 0 && chain.versions[i - 1].exists;
      if (!version.exists || was_there) continue;
      ++counted;
      // It reads that there is no such row.
      const bool is_own = i > 0 && chain.versions[i - 1].xid == run.own;
      if (!is_own)
        reads.push_back({presence_key(*run.table->table, row),
                         writer_of(chain, i == 0 ? kNone : i - 1, same_presence)});
      if (auto why = read_parents(run, version, reads); !why.empty()) return why;
    }
  }
  if (counted != told_rows(run.statement->tag))
    return run.has_rolled_back_to
               ? "an INSERT that was rolled back"
               : "the number of rows that the server told is not the one in the log";
  return {};
}

// A foreign key reads that its parent is there, and keeps it from being deleted.
std::string Accesses::read_parents(const Execution& run, const Version& version,
                                   std::vector<Access>& reads) {
  for (const ForeignKey& key : run.table->table->foreign_keys) {
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
    const auto found = parent->second.rows.find(row);
    if (found == parent->second.rows.end()) return "a parent row that the recording does not know";
    const RowChain& chain = found->second;
    const std::size_t current = current_version(chain, kNone, run, versions_);
    if (current == kUnclear) return "a parent row that others changed";
    if (current == kNone || !chain.versions[current].exists) continue;  // its own parent
    if (chain.is_touched())
      reads.push_back(
          {presence_key(*parent->second.table, row), writer_of(chain, current, same_presence)});
  }
  return {};
}

std::map<std::uint64_t, std::vector<Accesses::Written>> Accesses::writes() const {
  std::map<std::uint64_t, std::vector<Written>> all;
  for (const auto& [name, versions] : versions_.tables()) {
    const Table& table = *versions.table;
    const auto asked = answers_.find(&versions);
    for (const auto& [row, chain] : versions.rows) {
      const Version* before = nullptr;
      for (const std::size_t i : chain.finals()) {
        const Version& after = chain.versions[i];
        if (after.xid != kInitialXid) {
          std::vector<Written>& written = all[after.xid];
          if (exists(before) != after.exists)
            written.push_back({presence_key(table, row), !after.exists, "present", after.lsn});
          for (std::size_t c = 0; after.exists && c < table.columns.size(); ++c) {
            if (!exists(before) || before->values[c] != after.values[c])
              written.push_back(
                  {cell_key(table, row, c), false, after.values[c].value_or("null"), after.lsn});
          }
          if (asked != answers_.end()) {
            for (const auto& [question, answers] : asked->second) {
              const std::string old = exists(before) ? answers[before->id] : std::string();
              const std::string now = after.exists ? answers[after.id] : std::string();
              if (old != now)
                written.push_back(
                    {answer_key(table, row, question), false, now.empty() ? "no" : now, after.lsn});
            }
          }
        }
        before = &after;
      }
    }
  }
  return all;
}

}  // namespace isoscope::record
