// BEFORE DELETE triggers for each row.
//
//     DELETE FROM t WHERE …      is      for each row of SELECT … FROM t WHERE … FOR UPDATE:
//                                          the trigger, with OLD
//                                          if it has not returned NULL: DELETE of that row
//
// So the server does it: the row is locked in its newest version, if that still meets WHERE, and
// the trigger looks at this version. Nobody else changes the row meanwhile, so that it is found
// again by its key. The statements of the trigger have snapshots of their own.
#include <fmt/format.h>

#include <algorithm>

#include "sql/inliner.h"
#include "sql/trigger_parts.h"
#include "sql/write_builder.h"

namespace isoscope::sql {
namespace {

bool is_column(const Expr& expr, std::uint32_t column) {
  return expr.op == ExprOp::Column && expr.source == 0 && expr.column == column;
}

// One row at most: each column of the primary key equals something that is no column.
bool names_key(const Table& table, const std::optional<Expr>& where) {
  if (!where) return false;
  const std::vector<Expr> alone = {*where};
  const std::vector<Expr>& parts = where->op == ExprOp::And ? where->args : alone;
  return std::ranges::all_of(table.primary_key, [&](std::uint32_t column) {
    return std::ranges::any_of(parts, [&](const Expr& part) {
      if (part.op != ExprOp::Equal) return false;
      return (is_column(part.args[0], column) && !uses_column(part.args[1])) ||
             (is_column(part.args[1], column) && !uses_column(part.args[0]));
    });
  });
}

bool changes_table(const std::vector<Statement>& body, TableId table) {
  return std::ranges::any_of(body, [&](const Statement& s) {
    const bool changes =
        s.op == StatementOp::Insert || s.op == StatementOp::Update || s.op == StatementOp::Delete;
    return (changes && s.table == table) || changes_table(s.body, table) ||
           changes_table(s.otherwise, table);
  });
}

Statement assignment(VarId var, Expr value, Place place) {
  Statement assign{.op = StatementOp::Assign, .place = place};
  assign.targets = {var};
  assign.expr = std::move(value);
  return assign;
}

}  // namespace

bool WriteBuilder::runs_before_delete() const {
  return op_ == StatementOp::Delete && has_triggers(true);
}

std::vector<std::shared_ptr<const Function>> WriteBuilder::functions_before_delete() {
  std::vector<std::shared_ptr<const Function>> functions;
  for (const Trigger* trigger : before_triggers()) {
    auto function = function_of(*trigger, op_, scope_, model_.place);
    if (function == nullptr) return {};
    // The server ends a statement whose trigger has changed the row that it is about.
    if (changes_table(function->body, id_))
      scope_.findings.fail(model_.place,
                           fmt::format("the BEFORE DELETE trigger {} changes the table that it "
                                       "belongs to, which is not modelled",
                                       trigger->name));
    functions.push_back(std::move(function));
  }
  return functions;
}

// The trigger, then `rest` if it has not saved the row.
WriteBuilder::Body WriteBuilder::with_delete_trigger(const Function& function,
                                                     const std::vector<Expr>& old, VarId skips,
                                                     Body rest) {
  const Place place = model_.place;
  Frame& frame = *scope_.frame;
  const auto count = static_cast<std::uint32_t>(old.size());
  InlinedBody inlined = copy_body(frame, function);
  Statement block{.op = StatementOp::Block, .place = place, .text = function.name};
  block.is_separate = true;
  const VarId first_old{inlined.first + count};
  for (std::uint32_t c = 0; c < count; ++c) {
    block.body.push_back(
        assignment({inlined.first + c}, make_null(table().columns[c].type, place), place));
    block.body.push_back(assignment({inlined.first + count + c}, old[c], place));
  }
  reset_variables(frame, inlined, block.body, place);
  replace_returns(inlined.body, [&](Body& out, const Statement& from, bool) {
    if (!from.expr || from.expr->op == ExprOp::Null) {
      out.push_back(assignment(skips, make_boolean(true, from.place), from.place));
      return;
    }
    // A row of one column is its value.
    const bool is_row = from.expr->op == ExprOp::ArrayOf && !from.expr->args.empty();
    const Expr& first = is_row ? from.expr->args[0] : *from.expr;
    if (is_row != (count > 1) || first.op != ExprOp::Variable || first.var != first_old)
      scope_.findings.fail(
          from.place, "a BEFORE DELETE trigger that returns neither OLD nor NULL is not modelled");
  });
  std::ranges::move(inlined.body, std::back_inserter(block.body));
  Body body;
  body.push_back(std::move(block));
  keep_found(frame, body, place);
  Statement test{.op = StatementOp::If, .place = place, .text = model_.text};
  test.expr = make(ExprOp::Not, Type::Boolean, {make_variable(frame, skips, place)}, place);
  test.body = std::move(rest);
  body.push_back(std::move(test));
  return body;
}

void WriteBuilder::put_before_delete(Body& to, Statement write) {
  const Place place = model_.place;
  Frame& frame = *scope_.frame;
  if (write.once) {
    scope_.findings.fail(place, "a BEFORE DELETE trigger is not modelled in such a statement",
                         "a WHERE without USING and correlated subqueries is modelled");
    return;
  }
  if (!names_key(table(), write.where))
    scope_.findings.note(place,
                         "all rows are locked before a BEFORE DELETE trigger runs for the first",
                         NoteKind::Gap);
  const auto functions = functions_before_delete();
  if (scope_.findings.failed()) return;
  const auto count = static_cast<std::uint32_t>(table().columns.size());
  std::vector<bool> used(count, false);
  for (const std::uint32_t c : table().primary_key) used[c] = true;
  for (const auto& function : functions) {
    const std::vector<bool> mentioned = used_columns(*function);
    for (std::uint32_t c = 0; c < count; ++c) used[c] = used[c] || mentioned[count + c];
  }
  Statement loop = model_;
  loop.op = StatementOp::ForQuery;
  loop.query.sources = {id_};
  loop.query.where = std::move(write.where);
  loop.query.lock = Lock::Update;
  std::vector<Expr> old;
  for (std::uint32_t c = 0; c < count; ++c) {
    const Type type = table().columns[c].type;
    if (!used[c]) {  // what nobody looks at is not read
      old.push_back(make_null(type, place));
      continue;
    }
    loop.targets.push_back(frame.add_hidden("fired", type, false, place));
    loop.query.outputs.push_back({.expr = new_column(table(), c, 0)});
    old.push_back(make_variable(frame, loop.targets.back(), place));
  }
  write.where.reset();
  for (const std::uint32_t c : table().primary_key)
    write.where = both(std::move(write.where), make(ExprOp::Equal, Type::Boolean,
                                                    {new_column(table(), c, 0), old[c]}, place));
  write.once = true;
  const VarId skips = frame.add_hidden("skipped", Type::Boolean, false, place);
  Body body;
  body.push_back(std::move(write));
  // From the last to the first: who saves the row keeps the later ones from running.
  for (auto function = functions.rbegin(); function != functions.rend(); ++function)
    body = with_delete_trigger(**function, old, skips, std::move(body));
  loop.body.push_back(assignment(skips, make_boolean(false, place), place));
  std::ranges::move(body, std::back_inserter(loop.body));
  to.push_back(std::move(loop));
}

}  // namespace isoscope::sql
