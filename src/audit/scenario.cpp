#include "audit/scenario.h"

#include <fmt/format.h>

namespace isoscope::audit {

std::string print(const sql::Application& app, const ScenarioCall& call) {
  std::string text = app.functions[call.function].name + "(";
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (i > 0) text += ", ";
    text += sql::print(call.arguments[i]);
  }
  return text + ")";
}

std::string print(const sql::Application& app, const sql::InitialRow& row) {
  const sql::Table& table = app.table(row.table);
  std::string text = table.name + " (";
  for (std::size_t c = 0; c < row.values.size(); ++c) {
    if (c > 0) text += ", ";
    text += fmt::format("{} {}", table.columns[c].name, sql::print(row.values[c]));
  }
  return text + ")";
}

}  // namespace isoscope::audit
