#include "sql/run/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "sql/run/accesses.h"
#include "sql/run/call_state.h"
#include "sql/run/key_names.h"
#include "sql/run/memory_database.h"

namespace isoscope::sql {
namespace {

// Variables that the author declared. Hidden ones have names that no program can write.
bool is_shown(const Function& function, std::uint32_t variable) {
  const VarId var{variable};
  if (variable < function.num_parameters || var == function.found || var == function.row_count)
    return false;
  const std::string& name = function.variables[variable].name;
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
}

Error no_sessions(const Application& app) {
  const std::string example =
      app.functions.empty() ? std::string("f(1)") : app.functions.front().name + "(…)";
  return {.what = "the program has no sessions",
          .hint = fmt::format("add lines like `-- session alice: {}`, here or in a workload file",
                              example)};
}

}  // namespace

Result<std::unique_ptr<SqlProgram>> SqlProgram::create(Application app) {
  std::vector<FunctionId> called;
  bool has_calls = false;
  for (const SqlSession& session : app.sessions) {
    for (const SessionCall& call : session.calls) {
      const Function& function = app.function(call.function);
      if (call.arguments.size() != function.num_parameters) {
        return Error{.where = call.place,
                     .what = fmt::format(
                         "{} takes {} argument{}, not {}", function.name, function.num_parameters,
                         function.num_parameters == 1 ? "" : "s", call.arguments.size())};
      }
      has_calls = true;
      called.push_back(call.function);
    }
  }
  if (!has_calls) return no_sessions(app);
  std::ranges::sort(called);
  called.erase(std::unique(called.begin(), called.end()), called.end());
  return std::unique_ptr<SqlProgram>(new SqlProgram(std::move(app), called));
}

SqlProgram::SqlProgram(Application app, const std::vector<FunctionId>& called)
    : app_(std::move(app)),
      changes_(app_, called),
      first_fresh_(greatest_initial(app_) + 1),
      initial_(app_.tables.size()),
      universe_(app_.tables.size()),
      inserted_(app_.tables.size()) {
  add_sessions();
  add_families();
  add_initial_rows();
  add_locals();
  for (const SessionCall* call : calls_) add_accesses(app_.function(call->function));
}

namespace {

// Calls in which COMMIT stands in a loop get so many transactions; one that needs more is a limit.
constexpr std::uint32_t kMostParts = 32;

// How many transactions a call may be, if each COMMIT and ROLLBACK outside of loops is met.
std::uint32_t num_parts(std::span<const Statement> body) {
  std::uint32_t parts = 1;
  for (const Statement& statement : body) {
    if (statement.is<EndTransaction>()) ++parts;
    for (const auto inner : {statement.body(), statement.otherwise(), statement.handler()}) {
      const std::uint32_t more = num_parts(inner) - 1;
      parts += statement.is_loop() && more > 0 ? kMostParts : more;
    }
  }
  return std::min(parts, kMostParts);
}

}  // namespace

void SqlProgram::add_sessions() {
  for (const SqlSession& session : app_.sessions) {
    const ProgramSession s = outline_.sessions.next_id();
    const CallId first = outline_.calls.next_id();
    for (std::uint32_t i = 0; i < session.calls.size(); ++i) {
      const SessionCall& call = session.calls[i];
      const Function& function = app_.function(call.function);
      const std::uint32_t parts = num_parts(function.body);
      for (std::uint32_t part = 1; part <= parts; ++part) {
        std::string name = function.name + print(call.arguments);
        if (parts > 1) name += fmt::format(" (part {})", part);
        outline_.calls.push_back({.session = s,
                                  .number = i + 1,
                                  .name = std::move(name),
                                  .level = call.level.empty() ? function.level : call.level,
                                  .place = call.place,
                                  .level_place = call.level.empty() ? function.place : call.place,
                                  .function = function.name,
                                  .part = part});
        calls_.push_back(&call);
      }
    }
    outline_.sessions.push_back({.name = session.name,
                                 .first = first,
                                 .size = outline_.calls.next_id().index - first.index});
  }
}

void SqlProgram::add_families() {
  for (std::uint32_t t = 0; t < app_.tables.size(); ++t) {
    const Table& table = app_.tables[t];
    presence_family_.push_back(keys_.family(table.name));
    families_.push_back({TableId{t}, std::nullopt});
    auto& columns = column_family_.emplace_back();
    for (const ColumnId c : table.columns.ids()) {
      columns.push_back(keys_.family(table.name + "." + table.columns[c].name));
      families_.push_back({TableId{t}, c});
    }
  }
}

void SqlProgram::add_initial_rows() {
  for (const InitialRow& row : app_.initial_rows) {
    const RowKey row_key = key_of(app_.table(row.table), row.values);
    initial_[row.table.index][row_key] = row.values;
    universe_[row.table.index].insert(row_key);
  }
  // Locations that are written get their keys now, so that each has its initial value from the
  // start.
  for (std::uint32_t t = 0; t < app_.tables.size(); ++t) {
    for (const auto& [row_key, row] : initial_[t]) {
      if (!changes_.has_fixed_rows(TableId{t})) key(TableId{t}, row_key, std::nullopt);
      for (const ColumnId c : app_.tables[t].columns.ids()) {
        if (!changes_.is_static(TableId{t}, c)) key(TableId{t}, row_key, c);
      }
    }
  }
}

void SqlProgram::add_locals() {
  for (const SessionCall* call : calls_) {
    const Function& function = app_.function(call->function);
    auto& locals = locals_.emplace_back();
    auto& names = local_names_.emplace_back();
    if (function.returns) {
      locals.push_back({std::nullopt, *function.returns});
      names.emplace_back("result");
    }
    for (std::uint32_t v = 0; v < function.variables.size(); ++v) {
      if (!is_shown(function, v)) continue;
      locals.push_back({VarId{v}, function.variables[v].type});
      names.push_back(function.variables[v].name);
    }
  }
}

void SqlProgram::add_accesses(const Function& function) {
  const Accesses accesses = accesses_of(app_, function);
  const auto families_of = [&](const std::set<Location>& locations) {
    std::vector<FamilyId> list;
    for (const Location& at : locations) {
      list.push_back(at.column ? column_family_[at.table.index][*at.column]
                               : presence_family_[at.table.index]);
    }
    std::ranges::sort(list);
    return list;
  };
  reads_.push_back(families_of(accesses.reads));
  writes_.push_back(families_of(accesses.writes));
}

std::span<const std::string> SqlProgram::local_names(CallId call) const {
  return local_names_[call.index];
}

std::vector<Value> SqlProgram::locals_of(CallId call, const std::vector<Value>& variables,
                                         const std::vector<Value>& returned) const {
  std::vector<Value> values;
  for (const Local& local : locals_[call.index]) {
    if (local.var) {
      values.push_back(variables[local.var->index]);
    } else if (returned.size() == 1) {
      values.push_back(returned.front());
    } else {
      values.push_back(returned.empty() ? Value() : Value(returned));
    }
  }
  return values;
}

const Function& SqlProgram::function(CallId call) const {
  return app_.function(calls_[call]->function);
}

const std::vector<Value>& SqlProgram::arguments(CallId call) const {
  return calls_[call]->arguments;
}

ProgramKey SqlProgram::key(TableId table, const RowKey& row, std::optional<ColumnId> column) const {
  const Table& t = app_.table(table);
  std::vector<std::int64_t> indices;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Type type = t.columns[t.primary_key[i]].type;
    const std::int64_t number = numbers_.number_of(type, row[i]);
    if (!ValueNumbers::is_plain(number)) keys_.name_index(number, index_name(row[i]));
    indices.push_back(number);
  }
  const FamilyId family =
      column ? column_family_[table.index][*column] : presence_family_[table.index];
  const ProgramKey key = keys_.intern(family, indices);
  const auto there = initial_[table.index].find(row);
  if (column) {
    keys_.set_initial(key,
                      there == initial_[table.index].end()
                          ? ValueNumbers::kNull
                          : numbers_.number_of(t.columns[*column].type, there->second[*column]));
  } else {
    keys_.set_initial(key, there == initial_[table.index].end() ? 0 : 1);
  }
  return key;
}

Value SqlProgram::value_of(ProgramKey key, std::int64_t number) const {
  const Family& family = families_[keys_.family(key).index];
  if (!family.column) return Value(number != 0);
  return numbers_.value_of(app_.table(family.table).columns[*family.column].type, number);
}

std::string SqlProgram::print_value(ProgramKey key, std::int64_t value) const {
  if (!families_[keys_.family(key).index].column) return std::to_string(value);
  return print(value_of(key, value));
}

std::string SqlProgram::print_local(CallId call, std::size_t local, std::int64_t value) const {
  return print(numbers_.value_of(locals_[call.index][local].type, value));
}

void SqlProgram::remember(TableId table, const RowKey& row) const {
  if (universe_[table.index].contains(row)) return;
  const std::scoped_lock lock(mutex_);
  inserted_[table.index].insert(row);
}

bool SqlProgram::has_new_rows() const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(inserted_, [](const auto& rows) { return !rows.empty(); });
}

void SqlProgram::adopt_rows() const {
  const std::scoped_lock lock(mutex_);
  for (std::size_t t = 0; t < inserted_.size(); ++t) universe_[t].merge(inserted_[t]);
  for (auto& rows : inserted_) rows.clear();
}

void SqlProgram::adopt_row(std::string_view key_name) {
  auto name = parse_key_name(key_name);
  if (!name) return;
  const std::string table_name = name->family.substr(0, name->family.find('.'));
  for (std::uint32_t t = 0; t < app_.tables.size(); ++t) {
    const Table& table = app_.tables[t];
    if (table.name != table_name || name->indices.size() != table.primary_key.size()) continue;
    if (changes_.has_fixed_rows(TableId{t})) continue;
    for (std::size_t i = 0; i < name->indices.size(); ++i) {
      Value& index = name->indices[i];
      const auto* number = std::get_if<std::int64_t>(&index.data);
      // Truth values are numbers in names.
      if (table.columns[table.primary_key[i]].type == Type::Boolean && number != nullptr)
        index = Value(*number != 0);
    }
    universe_[t].insert(name->indices);
  }
}

}  // namespace isoscope::sql
