#include "sql/read/session_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/read/application_parts.h"
#include "sql/read/findings.h"

namespace isoscope::sql {
namespace {

// Kinds of statements in a setup that say what is there at the start.
bool is_schema(std::string_view kind) {
  static constexpr std::string_view kKinds[] = {
      "CreateStmt",      "AlterTableStmt",   "IndexStmt",      "DropStmt",
      "RenameStmt",      "ViewStmt",         "CreateTrigStmt", "CreateEnumStmt",
      "CreateSeqStmt",   "CreateDomainStmt", "InsertStmt",     "CreateFunctionStmt",
      "CommentStmt",     "GrantStmt",        "VacuumStmt",     "TransactionStmt",
      "CreateSchemaStmt"};
  return std::ranges::find(kKinds, kind) != std::end(kKinds);
}

// The transactions of one session, from its statements.
class SessionReader {
 public:
  SessionReader(const BlockSession& session, const SourceFile& file)
      : session_(session), file_(file) {}

  Result<std::vector<Script>> read(const std::vector<TopStatement>& statements) {
    for (const SqlBlock& block : session_.blocks) {
      bool is_first = true;
      for (const TopStatement& statement : statements) {
        if (statement.begin < block.begin || statement.begin >= block.end) continue;
        if (auto taken = take(statement, is_first); !taken) return taken.error();
        is_first = false;
      }
      if (!is_open_) close(block.end);
    }
    if (is_open_)
      return error(current_.begin, "this transaction is never committed",
                   "a step has to say COMMIT");
    name_scripts();
    return std::move(scripts_);
  }

 private:
  Error error(std::uint32_t offset, std::string what, std::string hint = {}) const {
    return {.where = file_.lines.place(offset),
            .what = fmt::format("session {}: {}", session_.name, what),
            .hint = std::move(hint)};
  }

  Result<void> take(const TopStatement& statement, bool is_first) {
    if (statement.kind == "TransactionStmt") return take_transaction(statement, is_first);
    if (statement.kind == "VariableSetStmt") {
      const std::string level = level_in(child(*statement.node, "args"));
      const bool is_at_start = is_open_ && current_.statements.empty();
      if (text_of(*statement.node, "name") != "TRANSACTION" || level.empty() || !is_at_start)
        return error(statement.begin, "this setting is not modelled",
                     "BEGIN ISOLATION LEVEL and SET TRANSACTION ISOLATION LEVEL are");
      current_.level = level;
      return {};
    }
    if (current_.statements.empty() && !is_open_) current_.begin = statement.begin;
    current_.statements.push_back(
        {statement.kind, statement.node, statement.begin,
         static_cast<std::uint32_t>(statement.begin + statement.text.size())});
    return {};
  }

  Result<void> take_transaction(const TopStatement& statement, bool is_first) {
    if (is_transaction(statement, "TRANS_STMT_BEGIN") ||
        is_transaction(statement, "TRANS_STMT_START")) {
      if (is_open_) return error(statement.begin, "a transaction is open already");
      if (!is_first && !current_.statements.empty())
        return error(statement.begin, "BEGIN behind other statements of its block is not modelled");
      is_open_ = true;
      current_.begin = statement.begin;
      current_.level = level_in(child(*statement.node, "options"));
      return {};
    }
    if (!is_transaction(statement, "TRANS_STMT_COMMIT"))
      return error(statement.begin,
                   "ROLLBACK, savepoints and prepared transactions are not modelled",
                   "transactions that commit are");
    if (!is_open_) return error(statement.begin, "there is no transaction to commit");
    close(statement.begin);
    return {};
  }

  void close(std::uint32_t end) {
    is_open_ = false;
    Script closed = std::exchange(current_, Script{});
    closed.end = end;
    if (!closed.statements.empty()) scripts_.push_back(std::move(closed));
  }

  void name_scripts() {
    for (std::size_t i = 0; i < scripts_.size(); ++i)
      scripts_[i].name =
          scripts_.size() == 1 ? session_.name : fmt::format("{}_{}", session_.name, i + 1);
  }

  const BlockSession& session_;
  const SourceFile& file_;
  Script current_ = {};
  bool is_open_ = false;
  std::vector<Script> scripts_;
};

// Is every block SQL by itself? The place of the first that is not.
Result<void> parse_blocks(std::string_view text, const SourceFile& file,
                          const std::vector<SqlBlock>& blocks, Budget* budget) {
  for (const SqlBlock& block : blocks) {
    const std::string_view sql = text.substr(block.begin, block.end - block.begin);
    if (const auto tree = parse_sql(sql, budget); !tree) {
      if (tree.error().is_limit) return tree.error();
      Error error = tree.error();
      error.where = file.lines.place(block.begin + offset_of(sql, error.where));
      return error.quoting(text);
    }
  }
  return {};
}

// A session that calls what is left out is left out itself, with a note.
void add_block_session(Application& app, const std::string& name,
                       const std::vector<Script>& scripts, const SourceFile& file) {
  SqlSession session{.name = name, .calls = {}};
  for (const Script& script : scripts) {
    const auto function = app.find_function(script.name);
    const Place place = file.lines.place(script.begin);
    if (!function) {
      app.notes.push_back({.where = place,
                           .function = script.name,
                           .what = fmt::format("session {} is left out", name),
                           .leaves_out_session = true});
      return;
    }
    session.calls.push_back({.function = *function, .arguments = {}, .place = place});
  }
  if (!session.calls.empty()) app.sessions.push_back(std::move(session));
}

}  // namespace

std::string text_of_blocks(std::string_view text, const BlockFile& file) {
  std::string sql(text);
  std::ranges::replace_if(
      sql, [](char c) { return c != '\n'; }, ' ');
  const auto copy = [&](const SqlBlock& block) {
    const std::string_view inside = text.substr(block.begin, block.end - block.begin);
    std::ranges::copy(inside, sql.begin() + block.begin);
    // A comment at the end would hide the semicolon.
    if (const auto tokens = scan_sql(inside); tokens && !tokens->empty()) {
      const SqlToken last = tokens->back();
      if (is_comment(inside.substr(last.begin, last.end - last.begin)) &&
          inside.find('\n', last.end) == std::string_view::npos)
        std::fill(sql.begin() + block.begin + last.begin, sql.begin() + block.begin + last.end,
                  ' ');
    }
    if (block.end < sql.size()) sql[block.end] = ';';
  };
  std::ranges::for_each(file.schema, copy);
  for (const BlockSession& session : file.sessions) std::ranges::for_each(session.blocks, copy);
  return sql;
}

Result<Application> parse_session_blocks(std::string_view text, const BlockFile& blocks,
                                         Budget* budget) {
  const std::string sql = text_of_blocks(text, blocks);
  const LineIndex lines(text);
  const SourceFile original{.text = text, .lines = lines, .tokens = {}};
  if (auto parsed = parse_blocks(text, original, blocks.schema, budget); !parsed)
    return parsed.error();
  for (const BlockSession& session : blocks.sessions)
    if (auto parsed = parse_blocks(text, original, session.blocks, budget); !parsed)
      return parsed.error();
  auto file = scan_file(sql);
  if (!file) return file.error();
  const auto tree = parse_sql(sql, budget);
  if (!tree) return tree.error().quoting(text);

  ApplicationParts parts{.text = text, .file = *file, .needs_rows = true};
  const std::vector<TopStatement> statements = top_statements(*file, *tree);
  for (const TopStatement& statement : statements) {
    const bool is_setup = std::ranges::any_of(blocks.schema, [&](const SqlBlock& block) {
      return statement.begin >= block.begin && statement.begin < block.end;
    });
    if (!is_setup) continue;
    if (!is_schema(statement.kind))
      return Error{.where = file->lines.place(statement.begin),
                   .what = "this statement of a setup is not modelled",
                   .hint = "tables, functions and INSERT of constants are"}
          .quoting(text);
    parts.statements.push_back(statement);
  }
  std::vector<std::vector<Script>> scripts;
  for (const BlockSession& session : blocks.sessions) {
    auto read = SessionReader(session, *file).read(statements);
    if (!read) return read.error().quoting(text);
    parts.scripts.insert(parts.scripts.end(), read->begin(), read->end());
    scripts.push_back(std::move(*read));
  }
  auto app = build_application(parts, budget);
  if (!app) return app;
  for (std::size_t s = 0; s < scripts.size(); ++s)
    add_block_session(*app, blocks.sessions[s].name, scripts[s], *file);
  return app;
}

}  // namespace isoscope::sql
