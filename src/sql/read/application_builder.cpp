// An application out of the statements of a file.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "sql/read/application_parts.h"
#include "sql/read/body_text.h"
#include "sql/read/cascades.h"
#include "sql/read/expr_builder.h"
#include "sql/read/function_builder.h"
#include "sql/read/schema_builder.h"
#include "sql/read/schema_names.h"
#include "sql/read/script_builder.h"
#include "sql/read/sequence_builder.h"
#include "sql/read/workload_reader.h"

namespace isoscope::sql {
namespace {

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
  std::map<const Tree*, std::string> names;  // that they have at the end: RENAME gives others
  for (const auto& [name, texts] : catalog.functions) {
    for (const FunctionText& text : texts) names.emplace(text.node, name);
  }
  std::set<std::string> taken;
  for (const TopStatement& statement : statements) {
    if (statement.kind != "CreateFunctionStmt" || is_trigger_function(*statement.node)) continue;
    std::string name = last_name(child(*statement.node, "funcname"));
    const auto at_the_end = names.find(statement.node);
    if (at_the_end != names.end()) {
      name = at_the_end->second;
    } else {
      // Dropped or replaced later; but one that is declared twice without REPLACE is a mistake.
      const auto known = catalog.functions.find(name);
      const bool is_second = known != catalog.functions.end() &&
                             std::ranges::any_of(known->second, [&](const FunctionText& text) {
                               return text.begin < statement.begin &&
                                      signature_of(*text.node) == signature_of(*statement.node);
                             });
      if (is_second && !flag_of(*statement.node, "replace")) {
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

// Do sessions begin with the rows at the start, and do these meet the constraints for sure on the
// server? Those that are NOT VALID let older rows break them, and what is not modelled may add what
// a row needs and take away what is in its way.
bool refuses_rows(const ApplicationParts& parts, std::span<const Note> notes,
                  std::span<const Note> of_rows) {
  if (may_change_rows(notes) || may_change_rows(of_rows)) return false;
  const auto has_word = [&](auto is_it) {
    return std::ranges::any_of(parts.file.tokens, [&](const SqlToken& token) {
      return is_it(word_of(parts.file, token));
    });
  };
  const bool has_sessions = has_word(
      [](std::string_view word) { return word.starts_with("--") && is_session_line(word); });
  return (parts.needs_rows || has_sessions) &&
         !has_word([](std::string_view word) { return same_word(word, "valid"); });
}

// Rows that are computed, or that are no rows of the tables in the end, are not there. Those that
// the server refuses are an error if sessions begin with them.
Result<void> add_rows(Application& app, const ApplicationParts& parts, const Locator& where,
                      Budget* budget) {
  Findings data({}, budget);
  InitialRowReader rows(app);
  for (const TopStatement& statement : parts.statements) {
    if (statement.kind != "InsertStmt") {
      rows.move_sequences(statement.kind, *statement.node, parts.file.lines.place(statement.begin),
                          data);
      continue;
    }
    Findings own({}, budget);
    const std::size_t before = app.initial_rows.size();
    rows.add_unchecked(*statement.node, where, own);
    if (!own.failed()) continue;
    if (own.error().is_limit || parts.needs_rows) return own.error().quoting(parts.text);
    app.initial_rows.resize(before);
    data.note(own.error().where,
              fmt::format("rows of this INSERT are not there at the start: {}", own.error().what),
              NoteKind::Free);
  }
  Findings own({}, budget);
  rows.check(own);
  if (own.failed() && (own.error().is_limit || refuses_rows(parts, app.notes, data.notes())))
    return own.error().quoting(parts.text);
  if (own.failed()) data.note(own.error().where, refused_row(own.error()), NoteKind::Free);
  app.notes.insert(app.notes.end(), data.notes().begin(), data.notes().end());
  app.notes.insert(app.notes.end(), own.notes().begin(), own.notes().end());
  return {};
}

}  // namespace

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

Result<Application> build_application(const ApplicationParts& parts, Budget* budget) {
  const SourceFile& file = parts.file;
  const Locator where{.lines = &file.lines};
  Catalog catalog;
  Findings findings({}, budget);
  for (const Error& error : parts.unreadable)
    findings.note(error.where, fmt::format("this is not understood and left out: {}", error.what),
                  NoteKind::Gap);
  SchemaBuilder schema(catalog, findings, where);
  SchemaNames names(catalog, findings);
  for (const TopStatement& statement : parts.statements) {
    if (findings.failed()) break;
    const Place place = file.lines.place(statement.begin);
    names.look_at(statement.kind, *statement.node, place);
    if (statement.kind == "CreateFunctionStmt") {
      declare_function(catalog, file, statement);
      const std::string name = last_name(child(*statement.node, "funcname"));
      if (is_of_server(name))
        findings.note(place, fmt::format("the server has a function '{}' of its own", name),
                      NoteKind::Gap);
    } else if (statement.kind == "InsertStmt") {
      schema.note_rows(*statement.node, place);
    } else {
      schema.add(statement.kind, *statement.node, place);
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

  if (auto added = add_rows(app, parts, where, budget); !added) return added.error();
  return app;
}

}  // namespace isoscope::sql
