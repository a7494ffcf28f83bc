#include "cli/program_input.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/history_input.h"
#include "cli/sql_input.h"
#include "formats/text_kind.h"
#include "program/program.h"
#include "sql/run/program.h"
#include "sql/server/level.h"
#include "support/blanks.h"
#include "support/input.h"
#include "support/printable.h"

namespace isoscope {
namespace {

Error in_file(const Error& error, const std::string& path, const std::string& text) {
  return error.where.line == 0 ? error : error.in(path).quoting(text);
}

// A program that does nothing keeps every promise: that is no answer.
Error no_program(const std::string& text) {
  if (trimmed(text, blanks::in_sql).empty())
    return {.what = "the file is empty",
            .hint = "a program is .txn, or SQL with functions and `-- session` lines"};
  return {.what = "the program has no sessions",
          .hint = "add a session of calls: session alice { f(1) }"};
}

void add_remarks(std::vector<std::string>& remarks, const std::string& path,
                 const std::string& text) {
  for (const sql::Note& note : sql::comments_passed_over(text))
    remarks.push_back(fmt::format("{}:{}:{}: note: {}", path == "-" ? "<stdin>" : printable(path),
                                  note.where.line, note.where.column, printable(note.what)));
}

// Functions that cannot be modelled are left out, and with them the sessions that call them. That
// is fine as long as the command does not run these.
std::optional<Error> find_missing_call(const sql::Application& app) {
  for (const sql::Note& note : app.notes) {
    const auto at = std::ranges::find(app.left_out, note.function);
    if (at == app.left_out.end() || !note.leaves_out_session) continue;
    Error problem = app.problems[static_cast<std::size_t>(at - app.left_out.begin())];
    problem.hint = fmt::format("a session calls {}", note.function);
    return problem;
  }
  return std::nullopt;
}

}  // namespace

Error LoadedProgram::located(const Error& error) const { return in_file(error, path, text); }

void LoadedProgram::print_remarks(const CommonOptions& common) const {
  if (common.quiet || common.json) return;
  for (const std::string& remark : remarks) std::fprintf(stderr, "%s\n", remark.c_str());
}

void LoadedProgram::stop_with(const Budget& budget) const {
  if (sql != nullptr) sql->stop_with(budget);
}

Result<const Level*> LoadedProgram::find_level(const LevelSet& levels,
                                               const std::string& name) const {
  if (sql != nullptr && sql::server::find_pg_level(name)) {
    return Error{
        .what = fmt::format("'{}' on an SQL program is what PostgreSQL does, and this "
                            "executes programs by definitions",
                            name),
        .hint = "take rc, si or ser; explore and run know " + sql::server::pg_level_names("and")};
  }
  return find_timeless(levels, name);
}

Result<void> LoadedProgram::require_calls() const {
  if (!program->outline().calls.empty()) return {};
  return no_program(text).in(path);
}

Result<void> LoadedProgram::require_whole_calls() const {
  if (sql == nullptr) return {};
  for (const CallId call : sql->outline().calls.ids()) {
    const sql::Function& function = sql->function(call);
    const sql::Statement* end = sql::find_end_of_transaction(function.body);
    if (end == nullptr) continue;
    return located({.where = end->place,
                    .what = fmt::format("{} ends its transaction here and goes on, which only "
                                        "PostgreSQL's levels execute",
                                        function.name),
                    .hint = "explore and run take --level " + sql::server::pg_level_names("and")});
  }
  return {};
}

void LoadedProgram::adopt_rows_of(const History& history) const {
  if (sql == nullptr) return;
  for (const KeyId key : history.keys()) sql->adopt_row(history.name(key));
}

void ProgramInput::add_to(CLI::App& app) {
  add_input_file(app, "program", path,
                 "a .txn program or an SQL program with sessions, or - for standard input")
      ->required()
      ->type_name("PROGRAM");
  add_workload_to(app);
}

void ProgramInput::add_workload_to(CLI::App& app) {
  add_input_file(app, "--workload", workload, "sessions and rows of an SQL program");
}

Result<LoadedProgram> ProgramInput::load(Budget budget) const {
  LoadedProgram loaded;
  loaded.path = path;
  auto text = read_whole(path, budget);
  if (!text) return text.error();
  loaded.text = *std::move(text);
  if (!is_specification(loaded.text) && !is_sql_program(loaded.text)) {
    if (!workload.empty())
      return Error{.what = "only SQL programs take a workload",
                   .hint = "a .txn program has its sessions in itself"};
    auto program = parse_program(loaded.text);
    if (!program)
      return loaded.located(explain_kind(program.error(), TextKind::Program, loaded.text)).in(path);
    auto owned = std::make_unique<Program>(*std::move(program));
    loaded.txn = owned.get();
    loaded.program = std::move(owned);
    return loaded;
  }
  auto read = read_application(loaded.text, budget);
  if (!read) return loaded.located(read.error());
  sql::Application* app = &read->app;
  if (!workload.empty()) {
    auto sessions = read_whole(workload, budget);
    if (!sessions) return sessions.error();
    auto added = sql::add_workload(*app, *sessions, &budget);
    if (!added) return in_file(added.error(), workload, *sessions);
    auto stray = sql::parse_assertions(*sessions, *app);
    if (!stray) return in_file(stray.error(), workload, *sessions);
    add_remarks(loaded.remarks, workload, *sessions);
    if (!stray->empty()) {
      const Error error{.where = stray->front().place,
                        .what = "a workload has no assertions",
                        .hint = "write it into the SQL program, where it is checked"};
      return in_file(error, workload, *sessions);
    }
  }
  if (const auto missing = find_missing_call(*app)) return loaded.located(*missing);
  auto claims = sql::parse_assertions(read->sql, *app);
  if (!claims) return loaded.located(claims.error());
  loaded.claims = *std::move(claims);
  add_remarks(loaded.remarks, path, read->sql);
  auto program = sql::SqlProgram::create(std::move(*app));
  if (!program) {
    Error error = program.error();
    // A session with a slip of the pen is none.
    if (error.where.line == 0 && !loaded.remarks.empty()) error.hint = loaded.remarks.front();
    return loaded.located(error).in(path);
  }
  loaded.sql = program->get();
  loaded.program = *std::move(program);
  return loaded;
}

void add_base_level(CLI::App& app, std::string& level) {
  app.add_option("-l,--level", level,
                 "the level of transactions without a level of their own; pg-rc (default of SQL "
                 "programs), pg-rr and pg-ser: what PostgreSQL does")
      ->type_name("LEVEL");
}

}  // namespace isoscope
