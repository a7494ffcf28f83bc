#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "sql/read/application_parts.h"
#include "sql/read/cascades.h"
#include "sql/read/function_builder.h"
#include "sql/read/pg_parse.h"
#include "sql/read/psql_lines.h"
#include "sql/read/schema_builder.h"
#include "sql/read/script_builder.h"
#include "sql/read/sequence_builder.h"
#include "sql/read/workload_reader.h"

namespace isoscope::sql {
namespace {

std::string_view word_of(const SourceFile& file, const SqlToken& token) {
  return file.text.substr(token.begin, token.end - token.begin);
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

bool is_trigger_function(const Tree& node) {
  const std::string type = last_name(child(child(node, "returnType"), "names"));
  return type == "trigger" || type == "event_trigger";
}

// The types of the parameters that distinguish functions of one name.
std::string signature_of(const Tree& node) {
  std::string types;
  for (const Tree& entry : child(node, "parameters")) {
    const Tree& parameter = inside(entry);
    const std::string mode = text_of(parameter, "mode");
    if (mode == "FUNC_PARAM_OUT" || mode == "FUNC_PARAM_TABLE") continue;
    types += last_name(child(child(parameter, "argType"), "names")) + ",";
  }
  return types;
}

// CREATE OR REPLACE takes the place of one with the same parameters.
void declare_function(Catalog& catalog, const SourceFile& file, const TopStatement& statement) {
  auto& known = catalog.functions[last_name(child(*statement.node, "funcname"))];
  const FunctionText text{statement.node, statement.text, statement.begin, &file};
  for (FunctionText& other : known) {
    if (signature_of(*other.node) != signature_of(*statement.node)) continue;
    if (flag_of(*statement.node, "replace")) other = text;
    return;
  }
  known.push_back(text);
}

// Fails only if the budget is over; else what cannot be modelled is left out.
Result<void> add_built(Application& app, std::string name, std::optional<Function> function,
                       Findings& findings, std::string_view text) {
  if (findings.failed() && findings.error().is_limit) return findings.error();
  if (!function || findings.failed()) {
    app.problems.push_back(findings.error().quoting(text));
    app.left_out.push_back(std::move(name));
    return {};
  }
  app.functions.push_back(std::move(*function));
  app.notes.insert(app.notes.end(), findings.notes().begin(), findings.notes().end());
  return {};
}

Result<void> add_function(Application& app, Catalog& catalog, const SourceFile& file,
                          const TopStatement& statement, const std::string& name, Budget* budget) {
  Findings findings(name, budget);
  auto function =
      build_function(*statement.node, statement.text, statement.begin, file, catalog, findings);
  if (function) {
    function->name = name;
    function->level = level_above(file, statement.begin);
    share_snapshot(*statement.node, *function);
  }
  return add_built(app, name, std::move(function), findings, file.text);
}

// currval and lastval: known when all draws of a function are.
Result<void> follow_currents(Application& app, const Catalog& catalog, std::string_view text,
                             Budget* budget) {
  std::vector<Function> functions;
  std::swap(functions, app.functions);
  for (Function& function : functions) {
    Findings own(function.name, budget);
    if (follow_current_values(app, catalog.triggers, function, own)) {
      function.num_statements = 0;
      number_statements(function.body, function.num_statements);
    }
    std::string name = function.name;
    if (auto added = add_built(app, std::move(name), std::move(function), own, text); !added)
      return added;
  }
  return {};
}

// All functions that are there in the end, in the order of the file. Those of one name are told
// apart by the number of their parameters.
Result<void> add_functions(Application& app, Catalog& catalog, const SourceFile& file,
                           const std::vector<TopStatement>& statements, Budget* budget) {
  std::set<std::string> taken;
  for (const TopStatement& statement : statements) {
    if (statement.kind != "CreateFunctionStmt" || is_trigger_function(*statement.node)) continue;
    std::string name = last_name(child(*statement.node, "funcname"));
    const auto known = catalog.functions.find(name);
    const bool is_there = known != catalog.functions.end() &&
                          std::ranges::any_of(known->second, [&](const FunctionText& text) {
                            return text.node == statement.node;
                          });
    if (!is_there) {
      // Dropped or replaced later; but one that is declared twice without REPLACE is a mistake.
      if (known != catalog.functions.end() && !flag_of(*statement.node, "replace") &&
          taken.contains(name)) {
        app.problems.push_back(Error{.where = file.lines.place(statement.begin),
                                     .what = fmt::format("function '{}' is declared twice", name),
                                     .hint = "CREATE OR REPLACE takes the place of the first"}
                                   .quoting(file.text));
        app.left_out.push_back(name);
      }
      continue;
    }
    if (!taken.insert(name).second) {
      name = fmt::format("{}/{}", name, child(*statement.node, "parameters").size());
      while (!taken.insert(name).second) name += "'";
    }
    if (auto added = add_function(app, catalog, file, statement, name, budget); !added)
      return added;
  }
  return {};
}

// Catalogs of the system that the file mentions, as tables that no call changes. They have no
// place.
void add_system_catalogs(Catalog& catalog, const SourceFile& file) {
  struct SystemCatalog {
    std::string_view name;
    std::vector<std::string_view> names;    // columns that are texts
    std::vector<std::string_view> numbers;  // and those that are numbers
  };
  static const std::vector<SystemCatalog> kCatalogs = {
      {"pg_proc", {"proname"}, {"oid", "pronamespace"}},
      {"pg_roles", {"rolname"}, {"oid"}},
      {"pg_user", {"usename"}, {"usesysid"}},
      {"pg_class", {"relname", "relkind"}, {"oid", "relnamespace"}},
      {"pg_namespace", {"nspname"}, {"oid"}},
      {"pg_type", {"typname", "typtype"}, {"oid", "typnamespace"}},
      {"pg_tables", {"schemaname", "tablename", "tableowner"}, {}},
      {"pg_indexes", {"schemaname", "tablename", "indexname"}, {}},
      {"pg_extension", {"extname", "extversion"}, {"oid"}},
      {"pg_database", {"datname"}, {"oid"}},
  };
  for (const SystemCatalog& known : kCatalogs) {
    const bool is_mentioned = std::ranges::any_of(file.tokens, [&](const SqlToken& token) {
      const std::string_view word = word_of(file, token);
      // The body of a function is one token.
      return word.find(known.name) != std::string_view::npos && !is_comment(word);
    });
    if (!is_mentioned || catalog.find_table(known.name)) continue;
    Table table;
    table.name = known.name;
    for (const std::string_view name : known.names)
      table.columns.push_back({.name = std::string(name), .type = Type::Text});
    for (const std::string_view name : known.numbers)
      table.columns.push_back({.name = std::string(name), .type = Type::Integer});
    catalog.tables.push_back(std::move(table));
  }
}

// The name of a comment "-- transaction NAME" above a statement; empty if there is none.
std::string transaction_above(const SourceFile& file, std::uint32_t begin) {
  auto token = std::ranges::lower_bound(file.tokens, begin, {}, &SqlToken::begin);
  while (token != file.tokens.begin()) {
    --token;
    std::string_view word = word_of(file, *token);
    if (!word.starts_with("--")) break;
    while (word.starts_with('-') || word.starts_with(' ')) word.remove_prefix(1);
    constexpr std::string_view kMark = "transaction ";
    if (!word.starts_with(kMark)) continue;
    word.remove_prefix(kMark.size());
    std::string name;
    for (const char c : word) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') break;
      name += c;
    }
    return name;
  }
  return {};
}

bool is_data(std::string_view kind) {
  return kind == "SelectStmt" || kind == "InsertStmt" || kind == "UpdateStmt" ||
         kind == "DeleteStmt";
}

bool begins_transaction(const TopStatement& statement) {
  return is_transaction(statement, "TRANS_STMT_BEGIN") ||
         is_transaction(statement, "TRANS_STMT_START");
}

// Takes out what the server takes back: BEGIN … ROLLBACK, whatever stands in between.
void take_undone(std::vector<TopStatement>& statements, const SourceFile& file,
                 std::vector<Note>& notes) {
  std::vector<TopStatement> rest;
  const auto note = [&](const TopStatement& at, std::string what, NoteKind kind) {
    notes.push_back({file.lines.place(at.begin), "", std::move(what), kind});
  };
  const auto ends = [](const TopStatement& statement) {
    return is_transaction(statement, "TRANS_STMT_COMMIT") ||
           is_transaction(statement, "TRANS_STMT_PREPARE") ||
           is_transaction(statement, "TRANS_STMT_ROLLBACK");
  };
  for (auto at = statements.begin(); at != statements.end(); ++at) {
    if (is_transaction(*at, "TRANS_STMT_ROLLBACK_TO"))
      note(*at, "what ROLLBACK TO takes back is not taken back here", NoteKind::Gap);
    const auto end =
        begins_transaction(*at) ? std::find_if(at, statements.end(), ends) : statements.end();
    if (end == statements.end() || !is_transaction(*end, "TRANS_STMT_ROLLBACK")) {
      rest.push_back(*at);
      continue;
    }
    note(*at, "left out, as the transaction ends with ROLLBACK", NoteKind::Remark);
    at = end;
  }
  statements = std::move(rest);
}

// Takes the blocks BEGIN … COMMIT out of the statements. One with CREATE or ALTER inside is a
// migration, one of nothing but INSERT, without a name or parameters, the rows at the start.
std::vector<Script> take_scripts(std::vector<TopStatement>& statements, const SourceFile& file,
                                 const std::vector<NamedParameter>& parameters) {
  std::vector<Script> scripts;
  std::vector<TopStatement> rest;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (!begins_transaction(statements[i])) {
      rest.push_back(statements[i]);
      continue;
    }
    std::size_t end = i + 1;
    while (end < statements.size() && statements[end].kind != "TransactionStmt") ++end;
    Script script{.name = transaction_above(file, statements[i].begin),
                  .level = level_in(child(*statements[i].node, "options")),
                  .begin = statements[i].begin,
                  .end = end < statements.size() ? statements[end].begin
                                                 : static_cast<std::uint32_t>(file.text.size()),
                  .statements = {}};
    if (script.level.empty()) script.level = level_above(file, statements[i].begin);
    bool is_program = !script.name.empty();
    bool is_whole = end < statements.size() && is_transaction(statements[end], "TRANS_STMT_COMMIT");
    for (std::size_t k = i + 1; k < end; ++k) {
      const TopStatement& each = statements[k];
      if (each.kind == "VariableSetStmt") {
        if (const std::string level = level_in(child(*each.node, "args")); !level.empty())
          script.level = level;
        continue;
      }
      is_whole = is_whole && (is_data(each.kind) || !script.name.empty());
      is_program = is_program || (is_data(each.kind) && each.kind != "InsertStmt");
      script.statements.push_back({each.kind, each.node, each.begin,
                                   static_cast<std::uint32_t>(each.begin + each.text.size())});
    }
    is_program = is_program || std::ranges::any_of(parameters, [&](const NamedParameter& p) {
                   return p.offset >= script.begin && p.offset < script.end;
                 });
    if (!is_whole || !is_program || script.statements.empty()) continue;
    if (script.name.empty()) script.name = fmt::format("transaction_{}", scripts.size() + 1);
    scripts.push_back(std::move(script));
    i = end;
  }
  statements = std::move(rest);
  return scripts;
}

// A file that does not parse as a whole is taken apart: statements that do not parse are blanked
// out, each with a note, and functions among them are left out.
std::string without_unreadable(const std::string& sql, const SourceFile& file,
                               std::vector<Error>& unreadable) {
  std::string kept = sql;
  std::size_t first = 0;
  for (std::size_t i = 0; i <= file.tokens.size(); ++i) {
    if (i < file.tokens.size() && word_of(file, file.tokens[i]) != ";") continue;
    if (first < i) {
      const std::size_t begin = file.tokens[first].begin;
      const std::size_t end = i < file.tokens.size() ? file.tokens[i].end : sql.size();
      const std::string_view statement = std::string_view(sql).substr(begin, end - begin);
      if (const auto tree = parse_sql(statement); !tree) {
        Error error = tree.error();
        error.where = file.lines.place(begin + offset_of(statement, tree.error().where));
        unreadable.push_back(std::move(error));
        for (std::size_t k = begin; k < end; ++k) {
          if (kept[k] != '\n') kept[k] = ' ';
        }
      }
    }
    first = i + 1;
  }
  return kept;
}

}  // namespace

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

std::string level_in(const Tree& options) {
  for (const Tree& entry : options) {
    const Tree& option = inside(entry);
    if (text_of(option, "defname") != "transaction_isolation") continue;
    return text_of(child(child(child(option, "arg"), "A_Const"), "sval"), "sval");
  }
  return {};
}

bool is_transaction(const TopStatement& statement, std::string_view what) {
  return statement.kind == "TransactionStmt" && text_of(*statement.node, "kind") == what;
}

Result<SourceFile> scan_file(std::string_view text) {
  auto tokens = scan_sql(text);
  if (!tokens) return tokens.error().quoting(text);
  return SourceFile{.text = text, .lines = LineIndex(text), .tokens = std::move(*tokens)};
}

std::string_view name_of(NoteKind kind) {
  switch (kind) {
    case NoteKind::Remark: return "remark";
    case NoteKind::Free: return "free";
    case NoteKind::Gap: return "gap";
  }
  return "";
}

std::optional<FunctionId> Application::find_function(std::string_view name) const {
  for (const FunctionId id : function_ids()) {
    if (function(id).name == name) return id;
  }
  return std::nullopt;
}

Result<Application> parse_application(std::string_view text, Budget* budget) {
  std::vector<NamedParameter> parameters;
  std::string sql = with_numbered_parameters(without_psql_lines(text), parameters);
  auto file = scan_file(sql);
  if (!file) return file.error();
  auto tree = parse_sql(sql, budget);
  std::vector<Error> unreadable;
  if (!tree && !tree.error().is_limit) {
    const Error whole = tree.error();
    sql = without_unreadable(sql, *file, unreadable);
    tree = parse_sql(sql, budget);
    if (!tree || tree->empty()) return whole.quoting(text);
    file->text = sql;
  }
  if (!tree) return tree.error().quoting(text);
  std::vector<TopStatement> statements = top_statements(*file, *tree);
  std::vector<Note> outside;
  for (const PsqlChoice& choice : psql_choices(text))
    outside.push_back({file->lines.place(choice.offset), "",
                       fmt::format("what psql does at {} is not followed", choice.command),
                       NoteKind::Gap});
  take_undone(statements, *file, outside);
  std::vector<Script> scripts = take_scripts(statements, *file, parameters);
  auto app = build_application({.text = text,
                                .file = *file,
                                .statements = std::move(statements),
                                .scripts = std::move(scripts),
                                .parameters = std::move(parameters),
                                .unreadable = std::move(unreadable)},
                               budget);
  if (!app) return app;
  app->notes.insert(app->notes.end(), outside.begin(), outside.end());
  Findings sessions({}, budget);
  for (const SqlToken& token : file->tokens) {
    const std::string_view word = word_of(*file, token);
    if (word.starts_with("--") && is_session_line(word) && !sessions.failed())
      add_session(*app, word, file->lines.place(token.begin), sessions);
  }
  if (sessions.failed()) return sessions.error().quoting(text);
  app->notes.insert(app->notes.end(), sessions.notes().begin(), sessions.notes().end());
  return app;
}

Result<Application> build_application(const ApplicationParts& parts, Budget* budget) {
  const SourceFile& file = parts.file;
  const Locator where{.lines = &file.lines};
  Catalog catalog;
  Findings findings({}, budget);
  for (const Error& error : parts.unreadable)
    findings.note(error.where, fmt::format("this is not understood and left out: {}", error.what),
                  NoteKind::Gap);
  SchemaBuilder schema(catalog, findings, where);
  for (const TopStatement& statement : parts.statements) {
    if (findings.failed()) break;
    if (statement.kind == "CreateFunctionStmt") {
      declare_function(catalog, file, statement);
    } else if (statement.kind == "InsertStmt") {
      schema.note_rows(*statement.node);
    } else {
      schema.add(statement.kind, *statement.node, file.lines.place(statement.begin));
    }
  }
  add_system_catalogs(catalog, file);
  schema.finish();
  add_cascades(catalog, findings);
  if (findings.failed()) return findings.error().quoting(parts.text);

  Application app;
  if (auto added = add_functions(app, catalog, file, parts.statements, budget); !added)
    return added.error();
  for (const Script& script : parts.scripts) {
    Findings own(script.name, budget);
    auto function = build_script(script, parts.parameters, file, catalog, own);
    if (auto added = add_built(app, script.name, std::move(function), own, parts.text); !added)
      return added.error();
  }
  catalog.sequence_uses.note_gaps(catalog.tables, findings);
  catalog.sequence_uses.settle(catalog.tables, catalog.sequences);
  app.tables = std::move(catalog.tables);
  app.sequences = std::move(catalog.sequences);
  if (auto followed = follow_currents(app, catalog, parts.text, budget); !followed)
    return followed.error();
  app.notes.insert(app.notes.begin(), findings.notes().begin(), findings.notes().end());

  Findings data({}, budget);
  InitialRowReader rows(app);
  for (const TopStatement& statement : parts.statements) {
    if (statement.kind != "InsertStmt") continue;
    // Rows that are computed, or that are no rows of the tables in the end, are not there.
    Findings own({}, budget);
    const std::size_t before = app.initial_rows.size();
    rows.add(*statement.node, where, own);
    if (!own.failed()) continue;
    if (own.error().is_limit || parts.needs_rows) return own.error().quoting(parts.text);
    app.initial_rows.resize(before);
    data.note(own.error().where,
              fmt::format("rows of this INSERT are not there at the start: {}", own.error().what),
              NoteKind::Free);
  }
  app.notes.insert(app.notes.end(), data.notes().begin(), data.notes().end());
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
    } else if (content.starts_with("assert ") || content.starts_with("invariant ")) {
      findings.fail({line, 1}, "a workload has no assertions",
                    "write it into the SQL program as a comment, -- assert SELECT …");
      return findings.error().quoting(text);
    }
    begin = end + 1;
  }
  const auto file = scan_file(sql);
  if (!file) return file.error();
  const auto tree = parse_sql(sql, budget);
  if (!tree) return tree.error().quoting(text);
  const Locator where{.lines = &file->lines};
  InitialRowReader rows(changed);
  for (const TopStatement& statement : top_statements(*file, *tree)) {
    if (statement.kind != "InsertStmt") {
      findings.fail(file->lines.place(statement.begin),
                    "only INSERT statements and sessions can stand in a workload");
    } else {
      rows.add(*statement.node, where, findings);
    }
    if (findings.failed()) return findings.error().quoting(text);
  }
  app = std::move(changed);
  return {};
}

}  // namespace isoscope::sql
