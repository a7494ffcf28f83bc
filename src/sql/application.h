#pragma once
// An SQL application: a schema and PL/pgSQL functions, one function one transaction, exactly as it
// runs on PostgreSQL. A procedure with COMMIT is several (EndTransaction).
//
//     auto app = sql::parse_application(text);
//     for (const Error& problem : app->problems) …       // functions that we cannot model
//
// A function that uses what we cannot model is named in `problems` and left out; the others are
// there. What is modelled only roughly, though soundly, is named in `notes`.
//
// Sessions come as comments, in the file or in a workload file of its own, and rows that are there
// at the start as INSERT statements between the functions:
//
//     INSERT INTO account VALUES (1, 100);
//     -- session alice: withdraw(1, 60); withdraw(2, 5)
//     -- session bob: withdraw(1, 60) @si
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/schema.h"
#include "sql/statement.h"
#include "sql/value.h"
#include "support/budget.h"
#include "support/result.h"

namespace isoscope::sql {

struct Variable {
  std::string name;  // for people
  Type type = Type::Integer;
  bool is_array = false;
  Place place = {};
  bool is_hidden = false;  // no program can name it: a part of a statement or of an expression
  Width width = {};
  std::size_t mentions = 0;  // in the body's text, where it is declared too; of one with a name
  // What currval gives: the last value of this sequence that the call has drawn; of lastval "*".
  std::string current_of = {};
};

struct Function {
  std::string name;
  std::vector<Variable> variables;  // the parameters first
  std::uint32_t num_parameters = 0;
  std::vector<Statement> body;
  std::optional<Type> returns = {};  // nothing for void
  // Set by every SQL statement, if the function looks at it: then even an UPDATE or DELETE by key
  // reads whether the row is there.
  std::optional<VarId> found = {};
  std::optional<VarId> row_count = {};
  std::uint32_t num_statements = 0;
  // A procedure, without SET and SECURITY DEFINER: it may end its transaction and go on.
  bool may_end = false;
  std::string level = {};   // of a comment "-- @isolation si" right above; empty if there is none
  bool only_reads = false;  // STABLE or IMMUTABLE: the server refuses changes and locks in it
  Place place = {};
};

// A row that is there before any session starts: a value for each column.
struct InitialRow {
  TableId table;
  TableRow values;
  Place place = {};
};

using FunctionId = Id<struct FunctionTag>;  // in the order of the text

struct SessionCall {
  FunctionId function = {};
  std::vector<Value> arguments;
  std::string level = {};
  Place place = {};
};

struct SqlSession {
  std::string name;
  std::vector<SessionCall> calls;
};

// What a note takes away from an answer about the program.
enum class NoteKind : std::uint8_t {
  Remark,  // nothing
  Free,    // the model may do more than the program: what is proved holds, what is found may not
  Gap,     // the program may do what the model cannot: nothing is proved
};
std::string_view name_of(NoteKind kind);  // "remark"

struct Note {
  Place where;
  std::string function;
  std::string what;
  NoteKind kind = NoteKind::Remark;
  // Of a rule that might refuse rows which the model lets a call write: their table, which is
  // none() if it is dropped or no table, so that no call meets the rule; and the columns that the
  // rule looks at, nothing if it may look at any, and concern reads as well. A run that meets it
  // need not be one of the program.
  std::optional<TableId> table = {};
  std::optional<std::vector<ColumnId>> columns = {};
  bool leaves_out_session = false;  // one that calls `function`
};

struct Application {
  std::vector<Table> tables;
  std::vector<Sequence> sequences;
  std::vector<Function> functions;
  std::vector<Error> problems;  // one for each function that is left out; its place is in the file
  std::vector<std::string> left_out;  // their names
  std::vector<Note> notes;
  std::vector<InitialRow> initial_rows;
  std::vector<SqlSession> sessions;

  const Table& table(TableId id) const { return tables[id.index]; }
  const Function& function(FunctionId id) const { return functions[id.index]; }
  Function& function(FunctionId id) { return functions[id.index]; }
  IdRange<FunctionId> function_ids() const {
    return {0, static_cast<std::uint32_t>(functions.size())};
  }
  std::optional<FunctionId> find_function(std::string_view name) const;
};

// Fails if the text is no SQL, or if its tables cannot be understood: then nothing can. A
// limit_error if the budget is over before it is read.
Result<Application> parse_application(std::string_view text, Budget* budget = nullptr);

// Adds the sessions and rows of a workload file: lines "session NAME: call; call", with or
// without the dashes of a comment, and INSERT statements.
Result<void> add_workload(Application& app, std::string_view text, Budget* budget = nullptr);

}  // namespace isoscope::sql
