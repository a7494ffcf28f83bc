#include "record/statement_text.h"

#include "sql/read/pg_parse.h"
#include "support/blanks.h"

namespace isoscope::record {
namespace {

using sql::child;
using sql::Tree;

// The level among the options of BEGIN or SET TRANSACTION.
std::string isolation_of(const Tree& options) {
  for (const Tree& option : options) {
    const Tree& element = child(option, "DefElem");
    if (sql::text_of(element, "defname") != "transaction_isolation") continue;
    return sql::text_of(child(child(child(element, "arg"), "A_Const"), "sval"), "sval");
  }
  return {};
}

void read_transaction(const Tree& node, StatementText& statement) {
  const std::string kind = sql::text_of(node, "kind");
  statement.chains = sql::flag_of(node, "chain");
  if (kind.empty() || kind == "TRANS_STMT_BEGIN" || kind == "TRANS_STMT_START") {
    statement.kind = StatementKind::Begin;
    statement.isolation = Isolation::declared(isolation_of(child(node, "options")));
  } else if (kind == "TRANS_STMT_COMMIT") {
    statement.kind = StatementKind::Commit;
  } else if (kind == "TRANS_STMT_ROLLBACK") {
    statement.kind = StatementKind::Rollback;
  } else if (kind == "TRANS_STMT_SAVEPOINT") {
    statement.kind = StatementKind::Savepoint;
  } else if (kind == "TRANS_STMT_RELEASE") {
    statement.kind = StatementKind::Release;
  } else if (kind == "TRANS_STMT_ROLLBACK_TO") {
    statement.kind = StatementKind::RollbackTo;
  } else {
    statement.kind = StatementKind::TwoPhase;
  }
}

void read_setting(const Tree& node, StatementText& statement) {
  statement.kind = StatementKind::Setting;
  const std::string name = sql::text_of(node, "name");
  const Tree& arguments = child(node, "args");
  if (name == "TRANSACTION" || name == "SESSION CHARACTERISTICS") {
    statement.isolation = Isolation::declared(isolation_of(arguments));
  } else if (name == "transaction_isolation" || name == "default_transaction_isolation") {
    if (arguments.is_array() && !arguments.empty())
      statement.isolation = Isolation::declared(
          sql::text_of(child(child(arguments.front(), "A_Const"), "sval"), "sval"));
  }
  if (!statement.isolation.is_told()) return;
  const bool lasts = name == "SESSION CHARACTERISTICS" || name == "default_transaction_isolation";
  statement.kind = lasts ? StatementKind::SetSession : StatementKind::SetTransaction;
}

// CREATE TABLE, but for a temporary one, which may hide another table of its name.
bool is_lasting_table(const Tree& node) {
  return sql::kind_of(node) == "CreateStmt" &&
         sql::text_of(child(sql::inside(node), "relation"), "relpersistence") == "p";
}

void read_statement(const Tree& node, StatementText& statement) {
  const std::string kind = sql::kind_of(node);
  if (kind == "TransactionStmt") {
    read_transaction(sql::inside(node), statement);
  } else if (kind == "VariableSetStmt") {
    read_setting(sql::inside(node), statement);
  } else if (kind == "SelectStmt" || kind == "DeclareCursorStmt") {
    statement.kind = StatementKind::Select;
  } else if (kind == "InsertStmt" ||
             (kind == "CopyStmt" && sql::flag_of(sql::inside(node), "is_from"))) {
    statement.kind = StatementKind::Insert;
  } else if (kind == "CopyStmt" || kind == "ExecuteStmt" || kind == "MergeStmt" ||
             kind == "ExplainStmt") {
    statement.kind = StatementKind::Rows;
  } else if (kind == "UpdateStmt") {
    statement.kind = StatementKind::Update;
  } else if (kind == "DeleteStmt") {
    statement.kind = StatementKind::Delete;
  } else if (kind == "CallStmt" || kind == "DoStmt") {
    statement.kind = StatementKind::Call;
  } else if (kind == "VariableShowStmt" || kind == "ListenStmt" || kind == "UnlistenStmt" ||
             kind == "NotifyStmt" || kind == "DiscardStmt" || kind == "DeallocateStmt" ||
             kind == "ClosePortalStmt" || kind == "FetchStmt" || kind == "PrepareStmt" ||
             kind == "CheckPointStmt" || kind == "LockStmt" || is_lasting_table(node) ||
             kind == "IndexStmt" || kind == "CreateSeqStmt" || kind == "CreateSchemaStmt" ||
             kind == "CommentStmt" || kind == "GrantStmt") {
    statement.kind = StatementKind::Setting;
  }
}

}  // namespace

std::vector<StatementText> split_statements(std::string_view text) {
  if (trimmed(text, blanks::in_sql).empty()) return {};
  const auto tree = sql::parse_sql(text);
  if (!tree || !tree->is_array())
    return {StatementText{.kind = StatementKind::Other, .text = trimmed(text, blanks::in_sql)}};
  std::vector<StatementText> statements;
  for (const Tree& raw : *tree) {
    const auto begin = static_cast<std::size_t>(sql::number_of(raw, "stmt_location"));
    const auto length = static_cast<std::size_t>(sql::number_of(raw, "stmt_len"));
    if (begin > text.size()) continue;
    StatementText statement;
    statement.text =
        trimmed(text.substr(begin, length == 0 ? std::string_view::npos : length), blanks::in_sql);
    read_statement(child(raw, "stmt"), statement);
    statements.push_back(std::move(statement));
  }
  return statements;
}

}  // namespace isoscope::record
