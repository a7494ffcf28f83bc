#include "audit/repairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "audit/server_levels.h"
#include "verdict/logic.h"

namespace isoscope::audit {

namespace {

using sql::ExprOp;

void for_each(std::span<const sql::Statement> body,
              const std::function<void(const sql::Statement&)>& action) {
  for (const sql::Statement& statement : body) {
    action(statement);
    for_each(statement.body(), action);
    for_each(statement.otherwise(), action);
  }
}

// The statements that stand in the function itself, not in one that it calls or that a trigger
// calls: a change of those is a change of other functions, too.
void for_each_own(std::span<sql::Statement> body,
                  const std::function<void(sql::Statement&)>& action) {
  for (sql::Statement& statement : body) {
    if (statement.is<sql::Block>() && !statement.catches() && !statement.text.empty()) continue;
    action(statement);
    for_each_own(statement.body(), action);
    for_each_own(statement.otherwise(), action);
  }
}

// Some foreign key refers to the table.
bool is_target(const sql::Application& app, sql::TableId table) {
  return std::ranges::any_of(app.tables, [&](const sql::Table& other) {
    return std::ranges::any_of(other.foreign_keys,
                               [&](const sql::ForeignKey& key) { return key.target == table; });
  });
}

// As SQL names it: in quotes where the plain word would be another name or a word of the language.
std::string sql_name(const std::string& name) {
  static const std::set<std::string_view> kReserved = {
      "all",        "analyse",    "analyze", "and",     "any",        "array",   "as",
      "asc",        "asymmetric", "both",    "case",    "cast",       "check",   "collate",
      "column",     "constraint", "create",  "default", "deferrable", "desc",    "distinct",
      "do",         "else",       "end",     "except",  "false",      "fetch",   "for",
      "foreign",    "from",       "grant",   "group",   "having",     "in",      "initially",
      "intersect",  "into",       "lateral", "leading", "limit",      "not",     "null",
      "offset",     "on",         "only",    "or",      "order",      "placing", "primary",
      "references", "returning",  "select",  "some",    "symmetric",  "table",   "then",
      "to",         "trailing",   "true",    "union",   "unique",     "user",    "using",
      "variadic",   "when",       "where",   "window",  "with"};
  const bool is_plain = !name.empty() && (name.front() < '0' || name.front() > '9') &&
                        std::ranges::all_of(name, [](char c) {
                          return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
                        });
  if (is_plain && !kReserved.contains(name)) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// All places of the word in the text, in any case of letters, outside of quotes.
std::vector<std::size_t> places_of_word(std::string_view text, std::string_view word) {
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
  };
  std::vector<std::size_t> places;
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (quote != 0 || text[at] == '\'' || text[at] == '"') {
      if (quote == 0) {
        quote = text[at];
      } else if (text[at] == quote) {
        quote = 0;
      }
      continue;
    }
    const bool is_start = at == 0 || !is_letter(text[at - 1]);
    const std::size_t end = at + word.size();
    if (!is_start || end > text.size() || (end < text.size() && is_letter(text[end]))) continue;
    if (std::ranges::equal(text.substr(at, word.size()), word, [](char a, char b) {
          return std::tolower(static_cast<unsigned char>(a)) == b;
        }))
      places.push_back(at);
  }
  return places;
}

void add_locks(const sql::Application& app, std::vector<Candidate>& candidates) {
  for (const sql::FunctionId f : app.function_ids()) {
    if (is_called(app, app.function(f).name) || app.function(f).only_reads) continue;
    for (std::uint32_t number = 0; number < app.function(f).num_statements; ++number) {
      Candidate candidate{app, {.kind = RepairKind::Lock, .function = app.function(f).name}};
      bool is_changed = false;
      for_each_own(candidate.app.function(f).body, [&](sql::Statement& statement) {
        auto* select = statement.find<sql::Select>();
        if (statement.number != number || select == nullptr || !can_lock(*select)) return;
        const bool is_referred_to = std::ranges::any_of(
            select->query.sources, [&](sql::TableId table) { return is_target(app, table); });
        const std::string text =
            with_lock(statement, is_referred_to ? "FOR NO KEY UPDATE" : "FOR UPDATE");
        if (text.empty()) return;
        select->query.lock = is_referred_to ? sql::Lock::NoKeyUpdate : sql::Lock::Update;
        candidate.repair.place = statement.place;
        candidate.repair.before = statement.text;
        candidate.repair.what = text;
        is_changed = true;
      });
      if (is_changed) candidates.push_back(std::move(candidate));
    }
  }
}

void add_equalities(const sql::Expr& expr, std::vector<sql::ColumnId>& columns) {
  if (expr.op == ExprOp::And) {
    for (const sql::Expr& arg : expr.args) add_equalities(arg, columns);
  }
  if (expr.op != ExprOp::Equal) return;
  for (const sql::Expr& side : expr.args) {
    if (side.op == ExprOp::Column && side.source == sql::SourceId{0})
      columns.push_back(side.column);
  }
}

// Do two rows of the file have the same values there? Then no such constraint can be added.
bool has_doubles(const sql::Application& app, sql::TableId table,
                 const std::vector<sql::ColumnId>& columns) {
  std::set<std::vector<std::string>> known;
  for (const sql::InitialRow& row : app.initial_rows) {
    if (row.table != table) continue;
    std::vector<std::string> values;
    for (const sql::ColumnId column : columns) {
      if (!row.values[column].is_null()) values.push_back(sql::print(row.values[column]));
    }
    if (values.size() == columns.size() && !known.insert(values).second) return true;
  }
  return false;
}

// Columns that a function looks for in a table that it inserts into.
void add_unique(const Problem& problem, std::vector<Candidate>& candidates, Budget& budget) {
  const sql::Application& app = problem.app;
  std::vector<std::pair<sql::TableId, std::vector<sql::ColumnId>>> known;
  for (const sql::Function& function : app.functions) {
    std::vector<sql::TableId> inserted;
    for_each(function.body, [&](const sql::Statement& statement) {
      if (const auto* insert = statement.find<sql::Insert>()) inserted.push_back(insert->table);
    });
    for_each(function.body, [&](const sql::Statement& statement) {
      if (!statement.is<sql::Select>()) return;
      const sql::Query& query = *statement.query();
      if (query.sources.size() != 1 || !query.where) return;
      const sql::TableId table = query.sources.front();
      if (std::ranges::find(inserted, table) == inserted.end()) return;
      std::vector<sql::ColumnId> columns;
      add_equalities(*query.where, columns);
      std::ranges::sort(columns);
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      const sql::Table& declared = app.table(table);
      std::vector<sql::ColumnId> key = declared.primary_key;
      std::ranges::sort(key);
      const auto change = std::pair(table, columns);
      if (columns.empty() || columns == key || std::ranges::find(known, change) != known.end())
        return;
      known.push_back(change);
      if (has_doubles(app, table, columns) || !refuses_nothing(problem, table, columns, budget))
        return;
      Candidate candidate{app, {.kind = RepairKind::Unique, .place = declared.place}};
      candidate.app.tables[table.index].unique.push_back(columns);
      std::string names;
      for (const sql::ColumnId column : columns)
        names += (names.empty() ? "" : ", ") + sql_name(declared.columns[column].name);
      candidate.repair.what =
          fmt::format("ALTER TABLE {} ADD UNIQUE ({})", sql_name(declared.name), names);
      candidates.push_back(std::move(candidate));
    });
  }
}

sql::Expr number_expr(std::int64_t value) { return {.op = ExprOp::Integer, .number = value}; }

// How many statements of the body are declarations with a value: no statement comes before them.
std::size_t num_declarations(const sql::Function& function) {
  std::size_t declared = 0;
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const sql::Statement& statement = function.body[i];
    const auto* assign = statement.find<sql::Assign>();
    if (assign == nullptr) continue;  // a query of the value
    if (statement.place != function.variables[assign->target.index].place) break;
    declared = i + 1;
  }
  return declared;
}

// A table of a name that is free, and its one row that every call of these functions writes first.
void add_materialized(const sql::Application& app, const std::vector<sql::FunctionId>& functions,
                      std::vector<Candidate>& candidates) {
  constexpr std::string_view kTable = "audit_turn";
  const bool is_taken = std::ranges::any_of(
      app.tables, [&](const sql::Table& table) { return table.name == kTable; });
  const bool is_shared = std::ranges::any_of(functions, [&](sql::FunctionId f) {
    return app.function(f).only_reads || is_called(app, app.function(f).name);
  });
  if (is_taken || is_shared || functions.empty()) return;
  Candidate candidate{app, {.kind = RepairKind::Materialize}};
  sql::Table turn;
  turn.name = kTable;
  const sql::ColumnId id{0};
  const sql::ColumnId n{1};
  for (const char* name : {"id", "n"}) turn.columns.push_back({.name = name, .not_null = true});
  turn.primary_key = {id};
  const sql::TableId table{static_cast<std::uint32_t>(app.tables.size())};
  candidate.app.tables.push_back(std::move(turn));
  sql::Expr next{.op = ExprOp::Add, .args = {{.op = ExprOp::Column, .column = n}, number_expr(1)}};
  std::string names;
  std::string places;
  std::set<sql::FunctionId> changed;
  const std::string text = fmt::format(
      "INSERT INTO {0} VALUES (1, 0) ON CONFLICT (id) DO UPDATE SET n = {0}.n + 1", kTable);
  for (const sql::FunctionId f : functions) {
    if (!changed.insert(f).second) continue;
    sql::Function& function = candidate.app.function(f);
    sql::Insert insert;
    insert.table = table;
    insert.sets = {{id, number_expr(1)}, {n, number_expr(0)}};
    insert.conflict = sql::OnConflict::Update;
    insert.conflict_key = {id};
    insert.conflict_sets = {{n, next}};
    const auto first =
        function.body.begin() + static_cast<std::ptrdiff_t>(num_declarations(function));
    sql::Statement write{.place = first == function.body.end() ? function.place : first->place,
                         .text = text,
                         .number = function.num_statements++,
                         .kind = std::move(insert)};
    if (names.empty()) candidate.repair.place = write.place;
    places +=
        fmt::format("{}{} (line {})", names.empty() ? "" : ", ", function.name, write.place.line);
    names += (names.empty() ? "" : ", ") + function.name;
    function.body.insert(first, std::move(write));
  }
  candidate.repair.function = names;
  candidate.repair.what = fmt::format(
      "CREATE TABLE {} (id integer PRIMARY KEY, n integer NOT NULL)\n"
      "-- as the first statement of {}:\n{}",
      kTable, places, text);
  candidates.push_back(std::move(candidate));
}

}  // namespace

bool is_called(const sql::Application& app, const std::string& name) {
  const std::function<bool(std::span<const sql::Statement>)> has_call =
      [&](std::span<const sql::Statement> body) {
        return std::ranges::any_of(body, [&](const sql::Statement& statement) {
          const auto* block = statement.find<sql::Block>();
          return (block != nullptr && block->called == name) || has_call(statement.body()) ||
                 has_call(statement.otherwise());
        });
      };
  return std::ranges::any_of(
      app.functions, [&](const sql::Function& function) { return has_call(function.body); });
}

bool is_same_expr(const sql::Expr& a, const sql::Expr& b) {
  return a.op == b.op && a.number == b.number && a.text == b.text && a.var == b.var &&
         a.source == b.source && a.column == b.column &&
         std::ranges::equal(a.args, b.args, is_same_expr);
}

bool can_lock(const sql::Select& select) {
  const sql::Query& query = select.query;
  return !query.sources.empty() && !query.rows && !query.group_by && !query.is_aggregate() &&
         !query.distinct && query.distinct_on.empty() && !select.into_rows &&
         (!select.in_expression || select.runs_whole) && query.lock == sql::Lock::None;
}

std::string with_lock(const sql::Statement& statement, std::string_view clause) {
  const std::string& text = statement.text;
  const std::vector<std::size_t> selects = places_of_word(text, "select");
  const bool is_whole = !places_of_word(text.substr(0, 7), "perform").empty() ||
                        (!selects.empty() && selects.front() == 0);
  if (!statement.as<sql::Select>().in_expression)
    return is_whole ? fmt::format("{} {}", text, clause) : "";
  // The one subquery of an expression: up to the bracket that closes it.
  if (is_whole || selects.size() != 1 || text[selects.front() - 1] != '(' ||
      text.find('\'') != std::string::npos || text.find('"') != std::string::npos)
    return "";
  std::size_t depth = 1;
  for (std::size_t at = selects.front(); at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0)
      return fmt::format("{} {}{}", text.substr(0, at), clause, text.substr(at));
  }
  return "";
}

bool names_one_row(const sql::Table& table, const sql::Expr& where) {
  const std::function<bool(const sql::Expr&)> has_column = [&](const sql::Expr& expr) {
    return expr.op == ExprOp::Column || std::ranges::any_of(expr.args, has_column);
  };
  std::set<sql::ColumnId> named;
  const std::function<void(const sql::Expr&)> add = [&](const sql::Expr& expr) {
    if (expr.op == ExprOp::And) std::ranges::for_each(expr.args, add);
    if (expr.op != ExprOp::Equal) return;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      const sql::Expr& column = expr.args[side];
      if (column.op == ExprOp::Column && column.source == sql::SourceId{0} &&
          !has_column(expr.args[1 - side]))
        named.insert(column.column);
    }
  };
  add(where);
  return std::ranges::all_of(table.primary_key,
                             [&](sql::ColumnId column) { return named.contains(column); });
}

std::string_view name_of(RepairKind kind) {
  switch (kind) {
    case RepairKind::Lock: return "lock";
    case RepairKind::Unique: return "unique";
    case RepairKind::Atomic: return "atomic";
    case RepairKind::Guarded: return "guarded";
    case RepairKind::Materialize: return "materialize";
  }
  return "";
}

bool refuses_nothing(const Problem& problem, sql::TableId table,
                     const std::vector<sql::ColumnId>& columns, Budget& budget) {
  const sql::Changes changes(problem.app);
  for (const sql::ColumnId column : columns) {
    if (changes.is_updated(table, column)) return false;  // that may make two rows alike
  }
  // A call alone has one view of all its statements.
  const Problem alone{problem.app, {reference_level(Logic::Ser, Framework::VisAr), {}}};
  OpenWorld open(alone, budget);
  World& world = open.world();
  Symbols& symbols = world.symbols();
  for (const sql::FunctionId f : problem.app.function_ids()) {
    const Member call = world.member(f, 0);
    Instance& instance = world.instance(call);
    std::vector<const Access*> inserts;
    for (const Access& access : instance.accesses) {
      if (access.is_insert && access.table == table && access.attribute == kPresence && access.row)
        inserts.push_back(&access);
    }
    const auto value = [&](const Row& row, sql::ColumnId column) {
      if (const auto number = symbols.key_value(table, column, row)) return *number;
      return world.written(call, table, Attribute(column), row);
    };
    for (const Access* insert : inserts) {
      // Another row that it sees.
      Row other;
      for (std::size_t k = 0; k < problem.app.table(table).primary_key.size(); ++k)
        other.push_back(symbols.fresh_number("other"));
      std::vector<SmtTerm> about = {insert->guard, instance.presence(table, other)};
      for (const sql::ColumnId column : columns) {
        const SymValue mine = value(*insert->row, column);
        const SymValue seen = instance.value(table, column, other);
        about.push_back(!mine.null && !seen.null && equals(mine.number, seen.number));
      }
      for (const RowFact& fact : instance.row_facts) {
        if (fact.table == table) about.push_back(world.terms(call).holds(fact.holds, other));
      }
      const Member cast[] = {call};
      if (open.ask(cast, about, budget) != SmtResult::Unsat) return false;
      // Another row of its own.
      for (const Access* second : inserts) {
        if (second == insert) continue;
        std::vector<SmtTerm> both = {insert->guard, second->guard,
                                     !symbols.same_row(*insert->row, *second->row)};
        for (const sql::ColumnId column : columns) {
          const SymValue mine = value(*insert->row, column);
          const SymValue also = value(*second->row, column);
          both.push_back(!mine.null && !also.null && equals(mine.number, also.number));
        }
        if (open.ask(cast, both, budget) != SmtResult::Unsat) return false;
      }
    }
  }
  return true;
}

std::vector<Candidate> repairs_of(const Problem& problem,
                                  const std::vector<sql::FunctionId>& anomaly, Budget& budget) {
  std::vector<Candidate> candidates;
  const bool is_server = is_on_server(problem.levels);
  if (is_server) add_guarded(problem.app, candidates);
  add_locks(problem.app, candidates);
  try {
    add_unique(problem, candidates, budget);
  } catch (const SmtStopped&) {
    return candidates;  // the budget is over, which the caller sees
  }
  if (is_server) add_materialized(problem.app, anomaly, candidates);
  return candidates;
}

}  // namespace isoscope::audit
