#include "workload/statements.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "support/text_cursor.h"
#include "workload/template.h"

namespace isoscope {

namespace {

constexpr std::string_view kSelect = "select ";
constexpr std::string_view kFetch = "fetch ";
constexpr std::string_view kInsert = "insert ";

// The key of a cell: cell("d_ytd", {"w", "d"}) is d_ytd[w, d].
std::string cell(std::string_view family, const std::vector<std::string>& indices) {
  return fmt::format("{}[{}]", family, fmt::join(indices, ", "));
}

std::vector<std::string> with(std::vector<std::string> indices, std::string_view last) {
  indices.emplace_back(last);
  return indices;
}

// The two sides of a = b; of a alone, the second is empty.
std::pair<std::string_view, std::string_view> sides_of(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {text, {}};
  return {lexical::trimmed(text.substr(0, equals)), lexical::trimmed(text.substr(equals + 1))};
}

Error no_column(const Table& table, std::string_view column) {
  return {.what = fmt::format("table {} has no column '{}'", table.name, column)};
}

bool has_column(const Table& table, std::string_view column) {
  return std::ranges::find(table.columns, column) != table.columns.end();
}

}  // namespace

bool Statements::is_statement(std::string_view line) {
  return line.starts_with(kSelect) || line.starts_with(kFetch) || line.starts_with(kInsert);
}

Result<void> Statements::write(std::string_view line, std::int64_t times) {
  if (line.starts_with(kInsert)) return insert(line.substr(kInsert.size()), times);
  if (line.starts_with(kFetch)) return select(line.substr(kFetch.size()), times, true);
  return select(line.substr(kSelect.size()), times, false);
}

Result<Statements::Row> Statements::parse_row(std::string_view text) const {
  const std::string_view name = text.substr(0, text.find('['));
  const auto table = std::ranges::find(tables_, name, &Table::name);
  if (table == tables_.end()) return Error{.what = fmt::format("there is no table '{}'", name)};
  Row row{.table = &*table, .where = {}};
  if (name.size() < text.size() && text.ends_with(']')) {
    text.remove_suffix(1);
    for (const std::string_view value : split_outside(text.substr(name.size() + 1), ","))
      row.where.emplace_back(value);
  }
  if (row.where.size() != table->dimensions.size())
    return Error{.what = fmt::format("a row of {} has {} numbers", name, table->dimensions.size())};
  return row;
}

Result<void> Statements::select(std::string_view what, std::int64_t times, bool by_index) {
  const std::size_t from = find_outside(what, " from ");
  if (from == std::string_view::npos)
    return Error{.what = "expected 'from'",
                 .hint = "select found, tax = d_tax from district[w, d]"};
  const auto row = parse_row(lexical::trimmed(what.substr(from + 6)));
  if (!row) return row.error();
  const Table& table = *row->table;
  std::vector<Want> wants;
  for (const std::string_view want : split_outside(what.substr(0, from), ",")) {
    const auto [local, column] = sides_of(want);
    if (!column.empty() && !has_column(table, column)) return no_column(table, column);
    wants.push_back({.local = local, .column = column});
  }
  if (scans() && !by_index) return scan(*row, wants, times);
  for (const Want& want : wants)
    text_.line(fmt::format("{} := read({})", want.local,
                           cell(want.column.empty() ? table.name : want.column, row->where)));
  if (scans()) read_rest(table, row->where);
  return {};
}

void Statements::read_rest(const Table& table, const std::vector<std::string>& row) {
  const std::string rest = table.name + "_rest";
  if (table.rest == 1) text_.line(fmt::format("cell := read({})", cell(rest, with(row, "1"))));
  if (table.rest < 2) return;
  text_.line(
      fmt::format("for k in 1..{} {{ cell := read({}) }}", table.rest, cell(rest, with(row, "k"))));
}

Result<void> Statements::scan(const Row& row, std::span<const Want> wants, std::int64_t times) {
  const Table& table = *row.table;
  std::vector<std::string> at;
  std::string found;
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < table.dimensions.size(); ++i) {
    const Dimension& dimension = table.dimensions[i];
    if (dimension.size.empty())
      return Error{.what = fmt::format("{} grows, so it cannot be scanned", table.name),
                   .hint = "fetch reads a row by an index"};
    const std::int64_t size = sizes_.find(dimension.size)->second;
    at.push_back("at_" + dimension.name);
    text_.open(fmt::format("for {} in 1..{}", at.back(), size));
    found += fmt::format("{}{} == {}", found.empty() ? "" : " && ", at.back(), row.where[i]);
    rows *= size;
    count_rounds(times * rows);
  }
  const auto read_into = [&](std::string_view column, std::string_view family) {
    const auto want = std::ranges::find(wants, column, &Want::column);
    text_.line(fmt::format("cell := read({})", cell(family, at)));
    if (want != wants.end())
      text_.line(fmt::format("if ({}) {{ {} := cell }}", found, want->local));
  };
  read_into("", table.name);
  for (const std::string& column : table.columns) read_into(column, column);
  read_rest(table, at);
  count_rounds(times * rows * table.rest);
  for (std::size_t i = 0; i < at.size(); ++i) text_.close();
  return {};
}

Result<void> Statements::insert(std::string_view what, std::int64_t times) {
  const std::size_t end = std::min(what.find(']'), what.size() - 1) + 1;
  const auto row = parse_row(what.substr(0, end));
  if (!row) return row.error();
  const Table& table = *row->table;
  std::map<std::string_view, std::string_view> values;
  for (const std::string_view value : split_outside(what.substr(end), ",")) {
    const auto [column, expression] = sides_of(value);
    if (!has_column(table, column)) return no_column(table, column);
    values.emplace(column, expression);
  }
  text_.line(fmt::format("write({}, 1)", cell(table.name, row->where)));
  for (const std::string& column : table.columns) {
    const auto value = values.find(column);
    if (value != values.end())
      text_.line(fmt::format("write({}, {})", cell(column, row->where), value->second));
    else if (scans())
      text_.line(fmt::format("write({}, 0)", cell(column, row->where)));
  }
  if (!scans() || table.rest == 0) return {};
  text_.line(fmt::format("for k in 1..{} {{ write({}, 0) }}", table.rest,
                         cell(table.name + "_rest", with(row->where, "k"))));
  count_rounds(times * table.rest);
  return {};
}

void Statements::count_rounds(std::int64_t rounds) {
  rounds_ += rounds;
  most_rounds_ = std::max(most_rounds_, rounds_);
}

}  // namespace isoscope
