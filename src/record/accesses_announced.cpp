// The questions of a run, which are asked before the first statement is read.
#include "record/accesses_parts.h"

namespace isoscope::record {

void Accesses::announce(const std::shared_ptr<const Shape>& shape,
                        const RecordedStatement& statement, Versions& versions) {
  if (!shape->gap.empty() || !shape->reads_tables || !statement.error.empty()) return;
  bool is_new = false;
  for (std::size_t b = 0; shape->is_query && b < shape->blocks.size(); ++b) {
    for (std::size_t i = 0; i < shape->blocks[b].tables.size(); ++i) {
      const TableVersions* table = find(shape->blocks[b].tables[i]);
      if (table == nullptr) continue;
      versions.keep_all(*table->table);
      const Question asked = asked_of_block(*shape, b, i, statement, *table);
      is_new |= answers_[table].try_emplace(asked.text).second;
    }
  }
  if (!shape->is_query && shape->kind != StatementKind::Insert) {
    const Table* table = catalog_.find(shape->schema, shape->table);
    const TableVersions* of_table = table == nullptr ? nullptr : versions_.of(*table);
    if (of_table == nullptr || looked_up(*shape, statement, *table)) return;
    versions.keep_all(*table);
    const auto asked = asked_of_rows(*shape, statement, *of_table);
    if (asked && !asked->is_lookup) is_new |= answers_[of_table].try_emplace(asked->text).second;
  }
  if (is_new) announced_.push_back({shape, statement});
}

void Accesses::announce_deleted(const LogChange& change, Versions& versions) {
  const bool is_deleted = change.kind == LogChange::Kind::Delete;
  const TableVersions* of_table = versions_.find(change.table);
  if (of_table == nullptr || (!is_deleted && change.kind != LogChange::Kind::Update)) return;
  const Table& table = *of_table->table;
  // An UPDATE tells the old key if it is another one.
  const LogChange::Values& values = is_deleted ? change.values : change.old;
  if (table.children.empty() || !has_key(table, values)) return;
  const std::vector<Cell> deleted = ordered_values(table, values);
  for (const ChildTable& child : table.children) {
    const auto referring = reference(table, child, deleted);
    if (!referring) continue;
    versions.keep_all(*referring->children->table);
    references_[referring->children].emplace(referring->question(), *referring);
  }
}

// Puts down the answers of all versions.
void Accesses::answer(const TableVersions& versions, const Question& asked) {
  Answers& answers = answers_[&versions][asked.text];
  if (!answers.matching.empty()) return;
  answers.matching = *asked.matching;
  if (asked.shows_columns) answers.columns = asked.columns;
}

void Accesses::settle() {
  const auto find_versions = [this](const BlockTable& table) { return find(table); };
  // Where the server cannot evaluate the condition, the statement becomes a gap when it is read.
  const auto settle_one = [&](const TableVersions& versions, Question asked,
                              const Result<const std::vector<bool>*>& matching) {
    if (!matching) return void(answers_[&versions].erase(asked.text));
    asked.matching = *matching;
    answer(versions, asked);
  };
  for (const auto& [shape, statement] : announced_) {
    matches_.trim();
    if (!shape->is_query) {
      const TableVersions& versions = *versions_.of(*catalog_.find(shape->schema, shape->table));
      settle_one(versions, *asked_of_rows(*shape, statement, versions),
                 matches_.of(versions, *shape, statement));
      continue;
    }
    for (std::size_t b = 0; b < shape->blocks.size(); ++b) {
      for (std::size_t i = 0; i < shape->blocks[b].tables.size(); ++i) {
        const TableVersions* versions = find(shape->blocks[b].tables[i]);
        if (versions == nullptr) continue;
        settle_one(*versions, asked_of_block(*shape, b, i, statement, *versions),
                   matches_.of_block(*shape, b, i, statement, find_versions));
      }
    }
  }
  announced_ = {};
  for (const auto& [children, references] : references_) {
    for (const auto& [text, reference] : references) {
      std::vector<bool> matching(children->id_count(), false);
      for (const auto* entry : children->touched) {
        for (const Version& version : entry->second.versions) {
          if (version.exists) matching[version.id] = reference.matches(version);
        }
      }
      answer(*children, {.table = *children->table, .text = text, .matching = &matching});
    }
  }
  references_ = {};
}

bool Accesses::Answers::is_same(const Version* a, const Version* b) const {
  if (!matches(a) || !matches(b)) return matches(a) == matches(b);
  return std::ranges::all_of(
      columns, [&](std::size_t column) { return a->values[column] == b->values[column]; });
}

std::string Accesses::Answers::text(const Version* version) const {
  if (!matches(version)) return "no";
  std::string text = "yes";
  for (const std::size_t column : columns)
    text += "," + (version->values[column] ? "'" + *version->values[column] + "'" : "null");
  return text;
}

bool Accesses::Answers::is_assigned(const RowChain& chain, const Version& last) const {
  return matches(&last) && std::ranges::any_of(columns, [&](std::size_t column) {
           return chain.is_assigned(last, column);
         });
}

std::uint64_t Accesses::Answers::writer(const RowChain& chain, std::size_t i) {
  const auto all = [&] {
    return writers_of(chain, [&](const Version* a, const Version* b) {
      return is_same(a, b) && !is_assigned(chain, *b);
    });
  };
  if (chain.versions.size() <= RowChain::kShort) return all()[i];
  Known& known = writers_[&chain];
  if (known.writers.empty() || known.edition != chain.edition()) known = {chain.edition(), all()};
  return known.writers[i];
}

}  // namespace isoscope::record
