#pragma once
// Short ways to look at what the front end makes of a text.
#include <gmock/gmock.h>

#include <string>

#include "sql/application.h"
#include "sql/outline.h"
#include "sql/well_formed.h"

namespace isoscope::sql {

// Two tables for programs of one function.
inline constexpr std::string_view kTables =
    "CREATE TABLE account (id integer PRIMARY KEY, owner text, balance integer NOT NULL);\n"
    "CREATE TABLE entry (no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account integer, "
    "amount integer);\n";

// Requires: the text parses, and nothing is left out.
inline Application application_of(std::string_view text) {
  auto app = parse_application(text);
  if (!app) {
    ADD_FAILURE() << render(app.error());
    return {};
  }
  for (const Error& problem : app->problems) ADD_FAILURE() << render(problem);
  EXPECT_EQ(find_flaw(*app), "");
  return std::move(*app);
}

inline std::string in_plpgsql(std::string_view parameters, std::string_view body) {
  return std::string(kTables) + "CREATE FUNCTION f(" + std::string(parameters) +
         ") LANGUAGE plpgsql AS $$\n" + std::string(body) + "\n$$;";
}

// The outline of the only function: "p integer) RETURNS integer" and its body.
inline std::string outline_of(std::string_view text) {
  const Application app = application_of(text);
  if (app.functions.size() != 1) return "no function";
  return Outline(app, app.functions[0]).of(app.functions[0].body);
}
// Of statements over v, w: integer, s: text, b: boolean, r: record, a: integer[].
inline std::string outline_of_statements(std::string_view statements) {
  return outline_of(in_plpgsql(
      "p integer, q text, ps integer[]",
      "DECLARE v integer; w integer; s text; b boolean; r record; a integer[];\nBEGIN\n" +
          std::string(statements) + "\nEND"));
}

// "line:column what | hint" of the only problem.
inline std::string problem_in(std::string_view text) {
  const auto app = parse_application(text);
  const Error* error = !app                        ? &app.error()
                       : app->problems.size() == 1 ? &app->problems[0]
                                                   : nullptr;
  if (error == nullptr) return "no problem";
  return fmt::format("{}:{} {} | {}", error->where.line, error->where.column, error->what,
                     error->hint);
}
// The statements stand in line 6 and further.
inline std::string problem_in_statements(std::string_view statements) {
  return problem_in(in_plpgsql(
      "p integer, q text, ps integer[]",
      "DECLARE v integer; w integer; s text; b boolean; r record; a integer[];\nBEGIN\n" +
          std::string(statements) + "\nEND"));
}

}  // namespace isoscope::sql
