#include <fmt/format.h>

#include <algorithm>

#include "sql/application.h"
#include "sql/function_builder.h"
#include "sql/pg_parse.h"
#include "sql/psql_lines.h"
#include "sql/schema_builder.h"
#include "sql/workload_reader.h"

namespace isoscope::sql {
namespace {

// A statement of the file: its tree, and its text without blanks and comments before it.
struct TopStatement {
  std::string kind;
  const Tree* node;
  std::uint32_t begin = 0;
  std::string_view text;
};

std::string_view word_of(const SourceFile& file, const SqlToken& token) {
  return file.text.substr(token.begin, token.end - token.begin);
}

std::vector<TopStatement> top_statements(const SourceFile& file, const Tree& tree) {
  std::vector<TopStatement> statements;
  for (const Tree& entry : tree) {
    const Tree& statement = child(entry, "stmt");
    const auto location = static_cast<std::size_t>(number_of(entry, "stmt_location"));
    const auto length = static_cast<std::size_t>(number_of(entry, "stmt_len"));
    const std::size_t end =
        length == 0 ? file.text.size() : std::min(file.text.size(), location + length);
    auto first = std::ranges::lower_bound(file.tokens, location, {}, &SqlToken::begin);
    while (first != file.tokens.end() && is_comment(word_of(file, *first))) ++first;
    const std::uint32_t begin = first != file.tokens.end() && first->begin < end
                                    ? first->begin
                                    : static_cast<std::uint32_t>(location);
    statements.push_back({.kind = kind_of(statement),
                          .node = &inside(statement),
                          .begin = begin,
                          .text = file.text.substr(begin, end - begin)});
  }
  return statements;
}

// The level of "-- @isolation si" among the comments right above the statement.
std::string level_above(const SourceFile& file, std::uint32_t begin) {
  auto token = std::ranges::lower_bound(file.tokens, begin, {}, &SqlToken::begin);
  std::uint32_t line = file.lines.place(begin).line;
  while (token != file.tokens.begin()) {
    --token;
    const std::string_view word = word_of(file, *token);
    if (!word.starts_with("--") || file.lines.place(token->begin).line + 1 != line) break;
    if (const std::string_view level = isolation_comment(word); !level.empty())
      return std::string(level);
    --line;
  }
  return {};
}

// Fails only if the budget is over; else a function that cannot be modelled is left out.
Result<void> add_function(Application& app, Catalog& catalog, const SourceFile& file,
                          const TopStatement& statement, Budget* budget) {
  const std::string name = last_name(child(*statement.node, "funcname"));
  Findings findings(name, budget);
  auto function =
      build_function(*statement.node, statement.text, statement.begin, file, catalog, findings);
  if (app.find_function(name) || std::ranges::find(app.left_out, name) != app.left_out.end())
    findings.fail(file.lines.place(statement.begin),
                  fmt::format("function '{}' is declared twice", name),
                  "functions are told apart by their names");
  if (findings.failed() && findings.error().is_limit) return findings.error();
  if (!function || findings.failed()) {
    app.problems.push_back(findings.error().quoting(file.text));
    app.left_out.push_back(name);
    return {};
  }
  function->level = level_above(file, statement.begin);
  app.functions.push_back(std::move(*function));
  app.notes.insert(app.notes.end(), findings.notes().begin(), findings.notes().end());
  return {};
}

Result<SourceFile> scan_file(std::string_view text) {
  auto tokens = scan_sql(text);
  if (!tokens) return tokens.error().quoting(text);
  return SourceFile{.text = text, .lines = LineIndex(text), .tokens = std::move(*tokens)};
}

}  // namespace

std::string_view name_of(NoteKind kind) {
  switch (kind) {
    case NoteKind::Remark:
      return "remark";
    case NoteKind::Free:
      return "free";
    case NoteKind::Gap:
      return "gap";
  }
  return "";
}

std::optional<std::uint32_t> Application::find_function(std::string_view name) const {
  for (std::uint32_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == name) return i;
  }
  return std::nullopt;
}

Result<Application> parse_application(std::string_view text, Budget* budget) {
  const std::string sql = without_psql_lines(text);
  const auto file = scan_file(sql);
  if (!file) return file.error();
  const auto tree = parse_sql(sql, budget);
  if (!tree) return tree.error().quoting(text);
  const std::vector<TopStatement> statements = top_statements(*file, *tree);
  const Locator where{.lines = &file->lines};

  Catalog catalog;
  Findings findings({}, budget);
  SchemaBuilder schema(catalog, findings, where);
  for (const TopStatement& statement : statements) {
    if (findings.failed()) break;
    if (statement.kind == "CreateFunctionStmt") {
      catalog.functions.insert(last_name(child(*statement.node, "funcname")));
    } else if (statement.kind != "InsertStmt") {
      schema.add(statement.kind, *statement.node, file->lines.place(statement.begin));
    }
  }
  schema.finish();
  if (findings.failed()) return findings.error().quoting(text);

  Application app;
  for (const TopStatement& statement : statements) {
    if (statement.kind != "CreateFunctionStmt") continue;
    if (auto added = add_function(app, catalog, *file, statement, budget); !added)
      return added.error();
  }
  app.tables = std::move(catalog.tables);
  app.notes.insert(app.notes.begin(), findings.notes().begin(), findings.notes().end());

  Findings data({}, budget);
  InitialRowReader rows(app, data);
  for (const TopStatement& statement : statements) {
    if (statement.kind == "InsertStmt" && !data.failed()) rows.add(*statement.node, where);
  }
  for (const SqlToken& token : file->tokens) {
    const std::string_view word = word_of(*file, token);
    if (word.starts_with("--") && is_session_line(word) && !data.failed())
      add_session(app, word, file->lines.place(token.begin), data);
  }
  if (data.failed()) return data.error().quoting(text);
  return app;
}

Result<void> add_workload(Application& app, std::string_view text, Budget* budget) {
  // Sessions are lines of their own; what remains is SQL, at the same places.
  std::string sql(text);
  Findings findings({}, budget);
  std::uint32_t line = 1;
  Application changed = app;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view content = text.substr(begin, end - begin);
    if (is_session_line(content)) {
      add_session(changed, content, {line, 1}, findings);
      if (findings.failed()) return findings.error().quoting(text);
      std::fill(sql.begin() + static_cast<std::ptrdiff_t>(begin),
                sql.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    }
    begin = end + 1;
  }
  const auto file = scan_file(sql);
  if (!file) return file.error();
  const auto tree = parse_sql(sql, budget);
  if (!tree) return tree.error().quoting(text);
  const Locator where{.lines = &file->lines};
  InitialRowReader rows(changed, findings);
  for (const TopStatement& statement : top_statements(*file, *tree)) {
    if (statement.kind != "InsertStmt") {
      findings.fail(file->lines.place(statement.begin),
                    "only INSERT statements and sessions can stand in a workload");
    } else {
      rows.add(*statement.node, where);
    }
    if (findings.failed()) return findings.error().quoting(text);
  }
  app = std::move(changed);
  return {};
}

}  // namespace isoscope::sql
