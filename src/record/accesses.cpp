#include "record/accesses_parts.h"

namespace isoscope::record {
namespace {

constexpr const char* kTwoRows = "a key that was freed after its snapshot, and that it took";

}  // namespace

std::string Accesses::read(const Execution& run, std::vector<Access>& reads,
                           std::set<std::string>& changed) {
  if (run.shape->is_query) return read_query(run, reads);
  if (run.shape->kind != StatementKind::Insert) return read_rows(run, reads, changed);
  if (!run.statement->error.empty()) return read_refused_insert(run, reads);
  return run.is_committed ? read_inserted(run, reads, changed)
                          : read_undone_insert(run, reads, changed);
}

// What the statement asks of each row. The answers are kept for those who change them.
Accesses::Question Accesses::ask(const Execution& run, const std::set<std::size_t>& columns,
                                 const std::vector<bool>& matching, bool takes_current) {
  const Table& table = *run.table->table;
  Question asked{.table = table, .columns = columns, .matching = matching};
  asked.is_lookup = run.shape->equated_columns == table.key_names;
  if (asked.is_lookup) return asked;
  // Who takes the current version of a row reads the cells of that one; the search itself asks only
  // whether the row matches.
  std::string selected;
  for (const std::size_t column : columns) {
    if (!takes_current) selected += (selected.empty() ? "" : ", ") + table.columns[column];
  }
  asked.text = question(*run.shape, *run.statement, selected);
  Question shown = asked;
  if (takes_current) shown.columns.clear();
  asked.answers = &answer(*run.table, shown);
  return asked;
}

// A query reads, of each row that can matter to a block, the columns that the statement mentions.
std::string Accesses::read_query(const Execution& run, std::vector<Access>& reads) {
  const Shape& shape = *run.shape;
  const auto find = [&](const BlockTable& table) -> const TableVersions* {
    const Table* known = catalog_.find(table.schema, table.name);
    return known == nullptr ? nullptr : versions_.of(*known);
  };
  for (std::size_t b = 0; b < shape.blocks.size(); ++b) {
    for (std::size_t i = 0; i < shape.blocks[b].tables.size(); ++i) {
      const BlockTable& mentioned = shape.blocks[b].tables[i];
      const TableVersions* versions = find(mentioned);
      auto matching = matches_.of_block(shape, b, i, *run.statement, find);
      if (!matching) return "the condition cannot be evaluated again: " + matching.error().what;
      const Table& table = *versions->table;
      const bool whole =
          shape.whole_aliases.contains("") || shape.whole_aliases.contains(mentioned.alias);
      Question asked{.table = table, .columns = {}, .matching = **matching};
      std::string selected;
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const std::string& name = table.columns[c];
        if (!whole && !shape.block_columns.contains({"", name}) &&
            !shape.block_columns.contains({mentioned.alias, name}))
          continue;
        asked.columns.insert(c);
        selected += (selected.empty() ? "" : ", ") + name;
      }
      asked.text = block_question(shape.blocks[b], mentioned, *run.statement, selected);
      asked.answers = &answer(*versions, asked);
      for (const auto* entry : versions->touched) {
        const auto& [row, chain] = *entry;
        if (sees_two_rows(chain, run)) return kTwoRows;
        const std::size_t seen = seen_version(chain, run);
        const bool is_own = seen != kNone && run.own != 0 && chain.versions[seen].xid == run.own;
        if (!is_own && asked.ever_matches(chain)) asked.search(row, chain, seen, reads);
      }
    }
  }
  return {};
}

// The answers of all versions, with the columns that are asked for.
Accesses::Answers& Accesses::answer(const TableVersions& versions, const Question& asked) {
  Answers& answers = answers_[&versions][asked.text];
  if (!answers.of.empty()) return answers;
  answers.of.resize(versions.next_id);
  answers.columns = asked.columns;
  for (const auto* entry : versions.touched) {
    for (const Version& version : entry->second.versions) {
      if (!asked.matches(&version)) continue;
      std::string& text = answers.of[version.id] = "yes";
      for (const std::size_t column : asked.columns)
        text += "," + (version.values[column] ? "'" + *version.values[column] + "'" : "null");
    }
  }
  return answers;
}

bool Accesses::Answers::is_assigned(const RowChain& chain, const Version& last) const {
  return !answer(&last).empty() && std::ranges::any_of(columns, [&](std::size_t column) {
    return chain.is_assigned(last, column);
  });
}

const std::vector<std::uint64_t>& Accesses::Answers::writers(const RowChain& chain) {
  std::vector<std::uint64_t>& writers = writers_[&chain];
  if (writers.empty())
    writers = writers_of(chain, [&](const Version* a, const Version* b) {
      return answer(a) == answer(b) && !is_assigned(chain, *b);
    });
  return writers;
}

std::string Accesses::read_rows(const Execution& run, std::vector<Access>& reads,
                                std::set<std::string>& changed) {
  const Shape& shape = *run.shape;
  const bool writes = shape.kind != StatementKind::Select;
  const bool takes_current = writes || (shape.locks_rows && !shape.is_key_share);
  std::set<std::size_t> columns;
  if (!columns_of(shape, *run.table->table, columns))
    return "a column that the table does not have";
  for (const std::string& column : shape.set_columns) {
    if (!run.is_committed && run.table->table->key_names.contains(column))
      return "a primary key that was changed and rolled back";
  }
  const auto looked = looked_up(run);
  static const std::vector<bool> kNoVersions;
  const std::vector<bool>* matched = &kNoVersions;
  if (!looked) {
    auto matching = matches_.of(*run.table, shape, *run.statement);
    if (!matching) return "the condition cannot be evaluated again: " + matching.error().what;
    matched = *matching;
  }
  Question asked = ask(run, columns, *matched, takes_current);
  asked.matches_all = looked.has_value();
  std::size_t counted = 0;
  std::size_t in_snapshot = 0;  // rows that match in its snapshot, among those that were written
  std::size_t in_doubt = 0;     // rows of which it is not known whether they match
  std::vector<const TableVersions::Entry*> only;
  if (looked) {
    const auto found = run.table->rows.find(*looked);
    if (found != run.table->rows.end()) only.push_back(&*found);
    // Rows that nobody wrote only count.
    const bool is_lost = run.lost != nullptr && run.lost->contains(*looked);
    if (only.empty() && !is_lost && run.table->has_untouched(*looked)) ++counted;
  }
  for (std::size_t id = run.table->next_id; id < matched->size(); ++id)
    counted += (*matched)[id] ? 1 : 0;
  const std::size_t untouched = counted;
  for (const auto* entry : looked ? only : run.table->touched) {
    const auto& [row, chain] = *entry;
    if (run.lost != nullptr && run.lost->contains(row)) {
      // Its own version, which nobody else reads or wrote; what it writes there is lost too.
      ++in_doubt;
      if (writes) changed.insert(row);
      continue;
    }
    if (sees_two_rows(chain, run)) return kTwoRows;
    const std::size_t seen = seen_version(chain, run);
    const Version* version = seen == kNone ? nullptr : &chain.versions[seen];
    const bool is_own = version != nullptr && run.own != 0 && version->xid == run.own;
    const bool is_changed = writes && changed_by(chain, run);
    // A lookup reads no other rows than those of its key.
    const bool is_asked = !asked.is_lookup || asked.ever_matches(chain);
    const std::size_t searched = reads.size();
    if (is_asked && !is_own) asked.search(row, chain, seen, reads);
    in_snapshot += asked.matches(version) ? 1 : 0;
    if (!asked.matches(version)) {
      if (is_changed) return "it changed a row that its condition does not match";
      continue;
    }
    if (!takes_current) {
      ++counted;
      if (is_asked && shape.is_key_share)
        reads.push_back({presence_key(asked.table, row), kInitialXid, RunEvent::Kind::LockKey});
      if (is_asked && !is_own && asked.is_lookup) asked.read_cells(row, chain, seen, reads);
      continue;
    }
    std::size_t current = seen;
    // From REPEATABLE READ on, a row that was changed since the snapshot ends the statement
    // (40001).
    if (!is_own && run.isolation == "read committed") current = current_version(chain, seen, run);
    if (current == kUnclear) return "a row that others changed while it may have waited";
    for (std::size_t i = seen + 1; i < current; ++i) {
      if (!chain.versions[i].exists) return "a row that was deleted and inserted again meanwhile";
    }
    if (is_asked && current != seen) {
      for (std::size_t i = searched; i < reads.size(); ++i) reads[i].phase = Access::Phase::Before;
      asked.search(row, chain, current, reads);
    }
    const bool still_matches = asked.matches(&chain.versions[current]);
    if (writes && run.is_committed && still_matches != is_changed)
      return "a row that matched was not changed";
    // A row that no longer matches stays locked.
    if (is_asked && (shape.locks_rows || !still_matches))
      reads.push_back({presence_key(asked.table, row), kInitialXid,
                       shape.is_share ? RunEvent::Kind::LockShare : RunEvent::Kind::Lock});
    if (!still_matches) continue;
    ++counted;
    if (writes) changed.insert(row);
    if (is_asked && !is_own) asked.read_cells(row, chain, current, reads);
  }
  for (const auto* entry : written_by(*run.table, run)) {
    const auto& [row, chain] = *entry;
    if (!writes || !changed_by(chain, run)) continue;
    if (auto why = read_constraints(run, row, chain, reads); !why.empty()) return why;
  }
  // Lost rows that nobody else ever wrote are in no chain.
  if (run.lost != nullptr) {
    for (const std::string& row : *run.lost) {
      if (run.table->rows.contains(row) || (looked && *looked != row)) continue;
      ++in_doubt;
      if (writes) changed.insert(row);
      // The copy counts a row that was there before: it is not the one that was read.
      if (!looked && run.table->has_untouched(row))
        return "rows of its own that were rolled back later";
    }
  }
  if (in_doubt > 0 && shape.limit) return "rows of its own that were rolled back later";
  std::size_t told = told_rows(run.statement->tag);
  // A portal that stopped at its row limit has shown a row at least, and a lookup has no second
  // one.
  if (run.statement->tag == kSuspended && asked.is_lookup) told = 1;
  if (shape.limit) {
    const auto limit = Constants(shape, run.statement->sql).integer(*shape.limit);
    if (!limit || static_cast<std::int64_t>(std::max(counted, in_snapshot + untouched)) > *limit)
      return "a LIMIT that leaves rows out";
  }
  if ((writes || shape.counts_rows) && (told < counted || told > counted + in_doubt))
    return "the number of rows that the server told is not the one computed";
  return {};
}

}  // namespace isoscope::record
