#include "force/app_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "spec/levels.h"
#include "sql/server/level.h"
#include "sql/value.h"
#include "verdict/logic.h"

namespace isoscope::force {
namespace {

// The level of the server that is made for a definition.
std::optional<sql::server::PgLevel> level_for(const Level& definition) {
  using sql::server::PgLevel;
  const auto logic = logic_of(definition);
  if (!logic) return std::nullopt;
  switch (*logic) {
    case Logic::Rc: return PgLevel::ReadCommitted;
    case Logic::Si: return PgLevel::RepeatableRead;
    case Logic::Ser: return PgLevel::Serializable;
    case Logic::True:
    case Logic::Ra:
    case Logic::Cc:
    case Logic::Pc:
    case Logic::Ua:
    case Logic::Psi: break;
  }
  return std::nullopt;
}

// As the server tags what has ended: "UPDATE 1".
std::string tag_of(record::StatementKind kind, std::uint64_t rows) {
  if (kind == record::StatementKind::Select) return fmt::format("SELECT {}", rows);
  if (kind == record::StatementKind::Insert) return fmt::format("INSERT 0 {}", rows);
  if (kind == record::StatementKind::Update) return fmt::format("UPDATE {}", rows);
  return fmt::format("DELETE {}", rows);
}

}  // namespace

std::string sql_isolation(std::string_view level) {
  auto own = sql::server::find_pg_level(level);
  if (!own) {
    std::string name(level);
    std::ranges::replace_if(
        name, [](char c) { return c == ' ' || c == '_'; }, '-');
    if (const auto defined = LevelSet::built_in().find(name)) own = level_for(**defined);
  }
  return own ? std::string(sql::server::sql_words_of(*own)) : std::string();
}

Result<AppCalls> calls_of_app(const sql::Application& app, const std::string& isolation,
                              const std::vector<std::string>& only) {
  AppCalls calls;
  for (std::uint32_t s = 0; s < app.sessions.size(); ++s) {
    const sql::SqlSession& session = app.sessions[s];
    for (std::size_t i = 0; i < session.calls.size(); ++i) {
      const sql::SessionCall& call = session.calls[i];
      const std::string name = fmt::format("{}[{}]", session.name, i + 1);
      if (!only.empty() && std::ranges::find(only, name) == only.end()) continue;
      const sql::Function& function = app.function(call.function);
      if (const sql::Statement* end = sql::find_end_of_transaction(function.body))
        return Error{.where = end->place,
                     .what = fmt::format("{} ends its transaction here and goes on: its calls are "
                                         "not played on a server",
                                         function.name),
                     .hint = "explore and run execute it at PostgreSQL's levels"};
      const std::string level = !call.level.empty() ? call.level : function.level;
      const std::string own = level.empty() ? isolation : sql_isolation(level);
      if (own.empty())
        return Error{.where = call.place,
                     .what = fmt::format("'{}' is no level of PostgreSQL", level),
                     .hint = "read-committed, repeatable-read and serializable are"};
      std::string arguments;
      for (const sql::Value& argument : call.arguments)
        arguments += (arguments.empty() ? "" : ", ") + sql::print(argument);
      calls.push_back({.name = name,
                       .session = {s},
                       .session_name = session.name,
                       .function = function.name,
                       .isolation = own,
                       .call = fmt::format("SELECT {}({})", function.name, arguments)});
    }
  }
  return calls;
}

std::string executed(const InnerStatement& statement, const GateNotice& notice) {
  return statement.sql.empty() ? statement.shown : with_parameters(statement.sql, notice.values);
}

record::RecordedTxn recorded_txn(const GatedApplication& app, const CalledTxn& called) {
  record::RecordedTxn txn{.connection = called.connection,
                          .status = called.status,
                          .is_explicit = true,
                          .isolation = record::Isolation::declared(called.isolation),
                          .error = called.error};
  const auto gap = app.gaps.find(called.function);
  if (gap != app.gaps.end() && !gap->second.empty())
    txn.gaps.push_back({0, fmt::format("function {}: {}", called.function, gap->second)});
  bool was_last_ended = true;
  for (const GateNotice& notice : called.notices) {
    const InnerStatement& inner = app.statements.entries().at(notice.statement.index);
    if (inner.sql.empty()) continue;
    record::RecordedStatement statement{
        .kind = inner.kind,
        .sql = executed(inner, notice),
        .sent = notice.time,
        .start = notice.time,
        .end = notice.end.value_or(std::numeric_limits<record::Microseconds>::max()),
        .gate = inner.tells_snapshot ? notice.execution : 0,
        .gate_tells_all = true};
    was_last_ended = !inner.tells_rows || notice.rows;
    statement.tag = tag_of(inner.kind, inner.tells_rows ? notice.rows.value_or(0) : 1);
    if (txn.statements.empty()) txn.start = notice.time;
    txn.end = std::max(txn.end, notice.end.value_or(notice.time));
    txn.statements.push_back(std::move(statement));
    if (!inner.gap.empty()) txn.gaps.push_back({txn.statements.size(), inner.gap});
  }
  // What failed is the statement that has not told its rows.
  if (!was_last_ended) {
    txn.statements.back().error = called.error.empty() ? "XX000" : called.error;
    txn.statements.back().tag.clear();
  }
  return txn;
}

}  // namespace isoscope::force
