#include "audit/scenario.h"

#include <fmt/format.h>

namespace isoscope::audit {

std::string print(const sql::Application& app, const ScenarioCall& call) {
  const sql::Function& function = app.function(call.function);
  // A row is a parameter for each column, r.a, r.b, …
  const auto row_of = [&](std::size_t i) -> std::string_view {
    if (i >= function.num_parameters || i >= call.arguments.size()) return {};
    const std::string_view name = function.variables[i].name;
    const std::size_t dot = name.find('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
  };
  std::string text = function.name + "(";
  std::string_view row;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (i > 0) text += ", ";
    if (!row_of(i).empty() && row_of(i) != row) text += "ROW(";
    row = row_of(i);
    text += sql::print(call.arguments[i]);
    if (!row.empty() && row_of(i + 1) != row) text += ")";
  }
  return text + ")";
}

std::string print(const sql::Application& app, const sql::InitialRow& row) {
  const sql::Table& table = app.table(row.table);
  std::string text = table.name + " (";
  for (const sql::ColumnId c : row.values.ids()) {
    if (c != sql::ColumnId{0}) text += ", ";
    text += fmt::format("{} {}", table.columns[c].name, sql::print(row.values[c]));
  }
  return text + ")";
}

}  // namespace isoscope::audit
