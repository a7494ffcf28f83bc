#include "sql/run/matcher.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoscope::sql {
namespace {

// A join that considers more is taken for one without end.
constexpr std::size_t kMaxRowsConsidered = 20'000'000;

}  // namespace

Matcher::Matcher(StatementView& view, ById<SourceId, TableId> sources, const Expr* where)
    : view_(view),
      call_(view.call()),
      tuple_(view, std::move(sources)),
      is_bound_(tuple_.sources().size()) {
  if (where != nullptr) split(*where);
}

void Matcher::split(const Expr& where) {
  if (where.op == ExprOp::And) {
    for (const Expr& arg : where.args) split(arg);
    return;
  }
  Part part{&where, ById<SourceId, bool>(is_bound_.size())};
  for_each_column(where, [&](SourceId source, ColumnId) { part.mentions[source] = true; });
  parts_.push_back(std::move(part));
}

bool Matcher::is_decidable(const Part& part) const {
  for (const SourceId source : is_bound_.ids()) {
    if (part.mentions[source] && !is_bound_[source]) return false;
  }
  return true;
}

bool Matcher::mentions_only_keys(const Part& part, SourceId source) const {
  const Table& table = call_.app.table(tuple_.sources()[source]);
  bool only_keys = true;
  for_each_column(*part.expr, [&](SourceId s, ColumnId column) {
    if (s == source) only_keys = only_keys && table.is_key_column(column);
  });
  return only_keys;
}

bool Matcher::is_static(const Part& part) const {
  bool all_static = true;
  for_each_column(*part.expr, [&](SourceId source, ColumnId column) {
    all_static = all_static && call_.changes.is_static(tuple_.sources()[source], column);
  });
  return all_static;
}

std::vector<const Expr*> Matcher::key_terms(SourceId source) const {
  const Table& table = call_.app.table(tuple_.sources()[source]);
  std::vector<const Expr*> terms(table.primary_key.size());
  const auto is_known = [&](const Expr& e) {
    bool known = true;
    for_each_column(e, [&](SourceId s, ColumnId) { known = known && s != source && is_bound_[s]; });
    return known;
  };
  for (const Part& part : parts_) {
    if (part.expr->op != ExprOp::Equal) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      const Expr& column = part.expr->args[side];
      const Expr& other = part.expr->args[1 - side];
      if (column.op != ExprOp::Column || column.source != source || !is_known(other)) continue;
      for (std::size_t i = 0; i < terms.size(); ++i) {
        if (table.primary_key[i] == column.column && terms[i] == nullptr) terms[i] = &other;
      }
    }
  }
  return terms;
}

SourceId Matcher::next_source() const {
  std::optional<SourceId> first;
  for (const SourceId source : is_bound_.ids()) {
    if (is_bound_[source]) continue;
    const auto terms = key_terms(source);
    if (std::ranges::find(terms, nullptr) == terms.end()) return source;
    if (!first) first = source;
  }
  return *first;
}

Result<std::vector<RowKey>> Matcher::candidates(SourceId source) {
  const auto terms = key_terms(source);
  if (std::ranges::find(terms, nullptr) != terms.end()) {
    std::vector<RowKey> rows = call_.database.rows(tuple_.sources()[source]);
    if (before_) std::ranges::stable_sort(rows, before_);
    return rows;
  }
  RowKey key;
  for (const Expr* term : terms) {
    auto value = tuple_.value(*term);
    if (!value) return value.error();
    if (value->is_null()) return std::vector<RowKey>();
    key.push_back(*std::move(value));
  }
  return std::vector<RowKey>{std::move(key)};
}

Result<bool> Matcher::holds(const std::vector<const Part*>& parts) {
  for (const Part* part : parts) {
    auto value = tuple_.value(*part->expr);
    if (!value) return value.error();
    if (!is_true(*value)) return false;
  }
  return true;
}

void Matcher::read_columns(const std::vector<const Part*>& parts) {
  for (const Part* part : parts) {
    for_each_column(*part->expr,
                    [&](SourceId source, ColumnId column) { tuple_.column(source, column); });
  }
}

Result<bool> Matcher::meets(SourceId source, const std::vector<const Part*>& parts) {
  std::vector<const Part*> about_key;
  std::vector<const Part*> about_static;
  std::vector<const Part*> others;
  for (const Part* part : parts) {
    auto& list = mentions_only_keys(*part, source) ? about_key
                 : is_static(*part)                ? about_static
                                                   : others;
    list.push_back(part);
  }
  auto so_far = holds(about_key);
  if (!so_far || !*so_far) return so_far;
  if (!view_.is_present(tuple_.sources()[source], tuple_.keys()[source])) return false;
  so_far = holds(about_static);
  if (!so_far || !*so_far) return so_far;
  read_columns(others);
  return holds(others);
}

Result<bool> Matcher::extend(std::size_t num_bound, const Found& found) {
  if (num_bound == is_bound_.size()) {
    for (const SourceId s : tuple_.sources().ids())
      call_.database.matched(tuple_.sources()[s], tuple_.keys()[s]);
    return found(tuple_);
  }
  const SourceId source = next_source();
  auto rows = candidates(source);
  if (!rows) return rows.error();

  std::vector<const Part*> parts;  // those that can be decided from now on
  is_bound_[source] = true;
  for (const Part& part : parts_) {
    if (part.mentions[source] && is_decidable(part)) parts.push_back(&part);
  }
  bool wants_more = true;
  for (RowKey& key : *rows) {
    if (call_.is_over()) return call_.limit(limit_reached() + " was reached");
    if (++call_.rows_considered > kMaxRowsConsidered)
      return call_.limit(fmt::format("a call considers more than {} rows", kMaxRowsConsidered));
    tuple_.bind(source, std::move(key));
    auto is_match = meets(source, parts);
    if (!is_match) return is_match;
    if (!*is_match) continue;
    auto more = extend(num_bound + 1, found);
    if (!more) return more;
    wants_more = *more;
    if (!wants_more) break;
  }
  is_bound_[source] = false;
  return wants_more;
}

Result<void> Matcher::for_each(const Found& found) {
  std::vector<const Part*> about_no_row;
  for (const Part& part : parts_) {
    if (std::ranges::find(part.mentions, true) == part.mentions.end())
      about_no_row.push_back(&part);
  }
  auto possible = holds(about_no_row);
  if (!possible) return possible.error();
  if (!*possible) return {};
  auto done = extend(0, found);
  if (!done) return done.error();
  return {};
}

Result<std::optional<Matcher::ByKey>> Matcher::only_key() {
  using Answer = std::optional<ByKey>;
  if (is_bound_.size() != 1) return Answer();
  const auto terms = key_terms(SourceId{0});
  if (std::ranges::find(terms, nullptr) != terms.end()) return Answer();
  std::vector<const Part*> parts;
  for (const Part& part : parts_) {
    if (!mentions_only_keys(part, SourceId{0})) return Answer();
    parts.push_back(&part);
  }
  auto rows = candidates(SourceId{0});
  if (!rows) return rows.error();
  if (rows->empty()) return Answer(ByKey{});
  tuple_.bind(SourceId{0}, rows->front());
  auto matches = holds(parts);
  if (!matches) return matches.error();
  if (!*matches) return Answer(ByKey{});
  return Answer(ByKey{rows->front()});
}

Result<bool> Matcher::search_first(CallState& call, const ById<SourceId, TableId>& sources,
                                   const Expr* where) {
  if (sources.empty() || !call.database.begin_search(sources.front())) return false;
  StatementView view(call);
  auto done = Matcher(view, sources, where).for_each([](Tuple&) -> Result<bool> { return true; });
  call.database.end_search();
  if (!done) return done.error();
  return true;
}

}  // namespace isoscope::sql
