#include "audit/instance.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoscope::audit {

std::string Instance::label(MomentId at) const {
  if (at == kCurrent) return name_ + "@now";
  return at == MomentId{0} ? name_ : fmt::format("{}@{}", name_, at.index);
}

void Instance::note_use(sql::TableId table, Attribute attribute, const Row& row, MomentId at) {
  std::vector<std::uint32_t> key;
  for (const SmtTerm& term : row) key.push_back(term.index);
  auto& noted = noted_[{at, table, attribute}];
  if (std::ranges::find(noted, key) != noted.end()) return;
  noted.push_back(std::move(key));
  uses_.push_back({table, attribute, row, at});
}

SmtTerm Instance::presence(sql::TableId table, const Row& row, MomentId at) {
  if (symbols_->changes().has_fixed_rows(table)) return symbols_->static_presence(table, row);
  const ViewKey key{at, table, kPresence};
  auto found = views_.find(key);
  if (found == views_.end()) {
    const std::string name = fmt::format("{}.{}", label(at), symbols_->app().table(table).name);
    const SmtFunction function = symbols_->row_function(name, table, SmtSolver::kBool);
    found = views_.emplace(key, View{function, function}).first;
  }
  note_use(table, kPresence, row, at);
  return found->second.number(row);
}

SymValue Instance::value(sql::TableId table, sql::ColumnId column, const Row& row, MomentId at) {
  const sql::Table& declared = symbols_->app().table(table);
  if (const auto number = symbols_->key_value(table, column, row)) return *number;
  if (symbols_->changes().is_static(table, column))
    return symbols_->static_value(table, column, row);
  const Attribute attribute(column);
  const ViewKey key{at, table, attribute};
  auto found = views_.find(key);
  if (found == views_.end()) {
    const std::string name =
        fmt::format("{}.{}.{}", label(at), declared.name, declared.columns[column].name);
    found = views_
                .emplace(key, View{symbols_->row_function(name + ".null", table, SmtSolver::kBool),
                                   symbols_->row_function(name, table, SmtSolver::kInt)})
                .first;
  }
  note_use(table, attribute, row, at);
  return {declared.columns[column].not_null ? symbols_->no() : found->second.null(row),
          found->second.number(row)};
}

SmtTerm Instance::taken(sql::TableId table, sql::UniqueId unique, const Row& entry, MomentId at) {
  const ViewKey key{at, table, Attribute::entry(unique)};
  auto found = views_.find(key);
  if (found == views_.end()) {
    const SmtFunction function = symbols_->entry_function(label(at) + ".taken", table, unique);
    found = views_.emplace(key, View{function, function}).first;
  }
  note_use(table, Attribute::entry(unique), entry, at);
  return found->second.number(entry);
}

SymValue Instance::seen(sql::TableId table, Attribute attribute, const Row& row, MomentId at) {
  if (attribute.is_entry()) return symbols_->truth(taken(table, attribute.unique(), row, at));
  return attribute == kPresence ? symbols_->truth(presence(table, row, at))
                                : value(table, attribute.column(), row, at);
}

}  // namespace isoscope::audit
