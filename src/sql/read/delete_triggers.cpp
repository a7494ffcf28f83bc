// BEFORE DELETE triggers for each row, and AFTER triggers that ON DELETE of foreign keys fires.
//
//     DELETE FROM t WHERE …      is      for each row of SELECT … FROM t WHERE … FOR UPDATE:
//                                          the trigger, with OLD
//                                          if it has not returned NULL: DELETE of that row
//
// So the server does it: the row is locked in its newest version, if that still meets WHERE, and
// the trigger looks at this version. The lock keeps others from changing it, so that it is found
// again by its key. The statements of the trigger have snapshots of their own.
#include <fmt/format.h>

#include <algorithm>

#include "sql/read/cascades.h"
#include "sql/read/inliner.h"
#include "sql/read/trigger_parts.h"
#include "sql/read/write_builder.h"

namespace isoscope::sql {
namespace {

// One row at most: each column of the primary key equals something that is no column.
bool names_key(const Table& table, const std::optional<Expr>& where) {
  if (!where) return false;
  const std::vector<Expr> alone = {*where};
  const std::vector<Expr>& parts = where->op == ExprOp::And ? where->args : alone;
  return std::ranges::all_of(table.primary_key, [&](ColumnId column) {
    return std::ranges::any_of(parts, [&](const Expr& part) {
      if (part.op != ExprOp::Equal) return false;
      return (is_column(part.args[0], column) && !uses_column(part.args[1])) ||
             (is_column(part.args[1], column) && !uses_column(part.args[0]));
    });
  });
}

bool changes_table(std::span<const Statement> body, TableId table) {
  return std::ranges::any_of(body, [&](const Statement& s) {
    return (s.write() != nullptr && s.write()->table == table) || changes_table(s.body(), table) ||
           changes_table(s.otherwise(), table);
  });
}

bool uses_any(std::span<const Statement> body, const std::set<TableId>& tables) {
  return std::ranges::any_of(body, [&](const Statement& s) {
    if (s.write() != nullptr && tables.contains(s.write()->table)) return true;
    if (const Query* query = s.query();
        query != nullptr && std::ranges::any_of(query->sources, [&](TableId source) {
          return tables.contains(source);
        }))
      return true;
    return uses_any(s.body(), tables) || uses_any(s.otherwise(), tables);
  });
}

Statement assignment(VarId var, Expr value, Place place) {
  return {.place = place, .kind = Assign{.target = var, .value = std::move(value)}};
}

}  // namespace

bool WriteBuilder::runs_before_delete() const {
  return op_ == WriteOp::Delete && has_triggers(true);
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
                                                     const ById<ColumnId, Expr>& old, VarId skips,
                                                     Body rest) {
  const Place place = model_.place;
  Frame& frame = *scope_.frame;
  const auto count = static_cast<std::uint32_t>(old.size());
  InlinedBody inlined = copy_body(frame, function);
  Body given;
  const VarId first_old{inlined.first + count};
  for (const ColumnId c : old.ids()) {
    given.push_back(
        assignment({inlined.first + c.index}, make_null(table().columns[c].type, place), place));
    given.push_back(assignment({inlined.first + count + c.index}, old[c], place));
  }
  reset_variables(frame, inlined, given, place);
  replace_returns(inlined.body, [&](Body& out, const Statement& from,
                                    const std::optional<Expr>& value) {
    if (!value || value->op == ExprOp::Null) {
      out.push_back(assignment(skips, make_boolean(true, from.place), from.place));
      return;
    }
    // A row of one column is its value.
    const bool is_row = value->op == ExprOp::ArrayOf && !value->args.empty();
    const Expr& first = is_row ? value->args[0] : *value;
    if (is_row != (count > 1) || first.op != ExprOp::Variable || first.var != first_old)
      scope_.findings.fail(
          from.place, "a BEFORE DELETE trigger that returns neither OLD nor NULL is not modelled");
  });
  Body body = trigger_block(frame, function.name, std::move(given), std::move(inlined), place);
  If test{
      .condition = make(ExprOp::Not, Type::Boolean, {make_variable(frame, skips, place)}, place),
      .body = std::move(rest),
      .otherwise = {}};
  body.push_back({.place = place, .text = model_.text, .kind = std::move(test)});
  return body;
}

void WriteBuilder::put_before_delete(Body& to, Delete remove) {
  const Place place = model_.place;
  Frame& frame = *scope_.frame;
  if (remove.once) {
    scope_.findings.fail(place, "a BEFORE DELETE trigger is not modelled in such a statement",
                         "a WHERE without USING and correlated subqueries is modelled");
    return;
  }
  if (!names_key(table(), remove.where))
    scope_.findings.note(place,
                         "all rows are locked before a BEFORE DELETE trigger runs for the first",
                         NoteKind::Gap);
  const auto functions = functions_before_delete();
  if (scope_.findings.failed()) return;
  const auto count = static_cast<std::uint32_t>(table().columns.size());
  ById<ColumnId, bool> used(count, false);
  for (const ColumnId c : table().primary_key) used[c] = true;
  for (const auto& function : functions) {
    const std::vector<bool> mentioned = used_columns(*function);
    for (const ColumnId c : used.ids()) used[c] = used[c] || mentioned[count + c.index];
  }
  ForQuery loop;
  loop.query.sources = {id_};
  loop.query.where = std::move(remove.where);
  loop.query.lock = Lock::Update;
  ById<ColumnId, Expr> old;
  for (const ColumnId c : table().columns.ids()) {
    const Type type = table().columns[c].type;
    if (!used[c]) {  // a column without use is not read
      old.push_back(make_null(type, place));
      continue;
    }
    const std::uint8_t bits = table().columns[c].width.bits;
    loop.targets.push_back(frame.add_hidden("fired", type, false, place, bits));
    loop.query.outputs.push_back({.expr = new_column(table(), c, SourceId{0})});
    old.push_back(make_variable(frame, loop.targets.back(), place));
  }
  remove.where.reset();
  for (const ColumnId c : table().primary_key)
    remove.where = both(
        std::move(remove.where),
        make(ExprOp::Equal, Type::Boolean, {new_column(table(), c, SourceId{0}), old[c]}, place));
  remove.once = true;
  const VarId skips = frame.add_hidden("skipped", Type::Boolean, false, place);
  Body body;
  body.push_back(model_.with(std::move(remove)));
  // From the last to the first: who saves the row keeps the later ones from running.
  for (auto function = functions.rbegin(); function != functions.rend(); ++function)
    body = with_delete_trigger(**function, old, skips, std::move(body));
  loop.body.push_back(assignment(skips, make_boolean(false, place), place));
  std::ranges::move(body, std::back_inserter(loop.body));
  to.push_back(model_.with(std::move(loop)));
}

// One trigger that leaves the rows in question alone does the same sooner or later.
void WriteBuilder::note_cascades() {
  const RowChange change = row_change();
  if (const std::string key = early_check(scope_.catalog, change); !key.empty())
    scope_.findings.note(model_.place,
                         fmt::format("the foreign key {} is checked right behind what ON UPDATE "
                                     "does to a row, not after all of that",
                                     key),
                         NoteKind::Gap);
  const auto late = late_triggers(scope_.catalog, change);
  if (!late || scope_.findings.failed()) return;
  bool is_same = late->fired.size() == 1;
  if (is_same) {
    const auto& [trigger, op] = late->fired.front();
    const auto function = function_of(*trigger, op, scope_, model_.place);
    is_same = function == nullptr || !uses_any(function->body, late->touched);
  }
  if (!is_same)
    scope_.findings.note(model_.place,
                         fmt::format("the trigger {} runs right behind what ON {} does to its "
                                     "table, not after all of that",
                                     late->fired.front().first->name, change.verb()),
                         NoteKind::Gap);
}

}  // namespace isoscope::sql
