#pragma once
// The argument of commands that execute a program: `.txn` or SQL, recognised by their content.
//
//     auto input = args.program.load();
//     if (!input) return fail(input.error());
#include <memory>
#include <string>

#include "history/history.h"
#include "program/executable.h"
#include "spec/levels.h"
#include "sql/read/assertions.h"
#include "support/budget.h"
#include "support/result.h"

namespace CLI {
class App;
}

namespace isoscope {

class Program;
struct CommonOptions;
namespace sql {
class SqlProgram;
}

struct LoadedProgram {
  std::unique_ptr<Executable> program;
  sql::SqlProgram* sql = nullptr;  // the same, if it is one
  const Program* txn = nullptr;    // the same, if it is one
  std::string path;
  std::string text;
  std::vector<sql::RowAssertion> claims = {};  // of an SQL program, about its rows
  std::vector<std::string> remarks = {};       // on comments that look like claims or sessions

  // Calls stop with the budget, too, where one of them may take long.
  void stop_with(const Budget& budget) const;
  // An error about the program: with its file, and the line that it points at.
  Error located(const Error& error) const;
  // Prints the remarks on standard error, unless a program reads the answer.
  void print_remarks(const CommonOptions& common) const;
  // The level by its name. Names of a server's levels mean its semantics on SQL programs, which
  // this command does not execute: an error.
  Result<const Level*> find_level(const LevelSet& levels, const std::string& name) const;
  // An error if the program has no sessions; asked when options are understood.
  Result<void> require_calls() const;
  // For whoever executes calls by definitions: an error that names a procedure with several
  // transactions, which only a server's levels have.
  Result<void> require_whole_calls() const;
  // Rows that a history knows of, before it is followed.
  void adopt_rows_of(const History& history) const;
};

struct ProgramInput {
  std::string path;
  std::string workload;  // a file with the sessions and rows of an SQL program

  // PROGRAM and --workload.
  void add_to(CLI::App& app);
  // --workload only, for commands that call the program itself differently.
  void add_workload_to(CLI::App& app);
  Result<LoadedProgram> load(Budget budget) const;
};

// --level: of the transactions without a level of their own.
void add_base_level(CLI::App& app, std::string& level);

}  // namespace isoscope
