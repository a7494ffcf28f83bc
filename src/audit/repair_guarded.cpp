// A look at a row, a test and a change, as one UPDATE that tests the row itself:
//
//     SELECT stock INTO v FROM item WHERE id = p;
//     IF v > 0 THEN                                   UPDATE item SET stock = stock - 1
//       UPDATE item SET stock = v - 1 WHERE id = p;     WHERE id = p AND stock > 0;
//       …                                             IF FOUND THEN …
//
// Only where the variables are used for nothing else.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/repairs.h"
#include "sql/statement_walk.h"

namespace isoscope::audit {

namespace {

using sql::ExprOp;
using sql::Statement;

// What the variables hold: columns of the row.
using HeldColumns = std::map<std::uint32_t, std::uint32_t>;

std::size_t uses(const sql::Expr& expr, const HeldColumns& held) {
  std::size_t count = expr.op == ExprOp::Variable && held.contains(expr.var.index) ? 1 : 0;
  for (const sql::Expr& arg : expr.args) count += uses(arg, held);
  return count;
}

std::size_t uses(std::span<const Statement> body, const HeldColumns& held) {
  std::size_t count = 0;
  for (const Statement& s : body) {
    sql::for_each_expr(s, [&](const sql::Expr& expr) { count += uses(expr, held); });
    for (const sql::VarId target : s.targets()) count += held.contains(target.index) ? 1 : 0;
    count += uses(s.body(), held) + uses(s.otherwise(), held);
  }
  return count;
}

sql::Expr with_columns(sql::Expr expr, const HeldColumns& held) {
  if (expr.op == ExprOp::Variable) {
    if (const auto found = held.find(expr.var.index); found != held.end()) {
      expr.op = ExprOp::Column;
      expr.source = 0;
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
                        !query.distinct && !query.limit && !look->strict && !look->exists &&
                        !statement.continues && look->targets.size() == query.outputs.size();
  if (!is_plain) return std::nullopt;
  HeldColumns held;
  for (std::size_t i = 0; i < look->targets.size(); ++i) {
    if (query.outputs[i].expr.op != ExprOp::Column) return std::nullopt;
    held[look->targets[i].index] = query.outputs[i].expr.column;
  }
  return held;
}

// The three statements at this place of a body, made one; what changes, for people.
std::optional<Repair> guard(const sql::Application& app, sql::Function& function,
                            std::vector<Statement>& body, std::size_t at) {
  if (at + 1 >= body.size()) return std::nullopt;
  const Statement& look = body[at];
  const auto* test = body[at + 1].find<sql::If>();
  const std::optional<HeldColumns> held = look_of(look);
  if (!held || held->empty() || test == nullptr || test->body.empty()) return std::nullopt;
  const sql::Query& looked_for = *look.query();
  const Statement& change = test->body.front();
  const auto* update = change.find<sql::Update>();
  const bool is_change =
      update != nullptr && !change.continues && update->table == looked_for.sources.front() &&
      update->where && update->returning.empty() && is_same_expr(*update->where, *looked_for.where);
  if (!is_change) return std::nullopt;
  std::size_t own = held->size() + uses(test->condition, *held);
  for (const sql::SetColumn& set : update->sets) own += uses(set.value, *held);
  const bool is_used_elsewhere = uses(function.body, *held) != own;
  const sql::Table& table = app.table(update->table);
  const std::string condition = print_expr(with_columns(test->condition, *held), table, function);
  const std::string where = print_expr(*update->where, table, function);
  const std::string old_condition = print_expr(test->condition, table, function);
  if (is_used_elsewhere || uses(test->condition, *held) == 0 || condition.empty() ||
      where.empty() || old_condition.empty())
    return std::nullopt;
  Statement guarded = change;
  auto& guarded_update = guarded.as<sql::Update>();
  std::string sets;
  for (sql::SetColumn& set : guarded_update.sets) {
    set.value = with_columns(std::move(set.value), *held);
    // What is stored is rounded whoever says so.
    const bool is_stored =
        set.value.op == ExprOp::Round && set.value.number == table.columns[set.column].width.bits;
    const sql::Expr& given = is_stored ? set.value.args.front() : set.value;
    const std::string value = print_expr(given, table, function);
    if (value.empty()) return std::nullopt;
    sets +=
        fmt::format("{}{} = {}", sets.empty() ? "" : ", ", table.columns[set.column].name, value);
  }
  guarded.text =
      fmt::format("UPDATE {} SET {} WHERE {} AND {}", table.name, sets, where, condition);
  guarded_update.where = sql::Expr{.op = ExprOp::And,
                                   .type = sql::Type::Boolean,
                                   .args = {*update->where, with_columns(test->condition, *held)}};
  Repair repair{.kind = RepairKind::Guarded,
                .function = function.name,
                .place = look.place,
                .before = fmt::format("{}\nIF {} THEN\n{}", look.text, old_condition, change.text),
                .what = guarded.text + "\nIF FOUND THEN"};
  guarded.place = look.place;
  if (!function.found) {
    function.found = sql::VarId{static_cast<std::uint32_t>(function.variables.size())};
    function.variables.push_back({.name = "found", .type = sql::Type::Boolean});
  }
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
