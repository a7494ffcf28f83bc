#include "cli/server_program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "cli/values.h"
#include "program/program.h"
#include "report/server_report.h"
#include "sql/evaluate.h"
#include "sql/run/program.h"
#include "sql/server/innodb_fragment.h"
#include "sql/server/level.h"
#include "sql/server/recorded.h"
#include "sql/server/refusals.h"
#include "sql/server/schedules.h"
#include "support/output.h"

namespace isoscope {
namespace {

using sql::server::Machine;
using sql::server::PgLevel;
using sql::server::ServerKind;

std::string levels_text(const ServerLevels& on) {
  const std::set<PgLevel> distinct(on.levels.begin(), on.levels.end());
  std::string text;
  for (const PgLevel level : distinct)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(on.server, level));
  return text;
}

// Functions that are called inside of statements and run once here, while the server runs them per
// row, by a newer snapshot, or not at all.
void add_rough_calls(std::span<const sql::Statement> body, const std::string& function,
                     std::vector<sql::Note>& gaps) {
  for (const sql::Statement& statement : body) {
    const auto* block = statement.find<sql::Block>();
    if (block != nullptr && block->is_rough) {
      gaps.push_back({.where = statement.place,
                      .function = function,
                      .what = fmt::format("{} is called inside of a statement: it runs once here, "
                                          "the server may run it for each row, or not at all",
                                          statement.text),
                      .kind = sql::NoteKind::Gap});
      continue;
    }
    add_rough_calls(statement.body(), function, gaps);
    add_rough_calls(statement.otherwise(), function, gaps);
  }
}

// Would the handler go on after this error?
bool catches(const sql::Function& function, const sql::Handler& handler, const char* sqlstate) {
  std::vector<sql::Value> variables(function.variables.size());
  variables[handler.targets[0].index] = sql::Value(std::string(sqlstate));
  const auto* when = handler.body.empty() ? nullptr : handler.body.front().find<sql::If>();
  while (when != nullptr) {
    const auto holds = sql::evaluate(when->condition, variables);
    if (!holds || sql::is_true(*holds)) return true;
    when = when->otherwise.empty() ? nullptr : when->otherwise.front().find<sql::If>();
  }
  return false;
}

// SERIALIZABLE ends any statement with 40001, here a COMMIT alone: a handler makes of it whatever
// it likes.
void add_caught_aborts(std::span<const sql::Statement> body, const sql::Function& function,
                       std::vector<sql::Note>& gaps) {
  for (const sql::Statement& statement : body) {
    const auto* block = statement.find<sql::Block>();
    if (block != nullptr && block->handler && catches(function, *block->handler, "40001"))
      gaps.push_back({.where = statement.place,
                      .function = function.name,
                      .what = "this EXCEPTION block catches 40001, with which SERIALIZABLE ends "
                              "statements on the server; here it ends a COMMIT",
                      .kind = sql::NoteKind::Gap});
    add_caught_aborts(statement.body(), function, gaps);
    add_caught_aborts(statement.otherwise(), function, gaps);
  }
}

// Do statements meet a rule that is not modelled?
bool meets_rule(std::span<const sql::Statement> body, const sql::Note& rule) {
  const auto is_of_table = [&](sql::TableId id) { return id == rule.table; };
  return std::ranges::any_of(body, [&](const sql::Statement& statement) {
    if (meets_rule(statement.body(), rule) || meets_rule(statement.otherwise(), rule)) return true;
    if (const sql::Query* query = statement.query())
      return !rule.columns && std::ranges::any_of(query->sources, is_of_table);
    const sql::Write* write = statement.write();
    if (write == nullptr || !is_of_table(write->table)) return false;
    const auto* update = statement.find<sql::Update>();
    if (!rule.columns) return true;
    if (update == nullptr) return !statement.is<sql::Delete>();
    return std::ranges::any_of(update->sets, [&](const sql::SetColumn& set) {
      return std::ranges::find(*rule.columns, set.column) != rule.columns->end();
    });
  });
}

std::vector<sql::Note> gaps_on(const LoadedProgram& input, const ServerLevels& on) {
  std::vector<sql::Note> gaps = on.gaps;
  std::ranges::move(gaps_of(input), std::back_inserter(gaps));
  if (input.sql == nullptr || on.server != ServerKind::Postgres) return gaps;
  std::set<std::string> serializable;
  std::size_t number = 0;
  for (const Call& call : input.sql->outline().calls) {
    if (on.levels[number++] == PgLevel::Serializable) serializable.insert(call.function);
  }
  for (const sql::Function& function : input.sql->app().functions) {
    if (serializable.contains(function.name)) add_caught_aborts(function.body, function, gaps);
  }
  return gaps;
}

// A program on the server, and what it claims.
struct OnServer {
  OnServer(const LoadedProgram& input, const ServerLevels& on, const Budget& budget,
           bool late_wakeups)
      : machine(input.txn != nullptr
                    ? Machine(*input.txn, on.levels, late_wakeups)
                    : Machine(*input.sql, on.levels, budget, late_wakeups, on.server)),
        claims(input.txn != nullptr ? sql::server::claims_of(*input.txn) : input.claims),
        shown{.machine = machine,
              .claims = claims,
              .source = input.path,
              .level = levels_text(on),
              .gaps = gaps_on(input, on)} {}

  Machine machine;
  std::vector<sql::RowAssertion> claims;
  ServerProgram shown;
};

}  // namespace

std::vector<sql::Note> gaps_of(const LoadedProgram& input) {
  if (input.sql == nullptr) return {};
  const sql::SqlProgram& program = *input.sql;
  std::set<std::string> called;
  for (const Call& call : program.outline().calls) called.insert(call.function);
  const auto is_met = [&](const sql::Note& rule) {
    return std::ranges::any_of(program.app().functions, [&](const sql::Function& function) {
      return called.contains(function.name) && meets_rule(function.body, rule);
    });
  };
  std::vector<sql::Note> gaps;
  for (const sql::Note& note : program.app().notes) {
    const bool concerns =
        (note.function.empty() || called.contains(note.function)) && (!note.table || is_met(note));
    if (concerns && note.kind != sql::NoteKind::Remark) gaps.push_back(note);
  }
  for (const sql::Function& function : program.app().functions) {
    if (called.contains(function.name)) add_rough_calls(function.body, function.name, gaps);
  }
  return gaps;
}

void ServerInput::add_to(CLI::App& app) {
  app.add_option(
         "--server", server,
         "whose semantics SQL programs have: that of a server, or the definitions of levels")
      ->type_name("postgres|mariadb|formal")
      ->check(one_of({"postgres", "mariadb", "formal"}))
      ->capture_default_str();
  app.add_flag("--late-wakeups", late_wakeups,
               "on a server, let others overtake a statement whose lock has just become free");
}

Result<std::optional<ServerLevels>> ServerInput::on_mariadb(const LoadedProgram& input,
                                                            const std::string& level) const {
  if (input.sql == nullptr)
    return Error{.what = "--server mariadb is for SQL programs",
                 .hint = "a .txn program is executed by definitions of levels, or at pg-rc"};
  const std::string hint =
      fmt::format("MariaDB's levels are {} here",
                  sql::server::level_names(sql::server::ServerKind::MariaDb, "and"));
  ServerLevels on{.server = sql::server::ServerKind::MariaDb};
  const auto base =
      level.empty() ? std::optional(PgLevel::RepeatableRead) : sql::server::find_mysql_level(level);
  if (!base) return Error{.what = fmt::format("'{}' is no level of MariaDB", level), .hint = hint};
  for (const Call& call : input.program->outline().calls) {
    const auto own = call.level.empty() ? base : sql::server::find_mysql_level(call.level);
    if (!own)
      return input.located({.where = call.level_place,
                            .what = fmt::format("'{}' is no level of MariaDB", call.level),
                            .hint = hint});
    on.levels.push_back(*own);
  }
  auto gaps = sql::server::check_innodb(*input.sql);
  if (!gaps) return input.located(gaps.error());
  on.gaps = *std::move(gaps);
  return std::optional(std::move(on));
}

Result<std::optional<ServerLevels>> ServerInput::levels(const LoadedProgram& input,
                                                        const LevelSet& known,
                                                        const std::string& level) const {
  using ByCall = std::optional<ServerLevels>;
  if (server == "mariadb") return on_mariadb(input, level);
  // Of a .txn program `read-committed` is the definition; pg-rc is the server's.
  const auto find = [&](const std::string& name) {
    const auto found = sql::server::find_pg_level(name);
    const bool is_own_name = name.starts_with("pg-") || name.starts_with("PG-");
    return input.sql != nullptr || is_own_name ? found : std::nullopt;
  };
  if (input.sql == nullptr && (input.txn == nullptr || !find(level))) return ByCall();
  const auto base = level.empty() ? PgLevel::ReadCommitted : find(level);
  const bool is_formal = server == "formal" || !base;
  if (is_formal) {
    // A level that nobody knows is no level of a definition.
    if (!base) {
      if (auto found = input.find_level(known, level); !found) return found.error();
    }
    if (auto whole = input.require_whole_calls(); !whole) return whole.error();
    if (!input.claims.empty() && !level.empty()) {
      return input.located({.where = input.claims.front().place,
                            .what = "claims about rows are checked at PostgreSQL's levels only",
                            .hint = "use --level " + sql::server::pg_level_names()});
    }
    return ByCall();
  }
  ServerLevels on;
  for (const Call& call : input.program->outline().calls) {
    const auto own = call.level.empty() ? base : find(call.level);
    if (!own) {
      return input.located({.where = call.level_place,
                            .what = fmt::format("'{}' is no level of PostgreSQL, and levels of a "
                                                "server mix only with each other",
                                                call.level),
                            .hint = level.empty() ? "name the level of the others: --level si"
                                                  : "use " + sql::server::pg_level_names()});
    }
    on.levels.push_back(*own);
  }
  return ByCall(std::move(on));
}

namespace {

// The server aborts more at SERIALIZABLE than is needed: does some claim that holds otherwise fail
// then?
std::optional<sql::Note> claim_without_refused(const OnServer& on, const Budget& budget) {
  if (on.claims.empty() || !sql::server::Refusals(on.machine).any()) return std::nullopt;
  const auto all = sql::server::explore(
      on.machine, on.claims,
      {.budget = budget, .stop_at_violation = true, .max_violations = 1, .refuses = true});
  const bool fails = !all.violations.empty();
  if (!fails && !all.is_out_of_time && !all.fault) return std::nullopt;
  const std::size_t claim = fails ? all.violations.front().broken.front().claim : 0;
  return sql::Note{
      .where = on.claims[claim].place,
      .function = "",
      .what = fmt::format("SERIALIZABLE may abort calls without need (40001): then this assertion "
                          "{}",
                          fails ? "fails" : "was not asked in every run"),
      .kind = sql::NoteKind::Gap};
}

}  // namespace

int explore_on_server(const CommonOptions& common, const LoadedProgram& input,
                      const ServerLevels& levels, const ServerExploreOptions& options,
                      const Budget& budget) {
  const OnServer on(input, levels, budget, options.late_wakeups);
  ServerExploreReport report{.on = on.shown, .all = {}};
  std::optional<Output> stream;
  if (!options.histories.empty()) {
    auto output = Output::open_lines(options.histories);
    if (!output) return fail(output.error());
    stream = std::move(*output);
  }
  std::uint64_t number = 0;
  std::optional<Error> unwritten;  // why a history has no line
  sql::server::ScheduleOptions asked{.budget = budget,
                                     .stop_at_violation = options.assert_only,
                                     .max_violations = options.assert_only ? 1 : options.violations,
                                     .wants_outcomes = options.outcomes,
                                     .on_history = {},
                                     .progress = progress_line(common)};
  if (stream) {
    asked.on_history = [&](const sql::server::State& state,
                           const std::vector<sql::server::Choice>& schedule, bool violates) {
      const auto line = server_history_line(report.on, state, schedule, ++number, violates);
      if (line) {
        stream->write(*line);
      } else if (!unwritten) {
        unwritten = line.error();
      }
      return line && !stream->has_failed();
    };
  }
  report.all = sql::server::explore(on.machine, on.claims, asked);
  clear_progress_line();
  if (unwritten) return fail(input.located(*unwritten));
  if (stream) {
    if (auto closed = stream->close(); !closed) return fail(closed.error());
  }
  if (report.all.fault) return fail(input.located(*report.all.fault));
  if (report.all.violating == 0 && !report.all.is_out_of_time) {
    if (auto gap = claim_without_refused(on, budget)) report.on.gaps.push_back(*std::move(gap));
  }
  report.wants_outcomes = options.outcomes;
  const Outcome outcome = header_of(report).outcome;
  report.stopped_early = options.assert_only && outcome == Outcome::Violated;
  report.seconds = seconds_running();
  if (auto written = options.pictures.write([&] { return server_explore_page(report); }); !written)
    return fail(written.error());
  const int code = exit_code(outcome);
  return deliver(
      common,
      common.json ? server_explore_json(report) : server_explore_text(report, common.paint()),
      code);
}

int run_on_server(const CommonOptions& common, const LoadedProgram& input,
                  const ServerLevels& levels, const ServerRunOptions& options, Budget budget) {
  const OnServer on(input, levels, budget, options.late_wakeups);
  const Machine& machine = on.machine;
  ServerRunReport report{
      .on = on.shown, .runs = {}, .seed = options.seed, .wanted_runs = options.runs};
  sql::server::SerialEnds serial(machine, budget);
  const Progress progress = progress_line(common);
  ServerRuns& runs = report.runs;
  for (std::uint64_t i = 0; i < options.runs; ++i) {
    if (budget.expired_now()) {
      runs.is_expired = true;
      break;
    }
    if (progress)
      progress(fmt::format("running: {} failed an assertion, {} unserializable", runs.failed,
                           runs.unserializable),
               static_cast<double>(i) / static_cast<double>(options.runs));
    const std::uint64_t seed = options.seed + i;
    Rng rng(seed);
    sql::server::RandomRun run = sql::server::run_at_random(machine, on.claims, rng);
    if (run.fault) {
      if (budget.expired_now()) {
        runs.is_expired = true;
        break;
      }
      return fail(input.located(*run.fault));
    }
    const auto end = end_of(machine, run.state);
    const auto is_serial = serial.contains(end);
    const bool has_failed = !run.broken.empty();
    const bool is_unserializable = is_serial && !*is_serial;
    ++runs.runs;
    runs.failed += has_failed ? 1 : 0;
    runs.unserializable += is_unserializable ? 1 : 0;
    runs.undecided += is_serial ? 0 : 1;
    runs.with_aborts += end.has_server_abort() ? 1 : 0;
    // Shown is the first in which a claim failed, else the first unserializable one, else the
    // first.
    const bool is_shown = !runs.shown || (has_failed && !runs.first_failed) ||
                          (is_unserializable && !runs.first_failed && !runs.first_unserializable);
    if (has_failed && !runs.first_failed) runs.first_failed = seed;
    if (is_unserializable && !runs.first_unserializable) runs.first_unserializable = seed;
    if (is_shown) {
      runs.shown.emplace(std::move(run));
      runs.shown_seed = seed;
    }
  }
  clear_progress_line();
  if (!options.trace.empty() && runs.shown) {
    const auto history =
        sql::server::to_history(machine, runs.shown->state, options.format == Format::Hist);
    if (!history) return fail(history.error());
    auto output = Output::open(options.trace);
    if (!output) return fail(output.error());
    if (auto written = write_history(*history, options.format, output->sink()); !written)
      return fail(written.error());
    if (auto closed = output->close(); !closed) return fail(closed.error());
  }
  report.seconds = seconds_running();
  if (auto written = options.pictures.write([&] { return server_run_page(report); }); !written)
    return fail(written.error());
  const int code = exit_code(header_of(report).outcome);
  return deliver(common,
                 common.json ? server_run_json(report) : server_run_text(report, common.paint()),
                 code);
}

}  // namespace isoscope
