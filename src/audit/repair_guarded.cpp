// A look at a row, a test and a change, as one UPDATE that tests the row itself:
//
//     SELECT stock INTO v FROM item WHERE id = p;
//     IF v > 0 THEN                                   UPDATE item SET stock = stock - 1
//       UPDATE item SET stock = v - 1 WHERE id = p;     WHERE id = p AND stock > 0;
//       …                                             IF FOUND THEN …
//
// The same without a test, where UPDATE t SET c = v + 1 follows the look. Only where the variables
// are used for nothing else, WHERE names one row (of several rows the look takes one, the UPDATE
// all), the function does not look at FOUND or ROW_COUNT, which are others then, and the names of
// columns mean nothing else in the function.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "audit/repairs.h"
#include "sql/names_in_text.h"
#include "sql/statement_walk.h"

namespace isoscope::audit {

namespace {

using sql::ExprOp;
using sql::Statement;

// What the variables hold: columns of the row.
using HeldColumns = std::map<sql::VarId, sql::ColumnId>;

std::size_t uses(const sql::Expr& expr, const HeldColumns& held) {
  std::size_t count = expr.op == ExprOp::Variable && held.contains(expr.var) ? 1 : 0;
  for (const sql::Expr& arg : expr.args) count += uses(arg, held);
  return count;
}

std::size_t uses(std::span<const Statement> body, const HeldColumns& held) {
  std::size_t count = 0;
  for (const Statement& s : body) {
    sql::for_each_expr(s, [&](const sql::Expr& expr) { count += uses(expr, held); });
    for (const sql::VarId target : s.targets()) count += held.contains(target) ? 1 : 0;
    count += uses(s.body(), held) + uses(s.otherwise(), held);
  }
  return count;
}

sql::Expr with_columns(sql::Expr expr, const HeldColumns& held) {
  if (expr.op == ExprOp::Variable) {
    if (const auto found = held.find(expr.var); found != held.end()) {
      expr.op = ExprOp::Column;
      expr.source = {};
      expr.column = found->second;
    }
  }
  for (sql::Expr& arg : expr.args) arg = with_columns(std::move(arg), held);
  return expr;
}

// As SQL, over the columns of one table; empty if it is more than comparisons and sums.
std::string print_expr(const sql::Expr& expr, const sql::Table& table,
                       const sql::Function& function) {
  const auto is_sum = [](const sql::Expr& e) {
    return e.op == ExprOp::Add || e.op == ExprOp::Subtract;
  };
  const auto binary = [&](std::string_view word) -> std::string {
    const std::string left = print_expr(expr.args[0], table, function);
    const std::string right = print_expr(expr.args[1], table, function);
    const bool is_nested = is_sum(expr) && is_sum(expr.args[1]);
    if (left.empty() || right.empty()) return "";
    return is_nested ? fmt::format("{} {} ({})", left, word, right)
                     : fmt::format("{} {} {}", left, word, right);
  };
  static const std::map<ExprOp, std::string_view> kWords = {
      {ExprOp::Add, "+"},       {ExprOp::Subtract, "-"},     {ExprOp::Equal, "="},
      {ExprOp::NotEqual, "<>"}, {ExprOp::Less, "<"},         {ExprOp::LessEqual, "<="},
      {ExprOp::Greater, ">"},   {ExprOp::GreaterEqual, ">="}};
  if (expr.is_array) return "";
  if (const auto word = kWords.find(expr.op); word != kWords.end()) {
    const bool is_plain = std::ranges::all_of(
        expr.args, [&](const sql::Expr& arg) { return is_sum(arg) || arg.args.empty(); });
    return is_plain ? binary(word->second) : "";
  }
  if (expr.op == ExprOp::Column) return table.columns[expr.column].name;
  if (expr.op == ExprOp::Integer) return std::to_string(expr.number);
  if (expr.op == ExprOp::Decimal) return expr.text;
  if (expr.op == ExprOp::Variable) {
    const sql::Variable& variable = function.variables[expr.var.index];
    return variable.is_hidden ? "" : variable.name;
  }
  if (expr.op == ExprOp::And && expr.args.size() == 2) return binary("AND");
  return "";
}

// The columns that a look puts into variables, if it is one that can be left out.
std::optional<HeldColumns> look_of(const Statement& statement) {
  const auto* look = statement.find<sql::Select>();
  if (look == nullptr) return std::nullopt;
  const sql::Query& query = look->query;
  const bool is_plain = query.sources.size() == 1 && query.where && !query.is_aggregate() &&
                        !query.distinct && !query.limit && !query.offset && !look->strict &&
                        !look->exists && !statement.continues &&
                        look->targets.size() == query.outputs.size();
  if (!is_plain) return std::nullopt;
  HeldColumns held;
  for (std::size_t i = 0; i < look->targets.size(); ++i) {
    if (query.outputs[i].expr.op != ExprOp::Column) return std::nullopt;
    held[look->targets[i]] = query.outputs[i].expr.column;
  }
  return held;
}

// Does the text of the function name the variable elsewhere than in these parts and where it is
// declared? A message may, or a call that changes nothing, which our statements do not keep.
bool is_told(const sql::Function& function, sql::VarId variable,
             std::span<const std::string> parts) {
  const sql::Variable& named = function.variables[variable.index];
  std::size_t here = variable.index < function.num_parameters ? 0 : 1;
  for (const std::string& part : parts) {
    const auto names = sql::names_in(part);
    if (const auto found = names.find(named.name); found != names.end()) here += found->second;
  }
  return named.mentions > here;
}

// May the UPDATE do what the look did? `own` are the uses of the variables that it replaces.
bool can_merge(const sql::Application& app, const sql::Function& function, const Statement& look,
               const Statement& change, const HeldColumns& held, std::size_t own,
               const std::string& condition) {
  const auto& update = change.as<sql::Update>();
  const sql::Query& looked_for = *look.query();
  const sql::Table& table = app.table(update.table);
  const bool is_same_row = !change.continues && update.table == looked_for.sources.front() &&
                           update.where && update.returning.empty() &&
                           is_same_expr(*update.where, *looked_for.where) &&
                           names_one_row(table, *update.where);
  if (!is_same_row || function.found || function.row_count || uses(function.body, held) != own)
    return false;
  for (const auto& [variable, column] : held) {
    const sql::Variable& holder = function.variables[variable.index];
    const sql::Column& held_column = table.columns[column];
    if (holder.is_hidden || holder.is_array || holder.type != held_column.type ||
        holder.width.bits < held_column.width.bits || holder.width.precision != 0 ||
        holder.width.length != 0 || holder.width.has_rules ||
        is_told(function, variable, std::array{look.text, change.text, condition}))
      return false;
  }
  // Names are printed as plain words, which must mean the same there.
  const bool is_plain = look.text.find('"') == std::string::npos &&
                        change.text.starts_with(fmt::format("UPDATE {} SET ", table.name));
  const bool is_ambiguous = std::ranges::any_of(function.variables, [&](const sql::Variable& v) {
    return !v.is_hidden &&
           std::ranges::find(table.columns, v.name, &sql::Column::name) != table.columns.end();
  });
  return is_plain && !is_ambiguous;
}

// The UPDATE that computes from the columns themselves, and only if they meet the condition; an
// empty text if we cannot print it.
Statement merged(const sql::Table& table, const sql::Function& function, const Statement& change,
                 const HeldColumns& held, const std::optional<sql::Expr>& condition) {
  Statement result = change;
  auto& update = result.as<sql::Update>();
  std::string text = print_expr(*update.where, table, function);
  result.text.clear();
  if (text.empty()) return result;
  if (condition) {
    const std::string guard = print_expr(*condition, table, function);
    if (guard.empty()) return result;
    text += " AND " + guard;
    update.where = sql::Expr{
        .op = ExprOp::And, .type = sql::Type::Boolean, .args = {*update.where, *condition}};
  }
  std::string sets;
  for (sql::SetColumn& set : update.sets) {
    set.value = with_columns(std::move(set.value), held);
    // What is stored is rounded whoever says so.
    const bool is_stored =
        set.value.op == ExprOp::Round && set.value.number == table.columns[set.column].width.bits;
    const std::string value =
        print_expr(is_stored ? set.value.args.front() : set.value, table, function);
    if (value.empty()) return result;
    sets +=
        fmt::format("{}{} = {}", sets.empty() ? "" : ", ", table.columns[set.column].name, value);
  }
  result.text = fmt::format("UPDATE {} SET {} WHERE {}", table.name, sets, text);
  return result;
}

// A look and a change right behind it, made one.
std::optional<Repair> merge(const sql::Application& app, sql::Function& function,
                            std::vector<Statement>& body, std::size_t at, const HeldColumns& held) {
  const Statement& look = body[at];
  const Statement& change = body[at + 1];
  const auto& update = change.as<sql::Update>();
  std::size_t own = held.size();
  for (const sql::SetColumn& set : update.sets) own += uses(set.value, held);
  if (own == held.size() || !can_merge(app, function, look, change, held, own, ""))
    return std::nullopt;
  Statement atomic = merged(app.table(update.table), function, change, held, std::nullopt);
  if (atomic.text.empty()) return std::nullopt;
  Repair repair{.kind = RepairKind::Atomic,
                .function = function.name,
                .place = look.place,
                .before = look.text + "\n" + change.text,
                .what = atomic.text};
  atomic.place = look.place;
  body[at] = std::move(atomic);
  body.erase(body.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  return repair;
}

// The three statements at this place of a body, made one; what changes, for people.
std::optional<Repair> guard(const sql::Application& app, sql::Function& function,
                            std::vector<Statement>& body, std::size_t at) {
  if (at + 1 >= body.size()) return std::nullopt;
  const Statement& look = body[at];
  const std::optional<HeldColumns> held = look_of(look);
  if (!held || held->empty()) return std::nullopt;
  if (body[at + 1].is<sql::Update>()) return merge(app, function, body, at, *held);
  const auto* test = body[at + 1].find<sql::If>();
  if (test == nullptr || test->body.empty() || !test->body.front().is<sql::Update>())
    return std::nullopt;
  const Statement& change = test->body.front();
  const auto& update = change.as<sql::Update>();
  std::size_t own = held->size() + uses(test->condition, *held);
  for (const sql::SetColumn& set : update.sets) own += uses(set.value, *held);
  const sql::Table& table = app.table(update.table);
  const std::string old_condition = print_expr(test->condition, table, function);
  if (uses(test->condition, *held) == 0 ||
      !can_merge(app, function, look, change, *held, own, old_condition))
    return std::nullopt;
  Statement guarded = merged(table, function, change, *held, with_columns(test->condition, *held));
  if (old_condition.empty() || guarded.text.empty()) return std::nullopt;
  Repair repair{.kind = RepairKind::Guarded,
                .function = function.name,
                .place = look.place,
                .before = fmt::format("{}\nIF {} THEN\n{}", look.text, old_condition, change.text),
                .what = guarded.text + "\nIF FOUND THEN"};
  guarded.place = look.place;
  function.found = sql::VarId{static_cast<std::uint32_t>(function.variables.size())};
  function.variables.push_back({.name = "found", .type = sql::Type::Boolean});
  body[at] = std::move(guarded);
  auto& found = body[at + 1].as<sql::If>();
  found.condition =
      sql::Expr{.op = ExprOp::Variable, .type = sql::Type::Boolean, .var = *function.found};
  found.body.erase(found.body.begin());
  return repair;
}

std::optional<Repair> guard_first(const sql::Application& app, sql::Function& function,
                                  std::vector<Statement>& body, std::size_t& skip) {
  for (std::size_t at = 0; at < body.size(); ++at) {
    if (look_of(body[at])) {
      if (skip > 0) {
        --skip;
      } else {
        return guard(app, function, body, at);
      }
    }
    // What a function that is called does is not for this one to change.
    if (body[at].is<sql::Block>() && !body[at].catches() && !body[at].text.empty()) continue;
    std::optional<Repair> repair;
    sql::for_each_body(body[at], [&](std::vector<Statement>& inner) {
      if (!repair) repair = guard_first(app, function, inner, skip);
    });
    if (repair) return repair;
  }
  return std::nullopt;
}

}  // namespace

void add_guarded(const sql::Application& app, std::vector<Candidate>& candidates) {
  for (const sql::FunctionId f : app.function_ids()) {
    if (is_called(app, app.function(f).name)) continue;
    for (std::size_t look = 0; look < app.function(f).num_statements; ++look) {
      Candidate candidate{app, {}};
      sql::Function& function = candidate.app.function(f);
      std::size_t skip = look;
      auto repair = guard_first(app, function, function.body, skip);
      if (!repair) continue;
      candidate.repair = *std::move(repair);
      candidates.push_back(std::move(candidate));
    }
  }
}

}  // namespace isoscope::audit
