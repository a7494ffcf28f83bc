#include "cli/audit_input.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "audit/server_levels.h"
#include "audit/small_runs.h"
#include "check/level_table.h"
#include "cli/files.h"
#include "cli/history_input.h"
#include "cli/sql_input.h"
#include "cli/values.h"
#include "formats/text_kind.h"
#include "sql/read/assertions.h"
#include "sql/server/level.h"
#include "support/blanks.h"
#include "support/input.h"
#include "support/spelling.h"

namespace isoscope {
namespace {

// Is `a` known to be weaker than `b`? Levels of the server by its own order, others by the table.
bool is_weaker(const Level& a, const Level& b) {
  const auto on_server = [](const Level& level) {
    return audit::is_server_level(level) ? sql::server::find_pg_level(level.name) : std::nullopt;
  };
  const auto server_a = on_server(a);
  const auto server_b = on_server(b);
  if (server_a || server_b) return server_a && server_b && *server_a < *server_b;
  return implies(b, a) && !implies(a, b);
}

// From the weakest to the strongest, as far as we know; the given order is kept where we do not.
void sort_by_strength(std::vector<const Level*>& levels) {
  for (auto next = levels.begin(); next != levels.end(); ++next) {
    const auto weakest = std::find_if(next, levels.end(), [&](const Level* level) {
      return std::none_of(next, levels.end(),
                          [&](const Level* other) { return is_weaker(*other, *level); });
    });
    std::rotate(next, weakest, weakest + 1);
  }
}

// A level of the server, or a definition over vis, ar.
Result<const Level*> find_audited(const AuditInput& input, const LevelSet& known,
                                  const std::string& name) {
  const bool is_of_mariadb = name.starts_with("mysql-");
  if (input.is_on_mariadb()) {
    if (const Level* level = audit::find_mysql_level(name)) return level;
    return Error{.what = fmt::format("'{}' is no level of MariaDB", name),
                 .hint = fmt::format(
                     "MariaDB's levels are {} here; definitions such as si need --server formal",
                     sql::server::level_names(sql::server::ServerKind::MariaDb, "and"))};
  }
  if (is_of_mariadb)
    return Error{.what = fmt::format("'{}' is a level of MariaDB", name),
                 .hint = "--server mariadb audits there"};
  if (input.server == "formal") {
    if (name.starts_with("pg-"))
      return Error{.what = fmt::format("'{}' is a level of PostgreSQL, and no definition", name),
                   .hint = "leave --server formal out, or use a definition such as rc, si or ser"};
  } else if (const Level* of_server = audit::find_server_level(name)) {
    return of_server;
  }
  return find_timeless(known, name, Framework::VisAr);
}

// The level of those who say nothing.
Result<const Level*> default_level(const AuditInput& input) {
  if (input.is_on_mariadb()) return &audit::mysql_repeatable_read();
  if (input.server == "formal")
    return Error{.what = "--server formal needs a level: --level L",
                 .hint = "the definitions have no default; `isoscope levels` describes them"};
  return &audit::pg_read_committed();
}

// One level leaves nothing to choose: advice then begins with it and goes up to serializability.
void add_stronger(std::vector<const Level*>& levels) {
  if (levels.size() != 1 || audit::find_mysql_level(levels.front()->name) == levels.front()) return;
  const Level& given = *levels.front();
  if (audit::is_server_level(given)) {
    for (const Level* level : {&audit::pg_repeatable_read(), &audit::pg_serializable()}) {
      if (is_weaker(given, *level)) levels.push_back(level);
    }
    return;
  }
  std::vector<const Level*> above;
  for (const LogicRow& row : logic_rows()) {
    const Level* level = reference_level(row.logic, Framework::VisAr);
    if (level != nullptr && row.is_offered && is_weaker(given, *level)) above.push_back(level);
  }
  // Of a level about which nothing is known: serializability is above all.
  if (above.empty() && logic_of(given) != Logic::Ser)
    above.push_back(reference_level(Logic::Ser, Framework::VisAr));
  levels.insert(levels.end(), above.begin(), above.end());
}

// A name in a list of names.
std::string name_in(std::string_view text) { return std::string(trimmed(text, blanks::space)); }

// All functions of the file, also those that --only leaves out or that cannot be modelled: naming
// one of them is no slip.
Result<void> expect_function(const sql::Application& file, const std::string& name,
                             std::string_view option) {
  std::vector<std::string_view> known;
  for (const sql::Function& function : file.functions) known.emplace_back(function.name);
  for (const std::string& left_out : file.left_out) known.emplace_back(left_out);
  if (std::ranges::find(known, name) != known.end()) return {};
  return Error{.what = fmt::format("{}: there is no function '{}'", option, name),
               .hint = suggest(name, known)};
}

Result<void> assign_levels(const AuditInput& input, const sql::Application& file,
                           const LevelSet& known, LoadedAudit& loaded) {
  ById<sql::FunctionId, const Level*> own(loaded.app.functions.size(), nullptr);
  for (const sql::FunctionId f : loaded.app.function_ids()) {
    const sql::Function& function = loaded.app.function(f);
    if (function.level.empty()) continue;
    auto level = find_audited(input, known, function.level);
    if (!level)
      return loaded.located(
          {.where = function.place, .what = level.error().what, .hint = level.error().hint});
    own[f] = *level;
  }
  for (const std::string& words : input.assign) {
    const std::size_t equals = words.find('=');
    if (equals == std::string::npos)
      return Error{.what = fmt::format("--assign {}: no level", words),
                   .hint = "write --assign TXN=LEVEL"};
    const std::string name = name_in(std::string_view(words).substr(0, equals));
    if (auto expected = expect_function(file, name, "--assign"); !expected) return expected;
    auto level = find_audited(input, known, name_in(std::string_view(words).substr(equals + 1)));
    if (!level) return level.error();
    if (const auto f = loaded.app.find_function(name)) own[*f] = *level;
  }
  if (std::ranges::any_of(own, [](const Level* level) { return level != nullptr; }))
    loaded.levels.own = std::move(own.entries());
  return {};
}

Result<void> add_serial(const AuditInput& input, const sql::Application& file,
                        LoadedAudit& loaded) {
  for (const std::string& words : input.serial) {
    const std::size_t comma = words.find(',');
    if (comma == std::string::npos || words.find(',', comma + 1) != std::string::npos)
      return Error{.what = fmt::format("--serial {}: it takes two functions", words),
                   .hint = "write --serial TXN,TXN, and repeat it for further pairs"};
    const std::string first = name_in(std::string_view(words).substr(0, comma));
    const std::string second = name_in(std::string_view(words).substr(comma + 1));
    for (const std::string& name : {first, second}) {
      if (auto expected = expect_function(file, name, "--serial"); !expected) return expected;
    }
    const auto f = loaded.app.find_function(first);
    const auto g = loaded.app.find_function(second);
    if (f && g) loaded.serial.emplace_back(*f, *g);
  }
  return {};
}

}  // namespace

Error LoadedAudit::located(const Error& error) const {
  return error.where.line == 0 ? error : error.in(path).quoting(text);
}

void AuditInput::add_to(CLI::App& app) {
  add_input_file(
      app, "APP", path,
      "a schema and its PL/pgSQL functions, or a .spec of isolationtester; - is standard input")
      ->required()
      ->type_name("APP.sql");
  app.add_option("--server", server,
                 "whose semantics SQL has: PostgreSQL's, MariaDB's (small runs only, no proofs), "
                 "or that of the definitions of levels")
      ->type_name("postgres|mariadb|formal")
      ->check(one_of({"postgres", "mariadb", "formal"}))
      ->capture_default_str();
  app.add_option("-l,--level", levels,
                 "the level of functions without one of their own (pg-rc, READ COMMITTED of "
                 "PostgreSQL, by default; of MariaDB mysql-rr); with --advise several, from which "
                 "it chooses")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LEVEL");
  app.add_option("--only", only, "audit only these functions")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("TXN,TXN");
  app.add_option("--assign", assign, "a function with a level of its own; may be repeated")
      ->allow_extra_args(false)
      ->type_name("TXN=LEVEL");
  app.add_option("--serial", serial,
                 "calls of these two functions always see each other; may be repeated")
      ->allow_extra_args(false)
      ->type_name("TXN,TXN");
}

std::vector<audit::Refused> AuditInput::remove_refused(sql::Application& app) const {
  if (is_on_mariadb()) return audit::remove_refused_by_innodb(app);
  const bool on_server =
      server == "postgres" && (levels.empty() || audit::find_server_level(name_in(levels.front())));
  return audit::remove_refused(app, on_server);
}

Result<LoadedAudit> AuditInput::load(const LevelSet& known, Budget budget) const {
  LoadedAudit loaded{.path = path, .text = {}, .app = {}, .problems = {}};
  auto text = read_whole(path, budget);
  if (!text) return text.error();
  loaded.text = *std::move(text);
  auto read = read_application(loaded.text, budget);
  if (!read) return loaded.located(explain_kind(read.error(), TextKind::Sql, loaded.text)).in(path);
  sql::Application* file = &read->app;

  std::vector<std::string> names;
  for (const std::string& name : only) names.push_back(name_in(name));
  for (const std::string& name : names) {
    if (auto expected = expect_function(*file, name, "--only"); !expected) return expected.error();
  }
  const auto is_wanted = [&](const std::string& name) {
    return names.empty() || std::ranges::find(names, name) != names.end();
  };
  std::vector<sql::Note> left_out;
  for (std::size_t i = 0; i < file->left_out.size(); ++i) {
    if (!is_wanted(file->left_out[i])) continue;
    loaded.problems.push_back(loaded.located(file->problems[i]));
    left_out.push_back(audit::left_out_note(file->left_out[i], file->problems[i]));
  }
  // Functions that were asked for and are left out leave nothing to audit, not everything.
  std::vector<std::string> understood = names;
  std::erase_if(understood, [&](const std::string& name) { return !file->find_function(name); });
  auto app = audit::only(*file, understood);
  if (!app) return app.error();
  loaded.app = *std::move(app);
  if (understood.empty() && !names.empty()) loaded.app.functions.clear();

  for (const audit::Refused& refused : remove_refused(loaded.app)) {
    loaded.problems.push_back(loaded.located(refused.why));
    left_out.push_back(audit::left_out_note(refused.function, refused.why));
  }
  std::erase_if(loaded.app.notes, [&](const sql::Note& note) {
    return !note.function.empty() && !loaded.app.find_function(note.function);
  });
  for (sql::Note& note : sql::comments_passed_over(read->sql))
    loaded.app.notes.push_back(std::move(note));
  loaded.app.notes.insert(loaded.app.notes.begin(), left_out.begin(), left_out.end());
  if (!is_on_mariadb()) {
    for (sql::Note& note : audit::model_notes(loaded.app))
      loaded.app.notes.push_back(std::move(note));
  }

  for (const std::string& name : levels) {
    auto level = find_audited(*this, known, name_in(name));
    if (!level) return level.error();
    loaded.candidates.push_back(*level);
  }
  if (loaded.candidates.empty()) {
    auto level = default_level(*this);
    if (!level) return level.error();
    loaded.candidates.push_back(*level);
  }
  sort_by_strength(loaded.candidates);
  loaded.levels.base = loaded.candidates.front();
  add_stronger(loaded.candidates);
  if (auto assigned = assign_levels(*this, *file, known, loaded); !assigned)
    return assigned.error();
  if (auto added = add_serial(*this, *file, loaded); !added) return added.error();
  return loaded;
}

}  // namespace isoscope
