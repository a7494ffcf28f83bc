#include "workload/statements.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace isoscope {

namespace {

std::vector<std::string> with(std::vector<std::string> indices, std::string_view last) {
  indices.emplace_back(last);
  return indices;
}

}  // namespace

std::string cell(std::string_view family, const std::vector<std::string>& indices) {
  return fmt::format("{}[{}]", family, fmt::join(indices, ", "));
}

std::string cell(std::string_view family, const std::vector<std::int64_t>& indices) {
  return fmt::format("{}[{}]", family, fmt::join(indices, ", "));
}

void Statements::select(const Table& table, const std::vector<std::string>& where,
                        const std::vector<Want>& wants) {
  if (scans()) return scan(table, where, wants);
  for (const Want& want : wants)
    text_.line(fmt::format("{} := read({})", want.local,
                           cell(want.column.empty() ? table.name : want.column, where)));
}

void Statements::select_again(const Table& table, const std::vector<std::string>& where,
                              const std::vector<Want>& wants) {
  if (scans()) scan(table, where, wants);
}

void Statements::fetch(const Table& table, const std::vector<std::string>& where,
                       const std::vector<Want>& wants) {
  for (const Want& want : wants)
    text_.line(fmt::format("{} := read({})", want.local,
                           cell(want.column.empty() ? table.name : want.column, where)));
  if (scans()) read_rest(table, where);
}

void Statements::read_rest(const Table& table, const std::vector<std::string>& row) {
  const std::string rest = table.name + "_rest";
  if (table.rest == 1) text_.line(fmt::format("cell := read({})", cell(rest, with(row, "1"))));
  if (table.rest < 2) return;
  text_.line(
      fmt::format("for k in 1..{} {{ cell := read({}) }}", table.rest, cell(rest, with(row, "k"))));
}

void Statements::scan(const Table& table, const std::vector<std::string>& where,
                      const std::vector<Want>& wants) {
  std::vector<std::string> at;
  std::string found;
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < table.dimensions.size(); ++i) {
    const Dimension& dimension = table.dimensions[i];
    at.push_back("at_" + dimension.name);
    text_.open(fmt::format("for {} in 1..{}", at.back(), dimension.size));
    found += fmt::format("{}{} == {}", found.empty() ? "" : " && ", at.back(), where[i]);
    rows *= dimension.size;
    rounds_ += times_ * rows;
  }
  const auto read_into = [&](std::string_view column, std::string_view family) {
    const auto want =
        std::find_if(wants.begin(), wants.end(), [&](const Want& w) { return w.column == column; });
    text_.line(fmt::format("cell := read({})", cell(family, at)));
    if (want != wants.end())
      text_.line(fmt::format("if ({}) {{ {} := cell }}", found, want->local));
  };
  read_into("", table.name);
  for (const std::string& column : table.columns) read_into(column, column);
  read_rest(table, at);
  rounds_ += times_ * rows * table.rest;
  for (std::size_t i = 0; i < at.size(); ++i) text_.close();
}

void Statements::insert(const Table& table, const std::vector<std::string>& where,
                        const std::vector<std::pair<std::string, std::string>>& values) {
  text_.line(fmt::format("write({}, 1)", cell(table.name, where)));
  for (const std::string& column : table.columns) {
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const auto& v) { return v.first == column; });
    if (value != values.end())
      text_.line(fmt::format("write({}, {})", cell(column, where), value->second));
    else if (scans())
      text_.line(fmt::format("write({}, 0)", cell(column, where)));
  }
  if (scans() && table.rest > 0) {
    text_.line(fmt::format("for k in 1..{} {{ write({}, 0) }}", table.rest,
                           cell(table.name + "_rest", with(where, "k"))));
    rounds_ += times_ * table.rest;
  }
}

void Statements::begin_txn(std::string_view head) {
  rounds_ = 0;
  text_.open(fmt::format("txn {}", head));
}

void Statements::end_txn() {
  most_rounds_ = std::max(most_rounds_, rounds_);
  text_.close();
  text_.blank();
}

}  // namespace isoscope
