#include "force/request_steps.h"

#include <set>

#include "races/run.h"
#include "races/words.h"
#include "record/statement_text.h"
#include "sql/read/pg_parse.h"

namespace isoscope::force {
namespace {

using record::StatementKind;
using sql::Tree;

// Does it name a table that is not one of the catalog's?
bool names_user_table(const Tree& tree) {
  if (tree.is_object()) {
    for (const auto& [name, value] : tree.items()) {
      if (name != "RangeVar") {
        if (names_user_table(value)) return true;
        continue;
      }
      const std::string schema = sql::text_of(value, "schemaname");
      const std::string table = sql::text_of(value, "relname");
      if (schema != "pg_catalog" && schema != "information_schema" && !table.starts_with("pg_"))
        return true;
    }
  }
  if (tree.is_array())
    for (const Tree& item : tree)
      if (names_user_table(item)) return true;
  return false;
}

// Does it call a function that drivers do not ask by themselves?
bool calls_other_function(const Tree& tree) {
  static const std::set<std::string> kAsked = {"version",
                                               "current_setting",
                                               "set_config",
                                               "current_database",
                                               "current_schema",
                                               "current_schemas",
                                               "format_type",
                                               "quote_ident",
                                               "array_to_string",
                                               "array_agg",
                                               "string_agg",
                                               "count",
                                               "obj_description",
                                               "col_description",
                                               "unnest",
                                               "generate_series",
                                               "generate_subscripts",
                                               "min",
                                               "max",
                                               "lower"};
  if (tree.is_object()) {
    for (const auto& [name, value] : tree.items()) {
      if (name == "FuncCall") {
        const std::string function = sql::last_name(sql::child(value, "funcname"));
        if (!function.starts_with("pg_") && !kAsked.contains(function)) return true;
      }
      if (calls_other_function(value)) return true;
    }
  }
  if (tree.is_array())
    for (const Tree& item : tree)
      if (calls_other_function(item)) return true;
  return false;
}

// What drivers ask by themselves: a query of the catalog, or of functions of the server's own.
bool asks_catalog(const record::StatementText& statement) {
  if (statement.kind == StatementKind::Setting || statement.kind == StatementKind::SetSession)
    return true;
  if (statement.kind != StatementKind::Select) return false;
  const auto tree = sql::parse_sql(statement.text);
  if (!tree || names_user_table(*tree) || calls_other_function(*tree)) return false;
  return !races::StatementWords(statement.text).call("advisory");
}

}  // namespace

std::vector<RequestStep> steps_of(std::string_view sql, bool is_in_block) {
  std::vector<RequestStep> steps;
  bool commits_itself = false;
  for (const record::StatementText& statement : record::split_statements(sql)) {
    switch (statement.kind) {
      case StatementKind::Begin:
        is_in_block = true;
        // What came before it in the same text belongs to the same transaction.
        commits_itself = false;
        break;
      case StatementKind::Commit:
      case StatementKind::Rollback:
        if (is_in_block || commits_itself) steps.push_back({.ends = true});
        is_in_block = statement.chains;
        commits_itself = false;
        break;
      case StatementKind::Savepoint:
      case StatementKind::Release:
      case StatementKind::RollbackTo:
      case StatementKind::TwoPhase:
      case StatementKind::SetTransaction:
      case StatementKind::SetSession:
      case StatementKind::Call:
      case StatementKind::Select:
      case StatementKind::Insert:
      case StatementKind::Update:
      case StatementKind::Delete:
      case StatementKind::Setting:
      case StatementKind::Rows:
      case StatementKind::Other:
        if (!is_in_block && asks_catalog(statement)) break;
        steps.push_back({.ends = false, .shape = races::shape_of(statement.text)});
        commits_itself |= !is_in_block;
        break;
    }
  }
  if (commits_itself) steps.push_back({.ends = true});
  return steps;
}

}  // namespace isoscope::force
