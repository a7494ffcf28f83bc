#include "audit/instance.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoscope::audit {

SmtTerm happens(const Symbols& symbols, const Access& access, const Row& row) {
  return access.guard && (access.row ? symbols.same_row(*access.row, row) : access.condition(row));
}

void Instance::note_use(sql::TableId table, std::uint32_t column, const Row& row) {
  std::vector<std::uint32_t> key;
  for (const SmtTerm& term : row) key.push_back(term.index);
  auto& noted = noted_[{table.index, column}];
  if (std::ranges::find(noted, key) != noted.end()) return;
  noted.push_back(std::move(key));
  uses_.push_back({table, column, row});
}

SmtTerm Instance::presence(sql::TableId table, const Row& row) {
  if (symbols_->changes().has_fixed_rows(table)) return symbols_->static_presence(table, row);
  auto found = views_.find({table.index, kPresence});
  if (found == views_.end()) {
    const std::string label = fmt::format("{}.{}", name_, symbols_->app().table(table).name);
    const SmtFunction function = symbols_->row_function(label, table, SmtSolver::kBool);
    found = views_.emplace(std::pair(table.index, kPresence), View{function, function}).first;
  }
  note_use(table, kPresence, row);
  return found->second.number(row);
}

SymValue Instance::value(sql::TableId table, std::uint32_t column, const Row& row) {
  const sql::Table& declared = symbols_->app().table(table);
  for (std::size_t k = 0; k < declared.primary_key.size(); ++k) {
    if (declared.primary_key[k] == column) return {symbols_->no(), row[k]};
  }
  if (symbols_->changes().is_static(table, column))
    return symbols_->static_value(table, column, row);
  auto found = views_.find({table.index, column});
  if (found == views_.end()) {
    const std::string label =
        fmt::format("{}.{}.{}", name_, declared.name, declared.columns[column].name);
    found = views_
                .emplace(std::pair(table.index, column),
                         View{symbols_->row_function(label + ".null", table, SmtSolver::kBool),
                              symbols_->row_function(label, table, SmtSolver::kInt)})
                .first;
  }
  note_use(table, column, row);
  return {declared.columns[column].not_null ? symbols_->no() : found->second.null(row),
          found->second.number(row)};
}

SmtTerm Instance::taken(sql::TableId table, std::uint32_t unique, const Row& entry) {
  const std::uint32_t column = kUniqueEntry + unique;
  auto found = views_.find({table.index, column});
  if (found == views_.end()) {
    const SmtFunction function = symbols_->entry_function(name_ + ".taken", table, unique);
    found = views_.emplace(std::pair(table.index, column), View{function, function}).first;
  }
  note_use(table, column, entry);
  return found->second.number(entry);
}

SymValue Instance::seen(sql::TableId table, std::uint32_t column, const Row& row) {
  if (column >= kUniqueEntry) return symbols_->truth(taken(table, column - kUniqueEntry, row));
  return column == kPresence ? symbols_->truth(presence(table, row)) : value(table, column, row);
}

}  // namespace isoscope::audit
