// The texts of programs and workloads, taken apart into statements, transactions and sessions.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "sql/read/application_parts.h"
#include "sql/read/pg_parse.h"
#include "sql/read/psql_lines.h"
#include "sql/read/workload_reader.h"

namespace isoscope::sql {
namespace {

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

// What a migration does not do: a block with such a statement is a program, and left out if the
// statement is not modelled.
bool is_of_program(const TopStatement& statement) {
  static constexpr std::string_view kKinds[] = {
      "TransactionStmt",    "LockStmt",        "CallStmt",    "MergeStmt",
      "ConstraintsSetStmt", "NotifyStmt",      "ExecuteStmt", "DeclareCursorStmt",
      "FetchStmt",          "ClosePortalStmt", "ExplainStmt", "CheckPointStmt"};
  return is_data(statement.kind) || std::ranges::find(kKinds, statement.kind) != std::end(kKinds);
}

// SAVEPOINT and its like: statements inside of a transaction.
bool is_of_savepoint(const TopStatement& statement) {
  return is_transaction(statement, "TRANS_STMT_SAVEPOINT") ||
         is_transaction(statement, "TRANS_STMT_RELEASE") ||
         is_transaction(statement, "TRANS_STMT_ROLLBACK_TO");
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

// The level that `SET transaction_isolation` or `SET TRANSACTION` gives; empty for other settings.
std::string level_set_by(const Tree& setting) {
  if (text_of(setting, "name") == "TRANSACTION") return level_in(child(setting, "args"));
  if (text_of(setting, "name") != "transaction_isolation") return {};
  const Tree& values = child(setting, "args");
  if (values.empty()) return {};
  return text_of(child(child(values[0], "A_Const"), "sval"), "sval");
}

// What begins a transaction, or says at which level it is, in a way that is not followed.
std::string_view not_followed(const TopStatement& statement) {
  if (statement.kind == "TransactionStmt" && flag_of(*statement.node, "chain"))
    return "the transaction that AND CHAIN begins is not modelled";
  if (is_transaction(statement, "TRANS_STMT_PREPARE")) return "PREPARE TRANSACTION is not modelled";
  const bool is_of_all =
      statement.kind == "AlterDatabaseSetStmt" || statement.kind == "AlterRoleSetStmt";
  const Tree& setting = is_of_all ? child(*statement.node, "setstmt") : *statement.node;
  if (statement.kind != "VariableSetStmt" && !is_of_all) return {};
  const std::string name = text_of(setting, "name");
  if (name == "session_replication_role") return "SET session_replication_role is not modelled";
  if (name == "default_transaction_isolation" ||
      (name == "SESSION CHARACTERISTICS" && !level_in(child(setting, "args")).empty()))
    return "the level that is set here for later transactions is not followed";
  return {};
}

void note_not_followed(const std::vector<TopStatement>& statements, const SourceFile& file,
                       std::vector<Note>& notes) {
  for (const TopStatement& statement : statements) {
    if (const std::string_view what = not_followed(statement); !what.empty())
      notes.push_back({file.lines.place(statement.begin), "", std::string(what), NoteKind::Gap});
  }
}

// Takes the settings at the head of a block: its level, and what is not modelled.
void take_setting(const TopStatement& statement, const SourceFile& file, Script& script,
                  std::vector<Note>& notes) {
  const std::string level = level_set_by(*statement.node);
  if (!level.empty()) script.level = level;
  const std::string name = text_of(*statement.node, "name");
  constexpr std::string_view kHarmless[] = {
      "search_path",        "client_min_messages", "work_mem",          "application_name",
      "timezone",           "lock_timeout",        "datestyle",         "statement_timeout",
      "synchronous_commit", "deadlock_timeout",    "extra_float_digits"};
  const bool is_known = !level.empty() || name == "TRANSACTION" ||
                        name == "SESSION CHARACTERISTICS" || name.starts_with("enable_") ||
                        std::ranges::find(kHarmless, name) != std::end(kHarmless);
  if (!is_known || name == "TRANSACTION SNAPSHOT")
    notes.push_back({file.lines.place(statement.begin), "",
                     fmt::format("SET {} in a transaction is not modelled", name), NoteKind::Gap});
}

// Takes the blocks BEGIN … COMMIT out of the statements. One with CREATE or ALTER inside is a
// migration, one of nothing but INSERT, without a name or parameters, the rows at the start.
std::vector<Script> take_scripts(std::vector<TopStatement>& statements, const SourceFile& file,
                                 const std::vector<NamedParameter>& parameters,
                                 std::vector<Note>& notes) {
  std::vector<Script> scripts;
  std::vector<TopStatement> rest;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (!begins_transaction(statements[i])) {
      rest.push_back(statements[i]);
      continue;
    }
    std::size_t end = i + 1;
    while (end < statements.size() &&
           (statements[end].kind != "TransactionStmt" || is_of_savepoint(statements[end])))
      ++end;
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
        take_setting(each, file, script, notes);
        continue;
      }
      is_whole = is_whole && (is_of_program(each) || !script.name.empty());
      is_program = is_program || (is_of_program(each) && each.kind != "InsertStmt" &&
                                  each.kind != "ConstraintsSetStmt");
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

std::string_view word_of(const SourceFile& file, const SqlToken& token) {
  return file.text.substr(token.begin, token.end - token.begin);
}

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
  note_not_followed(statements, *file, outside);
  std::vector<Script> scripts = take_scripts(statements, *file, parameters, outside);
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
