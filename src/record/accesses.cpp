#include "record/accesses_parts.h"

namespace isoscope::record {
namespace {

constexpr const char* kTwoRows = "a key that was freed after its snapshot, and that it took";

bool is_change(const Shape& shape) { return shape.kind != StatementKind::Select; }
// UPDATE, DELETE and locking reads take the current version of the rows that match.
bool takes_current(const Shape& shape) {
  return is_change(shape) || (shape.locks_rows && !shape.is_key_share);
}

}  // namespace

std::string Accesses::read(const Execution& run, std::vector<Access>& reads,
                           std::set<std::string>& changed) {
  matches_.trim();
  if (run.shape->is_query) return read_query(run, reads);
  if (run.shape->kind != StatementKind::Insert) return read_rows(run, reads, changed);
  if (!run.statement->error.empty()) return read_refused_insert(run, reads);
  return run.is_committed ? read_inserted(run, reads, changed)
                          : read_undone_insert(run, reads, changed);
}

std::optional<Accesses::Question> Accesses::asked_of_rows(const Shape& shape,
                                                          const RecordedStatement& statement,
                                                          const TableVersions& versions) const {
  const Table& table = *versions.table;
  Question asked{.table = table};
  if (!columns_of(shape, table, asked.columns)) return std::nullopt;
  asked.is_lookup = shape.equated_columns == table.key_names;
  if (asked.is_lookup) return asked;
  // Who takes the current version of a row reads the cells of that one; the search itself asks only
  // whether the row matches.
  asked.shows_columns = !takes_current(shape);
  std::string selected;
  for (const std::size_t column : asked.columns) {
    if (asked.shows_columns) selected += (selected.empty() ? "" : ", ") + table.columns[column];
  }
  asked.text = question(shape, statement, selected, table.has_times);
  return asked;
}

const TableVersions* Accesses::find(const BlockTable& table) const {
  const Table* known = catalog_.find(table.schema, table.name);
  return known == nullptr ? nullptr : versions_.of(*known);
}

// A query reads, of each row that can matter to a block, the columns that the statement mentions.
std::string Accesses::read_query(const Execution& run, std::vector<Access>& reads) {
  const Shape& shape = *run.shape;
  for (const auto& [alias, column] : shape.block_columns) {
    static const std::set<std::string> kSystem = {"ctid", "xmin", "xmax",
                                                  "cmin", "cmax", "tableoid"};
    if (kSystem.contains(column)) return "a column that the table does not have";
    // o.total may call total(o): a function of the whole row.
    for (const Block& block : shape.blocks) {
      for (const BlockTable& table : block.tables) {
        const TableVersions* versions = find(table);
        if (alias == table.alias && versions != nullptr &&
            versions->table->column(column) == std::string::npos)
          return "a column that the table does not have";
      }
    }
  }
  for (std::size_t b = 0; b < shape.blocks.size(); ++b) {
    for (std::size_t i = 0; i < shape.blocks[b].tables.size(); ++i) {
      if (auto why = read_block_table(run, b, i, reads); !why.empty()) return why;
    }
  }
  return {};
}

Accesses::Question Accesses::asked_of_block(const Shape& shape, std::size_t block, std::size_t i,
                                            const RecordedStatement& statement,
                                            const TableVersions& versions) const {
  const BlockTable& mentioned = shape.blocks[block].tables[i];
  const Table& table = *versions.table;
  // A name alone may be the table: the whole row.
  const bool whole = shape.whole_aliases.contains("") ||
                     shape.whole_aliases.contains(mentioned.alias) ||
                     shape.block_columns.contains({"", mentioned.alias});
  Question asked{.table = table};
  std::string selected;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::string& name = table.columns[c];
    if (!whole && !shape.block_columns.contains({"", name}) &&
        !shape.block_columns.contains({mentioned.alias, name}))
      continue;
    asked.columns.insert(c);
    selected += (selected.empty() ? "" : ", ") + name;
  }
  const bool has_times =
      Matches::has_times(shape.blocks, [this](const BlockTable& other) { return find(other); });
  asked.text = block_question(shape.blocks[block], mentioned, statement, selected, has_times);
  return asked;
}

std::string Accesses::read_block_table(const Execution& run, std::size_t block, std::size_t i,
                                       std::vector<Access>& reads) {
  const Shape& shape = *run.shape;
  const TableVersions* versions = find(shape.blocks[block].tables[i]);
  auto matching = matches_.of_block(shape, block, i, *run.statement,
                                    [this](const BlockTable& table) { return find(table); });
  if (!matching) return "the condition cannot be evaluated again: " + matching.error().what;
  Question asked = asked_of_block(shape, block, i, *run.statement, *versions);
  asked.matching = *matching;
  if (!find_answers(*versions, asked)) return kUnannounced;
  const std::vector<bool>* certain = in_answer(run, block, i);
  for (const auto* entry : versions->touched) {
    const auto& [row, chain] = *entry;
    if (sees_two_rows(chain, run)) return kTwoRows;
    const std::size_t seen = seen_version(chain, run);
    const bool is_own = seen != kNone && run.own != 0 && chain.versions[seen].xid == run.own;
    if (!asked.ever_matches(chain)) continue;
    const std::size_t searched = reads.size();
    if (is_own) {
      asked.search_own(row, chain, own_versions(chain, run).first, seen, reads);
    } else {
      asked.search(row, chain, seen, reads);
    }
    const bool is_exact =
        certain != nullptr && std::ranges::all_of(chain.versions, [&](const Version& version) {
          return !version.exists || (*certain)[version.id] == asked.matches(&version);
        });
    for (std::size_t r = searched; r < reads.size(); ++r) reads[r].is_coarse = !is_exact;
  }
  return {};
}

const std::vector<bool>* Accesses::in_answer(const Execution& run, std::size_t b, std::size_t i) {
  const Block& block = run.shape->blocks[b];
  if (!block.is_answer || !block.is_whole) return nullptr;
  for (const Block& other : run.shape->blocks) {
    if (other.parent == b) return nullptr;
  }
  if (block.tables[i].is_nullable) return nullptr;  // that it has no partner is an answer too
  const auto shown = [&](const TableVersions& versions) {
    std::vector<std::size_t> ids;
    for (const auto* entry : versions.touched) {
      const std::size_t seen = seen_version(entry->second, run);
      if (seen != kNone && entry->second.versions[seen].exists)
        ids.push_back(entry->second.versions[seen].id);
    }
    return ids;
  };
  auto matching = matches_.of_block_at(
      block, i, *run.statement, [this](const BlockTable& table) { return find(table); }, shown);
  return matching ? *matching : nullptr;
}

bool Accesses::find_answers(const TableVersions& versions, Question& asked) {
  if (asked.is_lookup) return true;
  const auto of_table = answers_.find(&versions);
  if (of_table == answers_.end()) return false;
  const auto found = of_table->second.find(asked.text);
  if (found == of_table->second.end()) return false;
  asked.answers = &found->second;
  return true;
}

// One statement on one table, row by row: what it read of each, and whether the rows that match are
// as many as the server told.
class Accesses::RowSearch {
 public:
  RowSearch(const Execution& run, Question asked, std::vector<Access>& reads,
            std::set<std::string>& changed)
      : run_(run),
        shape_(*run.shape),
        asked_(std::move(asked)),
        writes_(is_change(shape_)),
        takes_current_(takes_current(shape_)),
        reads_(reads),
        changed_(changed) {}

  // Rows that no transaction wrote only count.
  void count_untouched(std::size_t rows) { untouched_ = counted_ = rows; }
  // A row that was not written is not worth a read, but others may wait for its lock.
  void lock_untouched(const std::string& row) {
    if (shape_.locks_rows) lock(row);
  }

  // Each of these returns why what was read is not known, or an empty text.
  std::string read(const std::string& row, const RowChain& chain);
  std::string read_lost_rows(const std::optional<std::string>& looked);
  std::string compare_with_told() const;

 private:
  std::string take(const std::string& row, const RowChain& chain, std::size_t seen, bool is_own,
                   std::size_t searched);
  void lock(const std::string& row) {
    const RunEvent::Kind kind = shape_.is_key_share ? RunEvent::Kind::LockKey
                                : shape_.is_share   ? RunEvent::Kind::LockShare
                                                    : RunEvent::Kind::Lock;
    reads_.push_back({presence_key(asked_.table, row), kInitialXid, kind});
  }

  const Execution& run_;
  const Shape& shape_;
  Question asked_;
  bool writes_;
  bool takes_current_;
  std::vector<Access>& reads_;
  std::set<std::string>& changed_;
  std::size_t untouched_ = 0;
  std::size_t counted_ = 0;
  std::size_t in_snapshot_ = 0;  // rows that match in its snapshot, among those that were written
  std::size_t in_doubt_ = 0;     // rows of which it is not known whether they match
};

std::string Accesses::RowSearch::read(const std::string& row, const RowChain& chain) {
  if (run_.lost != nullptr && run_.lost->contains(row)) {
    // Its own version, which no other transaction reads or wrote; what it writes there is lost too.
    ++in_doubt_;
    if (writes_) changed_.insert(row);
    return {};
  }
  if (sees_two_rows(chain, run_)) return kTwoRows;
  const std::size_t seen = seen_version(chain, run_);
  const Version* version = seen == kNone ? nullptr : &chain.versions[seen];
  const bool is_own = version != nullptr && run_.own != 0 && version->xid == run_.own;
  // A lookup reads no other rows than those of its key.
  const bool is_asked = !asked_.is_lookup || asked_.ever_matches(chain);
  const std::size_t searched = reads_.size();
  const std::size_t own = own_versions(chain, run_).first;
  if (is_asked && !is_own) asked_.search(row, chain, seen, reads_);
  if (is_asked && is_own) asked_.search_own(row, chain, own, seen, reads_);
  if (!asked_.matches(version)) {
    return writes_ && changed_by(chain, run_) ? "it changed a row that its condition does not match"
                                              : std::string();
  }
  ++in_snapshot_;
  if (takes_current_) return take(row, chain, seen, is_own, searched);
  ++counted_;
  if (is_asked && shape_.is_key_share) lock(row);
  if (is_asked && !is_own && asked_.is_lookup) asked_.read_cells(row, chain, seen, reads_);
  if (is_asked && is_own && asked_.is_lookup) asked_.read_own_cells(row, chain, own, seen, reads_);
  return {};
}

// The row matches in the snapshot; the statement takes its current version. `searched`: where the
// reads of the search begin.
std::string Accesses::RowSearch::take(const std::string& row, const RowChain& chain,
                                      std::size_t seen, bool is_own, std::size_t searched) {
  const bool is_asked = !asked_.is_lookup || asked_.ever_matches(chain);
  std::size_t current = seen;
  // From REPEATABLE READ on, a row that was changed since the snapshot ends the statement (40001).
  if (!is_own && run_.level == sql::server::PgLevel::ReadCommitted)
    current = current_version(chain, seen, run_);
  if (current == kUnclear) return "a row that others changed while it may have waited";
  for (std::size_t i = seen + 1; i < current; ++i) {
    if (!chain.versions[i].exists) return "a row that was deleted and inserted again meanwhile";
  }
  if (is_asked && current != seen) {
    for (std::size_t i = searched; i < reads_.size(); ++i) reads_[i].phase = Access::Phase::Before;
    asked_.search(row, chain, current, reads_);
  }
  const bool still_matches = asked_.matches(&chain.versions[current]);
  if (writes_ && run_.is_committed && still_matches != changed_by(chain, run_))
    return "a row that matched was not changed";
  // A row that no longer matches stays locked.
  if (is_asked && (shape_.locks_rows || !still_matches)) lock(row);
  if (!still_matches) return {};
  ++counted_;
  if (writes_) changed_.insert(row);
  if (is_asked && !is_own) asked_.read_cells(row, chain, current, reads_);
  if (is_asked && is_own)
    asked_.read_own_cells(row, chain, own_versions(chain, run_).first, current, reads_);
  return {};
}

// Lost rows that no other transaction ever wrote are in no chain.
std::string Accesses::RowSearch::read_lost_rows(const std::optional<std::string>& looked) {
  constexpr const char* kLost = "rows of its own that were rolled back later";
  if (run_.lost != nullptr) {
    for (const std::string& row : *run_.lost) {
      if (run_.table->rows.contains(row) || (looked && *looked != row)) continue;
      ++in_doubt_;
      if (writes_) changed_.insert(row);
      // The copy counts a row that was there before: it is not the one that was read.
      if (!looked && run_.table->has_untouched(row)) return kLost;
    }
  }
  return in_doubt_ > 0 && shape_.limit ? kLost : std::string();
}

std::string Accesses::RowSearch::compare_with_told() const {
  std::size_t told = told_rows(run_.statement->tag);
  // A portal that stopped at its row limit has shown a row at least, and a lookup has no second
  // one.
  if (run_.statement->tag == kSuspended && asked_.is_lookup) told = 1;
  if (run_.statement->tag == kSuspended && !asked_.is_lookup)
    return "a portal that stopped at its row limit";
  if (shape_.limit) {
    const auto limit = Constants(shape_, run_.statement->sql).integer(*shape_.limit);
    const std::size_t most = std::max(counted_, in_snapshot_ + untouched_);
    if (!limit || static_cast<std::int64_t>(most) > *limit) return "a LIMIT that leaves rows out";
  }
  if ((writes_ || shape_.counts_rows) && (told < counted_ || told > counted_ + in_doubt_))
    return "the number of rows that the server reported is not the one computed";
  return {};
}

std::string Accesses::read_rows(const Execution& run, std::vector<Access>& reads,
                                std::set<std::string>& changed) {
  const Shape& shape = *run.shape;
  auto asked = asked_of_rows(shape, *run.statement, *run.table);
  if (!asked) return "a column that the table does not have";
  // The versions are rows of a table of ours: only its columns are those of the row that was read.
  for (const std::string& column : shape.condition_columns) {
    if (run.table->table->column(column) == std::string::npos)
      return "a condition on the whole row or a system column";
  }
  for (const std::string& column : shape.set_columns) {
    if (!run.is_committed && run.table->table->key_names.contains(column))
      return "a primary key that was changed and rolled back";
  }
  const auto looked = looked_up(shape, *run.statement, *run.table->table);
  static const std::vector<bool> kNoVersions;
  const std::vector<bool>* matched = &kNoVersions;
  if (!looked) {
    auto matching = matches_.of(*run.table, shape, *run.statement);
    if (!matching) return "the condition cannot be evaluated again: " + matching.error().what;
    matched = *matching;
  }
  asked->matching = matched;
  asked->matches_all = looked.has_value();
  if (!find_answers(*run.table, *asked)) return kUnannounced;
  RowSearch search(run, std::move(*asked), reads, changed);
  std::vector<const TableVersions::Entry*> only;
  std::size_t untouched = 0;
  for (std::size_t i = run.table->next_id; i < matched->size(); ++i) {
    if (!(*matched)[i]) continue;
    ++untouched;
    search.lock_untouched(run.table->untouched_key(i - run.table->next_id));
  }
  if (looked) {
    const auto found = run.table->rows.find(*looked);
    if (found != run.table->rows.end()) only.push_back(&*found);
    const bool is_lost = run.lost != nullptr && run.lost->contains(*looked);
    if (only.empty() && !is_lost && run.table->has_untouched(*looked)) {
      ++untouched;
      search.lock_untouched(*looked);
    }
  }
  search.count_untouched(untouched);
  for (const auto* entry : looked ? only : run.table->touched) {
    if (auto why = search.read(entry->first, entry->second); !why.empty()) return why;
  }
  // Between its message and the next one others of its transaction may have written too, that have
  // none: an INSERT of several rows, COPY.
  const bool sets_key = std::ranges::any_of(shape.set_columns, [&](const std::string& column) {
    return run.table->table->key_names.contains(column);
  });
  for (const auto* entry : written_by(*run.table, run)) {
    const auto& [row, chain] = *entry;
    if (!is_change(shape) || !changed_by(chain, run)) continue;
    if (!sets_key && !changed.contains(row)) continue;
    if (auto why = read_constraints(run, row, chain, reads); !why.empty()) return why;
  }
  if (auto why = search.read_lost_rows(looked); !why.empty()) return why;
  return search.compare_with_told();
}

}  // namespace isoscope::record
