#pragma once
// What readers of SQL files share: statements out of a text, and an application out of statements.
#include <string>
#include <string_view>
#include <vector>

#include "sql/application.h"
#include "sql/read/script_builder.h"
#include "sql/read/source_text.h"

namespace isoscope::sql {

// A statement of the file: its tree, and its text without blanks and comments before it.
struct TopStatement {
  std::string kind;
  const Tree* node;
  std::uint32_t begin = 0;
  std::string_view text;
};
std::vector<TopStatement> top_statements(const SourceFile& file, const Tree& tree);

Result<SourceFile> scan_file(std::string_view text);
std::string_view word_of(const SourceFile& file, const SqlToken& token);
// The level of "-- @isolation si" among the comments right above the statement.
std::string level_above(const SourceFile& file, std::uint32_t begin);
// BEGIN, COMMIT, …, by the name that the parser has for it: "TRANS_STMT_BEGIN".
bool is_transaction(const TopStatement& statement, std::string_view what);
// The level that the options of BEGIN or SET TRANSACTION name; empty if they name none.
std::string level_in(const Tree& options);

struct ApplicationParts {
  std::string_view text;  // that errors quote
  const SourceFile& file;
  std::vector<TopStatement> statements = {};  // outside of transactions
  std::vector<Script> scripts = {};
  std::vector<NamedParameter> parameters = {};
  std::vector<Error> unreadable = {};  // what was blanked out
  bool needs_rows = false;             // an INSERT that is not understood is an error, no note
};
// Without sessions.
Result<Application> build_application(const ApplicationParts& parts, Budget* budget);

}  // namespace isoscope::sql
