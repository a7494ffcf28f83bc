// Row triggers, as part of the statements that fire them.
//
//   BEFORE INSERT   NEW is filled, the trigger runs, then the row is inserted as NEW is
//   BEFORE DELETE   each row is locked, the trigger runs on OLD, then the row is deleted
//   BEFORE UPDATE   of triggers that ask the database nothing: NEW as expressions over the row,
//                   which are computed again if the row was changed meanwhile
//   AFTER           the rows are kept in a row set, and the trigger runs for each of them at the
//                   end of the statement; so does what foreign keys do ON DELETE and ON UPDATE
//                   (cascades.h)
// Those FOR EACH STATEMENT follow behind all rows (statement_triggers.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql/read/cascades.h"
#include "sql/read/function_builder.h"
#include "sql/read/inliner.h"
#include "sql/read/row_function.h"
#include "sql/read/trigger_parts.h"
#include "sql/read/write_builder.h"

namespace isoscope::sql {

Expr new_column(const Table& table, ColumnId column, SourceId source) {
  return {.op = ExprOp::Column,
          .type = table.columns[column].type,
          .bits = table.columns[column].width.bits,
          .source = source,
          .column = column,
          .place = table.place};
}

std::shared_ptr<const Function> function_of(const Trigger& trigger, WriteOp op, const Scope& scope,
                                            Place place) {
  const auto known = scope.catalog.functions.find(trigger.function);
  if (known == scope.catalog.functions.end() || known->second.empty()) {
    scope.findings.fail(place, fmt::format("the trigger {} runs {}, which is not in the file",
                                           trigger.name, trigger.function));
    return nullptr;
  }
  return build_trigger(known->second.back(), trigger.table, op, scope.catalog, scope.findings,
                       place);
}

namespace {
bool mentions_any(const std::vector<ColumnId>& columns, const std::set<ColumnId>& of) {
  return std::ranges::any_of(columns, [&](ColumnId column) { return of.contains(column); });
}

// Of the first variables, which are NEW of a trigger, those that its statements set.
void add_assigned(std::span<const Statement> body, std::size_t count,
                  std::set<ColumnId>& assigned) {
  for (const Statement& statement : body) {
    if (const auto* assign = statement.find<Assign>();
        assign != nullptr && assign->target.index < count)
      assigned.insert(ColumnId{assign->target.index});
    for (const VarId target : statement.targets()) {
      if (target.index < count) assigned.insert(ColumnId{target.index});
    }
    add_assigned(statement.body(), count, assigned);
    add_assigned(statement.otherwise(), count, assigned);
  }
}

void clear_returns(std::span<Statement> body) {
  for (Statement& statement : body) {
    if (auto* returned = statement.find<Return>()) returned->value.reset();
    clear_returns(statement.body());
    clear_returns(statement.otherwise());
  }
}
}  // namespace

std::vector<Statement> trigger_block(Frame& frame, std::string name, std::vector<Statement> given,
                                     InlinedBody inlined, Place place) {
  Block block{.body = std::move(given), .handler = {}, .is_separate = true};
  std::ranges::move(inlined.body, std::back_inserter(block.body));
  std::vector<Statement> body;
  body.push_back({.place = place, .text = std::move(name), .kind = std::move(block)});
  keep_found(frame, body, place);
  return body;
}

std::vector<bool> used_columns(const Function& function) {
  std::vector<bool> used(function.num_parameters, false);
  std::vector<Statement> body = function.body;
  clear_returns(body);
  for_each_variable(body, [&](VarId& var) {
    if (var.index < used.size()) used[var.index] = true;
  });
  return used;
}

bool WriteBuilder::fires(const Trigger& trigger, WriteOp op) const {
  if (trigger.table != id_) return false;
  if (op == WriteOp::Insert) return trigger.on_insert;
  if (op == WriteOp::Delete) return trigger.on_delete;
  if (!trigger.on_update) return false;
  if (trigger.columns.empty()) return true;
  const std::set<ColumnId> set = set_columns(child(node_, "targetList"));
  if (mentions_any(trigger.columns, set)) return true;
  // A foreign key looks at the row as it has become.
  return trigger.is_reference && mentions_any(trigger.columns, columns_set_before(id_, set));
}

// The columns of the table that SET names, and those that are generated from them.
std::set<ColumnId> WriteBuilder::set_columns(const Tree& list) const {
  std::set<ColumnId> set;
  for (const Tree& entry : list) {
    const std::string name = text_of(inside(entry), "name");
    if (const auto column = view_ ? view_->find(name) : find_column(table(), name))
      set.insert(*column);
  }
  std::set<ColumnId> all = set;
  for (const ColumnId c : table().columns.ids()) {
    if (!table().columns[c].generated) continue;
    for_each_column(*table().columns[c].generated, [&](SourceId, ColumnId of) {
      if (set.contains(of)) all.insert(c);
    });
  }
  return all;
}

// The columns that BEFORE UPDATE triggers of a table may give other values, where an UPDATE sets
// these.
std::set<ColumnId> WriteBuilder::columns_set_before(TableId of,
                                                    const std::set<ColumnId>& set) const {
  std::set<ColumnId> assigned;
  for (const Trigger& trigger : scope_.catalog.triggers) {
    if (!trigger.is_before || !trigger.on_update || trigger.table != of) continue;
    if (!trigger.columns.empty() && !mentions_any(trigger.columns, set)) continue;
    if (!trigger.refusal.empty()) continue;
    const auto function = function_of(trigger, WriteOp::Update, scope_, model_.place);
    if (function == nullptr) break;
    add_assigned(function->body, scope_.catalog.table(of).columns.size(), assigned);
  }
  return assigned;
}

RowChange WriteBuilder::row_change() const {
  RowChange change{
      .table = id_, .effect = {}, .assigned = [this](TableId of, const std::set<ColumnId>& set) {
        return columns_set_before(of, set);
      }};
  if (op_ == WriteOp::Delete) change.effect.deletes = true;
  if (op_ == WriteOp::Update) {
    change.effect.updates = set_columns(child(node_, "targetList"));
    change.effect.updates.merge(columns_set_before(id_, change.effect.updates));
  }
  return change;
}

bool WriteBuilder::has_triggers(bool before) const {
  return std::ranges::any_of(scope_.catalog.triggers, [&](const Trigger& trigger) {
    return trigger.is_before == before && !trigger.is_statement && fires(trigger, op_);
  });
}

// Those that fire before it, in the order in which they do.
std::vector<const Trigger*> WriteBuilder::before_triggers() const {
  std::vector<const Trigger*> triggers;
  for (const Trigger& trigger : scope_.catalog.triggers) {
    if (trigger.is_before && fires(trigger, op_)) triggers.push_back(&trigger);
  }
  std::ranges::sort(triggers, {}, [](const Trigger* trigger) { return trigger->name; });
  return triggers;
}

void WriteBuilder::refuse_triggers() {
  const Tree& conflict = child(node_, "onConflictClause");
  const bool updates_too = text_of(conflict, "action") == "ONCONFLICT_UPDATE";
  const std::set<ColumnId> conflict_sets = set_columns(child(conflict, "targetList"));
  for (const Trigger& trigger : scope_.catalog.triggers) {
    // A foreign key does nothing unless its columns are set.
    const bool fires_on_conflict =
        updates_too && trigger.table == id_ && trigger.on_update &&
        (!trigger.is_reference || mentions_any(trigger.columns, conflict_sets));
    if (!fires(trigger, op_) && !fires_on_conflict) continue;
    if (!trigger.refusal.empty()) {
      scope_.findings.fail(model_.place, fmt::format("this fires the trigger {}: {}", trigger.name,
                                                     trigger.refusal));
    } else if (updates_too) {
      scope_.findings.fail(
          model_.place,
          trigger.is_reference
              ? "ON CONFLICT with ON UPDATE of a foreign key is not modelled"
              : fmt::format("ON CONFLICT with the trigger {} is not modelled", trigger.name));
    } else if (trigger.is_before && trigger.when != nullptr) {
      scope_.findings.fail(
          model_.place, fmt::format("WHEN of the BEFORE trigger {} is not modelled", trigger.name));
    } else if (trigger.is_before && op_ == WriteOp::Delete &&
               !child(node_, "usingClause").empty()) {
      scope_.findings.fail(
          model_.place,
          fmt::format("USING with the BEFORE DELETE trigger {} is not modelled", trigger.name));
    }
  }
  const bool is_referred_to = std::ranges::any_of(
      scope_.catalog.triggers,
      [&](const Trigger& trigger) { return trigger.is_reference && trigger.table == id_; });
  if (op_ == WriteOp::Insert || !is_referred_to || scope_.findings.failed()) return;
  if (const std::string why = refused_cascade(scope_.catalog, row_change()); !why.empty())
    scope_.findings.fail(model_.place, why,
                         op_ == WriteOp::Delete ? "delete those rows by statements of their own"
                                                : "change those rows by statements of their own");
  else
    note_cascades();
}

// NEW, then OLD, of the columns that some trigger mentions.
void WriteBuilder::add_trigger_columns() {
  const auto count = static_cast<std::uint32_t>(table().columns.size());
  for (std::uint32_t i = 0; i < 2 * count; ++i) {
    const bool is_old = i >= count;
    const ColumnId column{is_old ? i - count : i};
    if (is_old && op_ == WriteOp::Insert) break;
    // Of a DELETE there is only the old row.
    const SourceId source{is_old && op_ == WriteOp::Update ? 1u : 0u};
    trigger_columns_.push_back(op_ == WriteOp::Delete && !is_old
                                   ? make_null(table().columns[column].type, model_.place)
                                   : new_column(table(), column, source));
  }
  // A column that no trigger uses is not read.
  std::vector<bool> used(trigger_columns_.size(), false);
  for (const Trigger& trigger : scope_.catalog.triggers) {
    if (trigger.is_before || trigger.is_statement || !fires(trigger, op_)) continue;
    const auto function = function_of(trigger, op_, scope_, model_.place);
    if (function == nullptr) return;
    const std::vector<bool> mentioned = used_columns(*function);
    for (std::size_t i = 0; i < used.size() && i < mentioned.size(); ++i)
      used[i] = used[i] || mentioned[i] || trigger.when != nullptr;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) trigger_columns_[i] = make_null(trigger_columns_[i].type, model_.place);
  }
}

void WriteBuilder::put_before_insert(Body& to, Insert insert) {
  const Place place = model_.place;
  Frame& frame = *scope_.frame;
  const auto assign = [&](Body& list, VarId var, Expr value) {
    list.push_back({.place = place,
                    .text = model_.text,
                    .kind = Assign{.target = var, .value = std::move(value)}});
  };
  const VarId skips = frame.add_hidden("skipped", Type::Boolean, false, place);
  assign(to, skips, make_boolean(false, place));
  const auto unless_skipped = [&](Body body) {
    If test{
        .condition = make(ExprOp::Not, Type::Boolean, {make_variable(frame, skips, place)}, place),
        .body = std::move(body),
        .otherwise = {}};
    to.push_back({.place = place, .text = model_.text, .kind = std::move(test)});
  };
  bool may_skip = false;
  for (const Trigger* trigger : before_triggers()) {
    const auto function = function_of(*trigger, op_, scope_, place);
    if (function == nullptr) return;
    const std::vector<bool> used = used_columns(*function);
    InlinedBody inlined = copy_body(frame, *function);
    const auto new_variable = [&](ColumnId c) { return VarId{inlined.first + c.index}; };
    // The server asks no further trigger about a row that one has passed over.
    const bool is_asked = !may_skip;
    Body fired;
    Body given;
    std::vector<SetColumn> sets;
    for (const ColumnId c : table().columns.ids()) {
      const Column& column = table().columns[c];
      const auto set = std::ranges::find(insert.sets, c, &SetColumn::column);
      if (set == insert.sets.end() && (column.is_fresh || column.is_hidden || column.generated)) {
        if (used[c.index])
          scope_.findings.fail(place,
                               fmt::format("the trigger {} uses NEW.{}, which the server fills",
                                           trigger->name, column.name));
        continue;
      }
      assign(fired, new_variable(c),
             set != insert.sets.end()
                 ? set->value
                 : column.default_value.value_or(make_null(column.type, place)));
      sets.push_back({c, make_variable(frame, new_variable(c), place)});
    }
    reset_variables(frame, inlined, given, place);
    replace_returns(inlined.body, [&](Body& out, const Statement& from,
                                      const std::optional<Expr>& value) {
      if (!value || value->op == ExprOp::Null) {
        assign(out, skips, make_boolean(true, from.place));
        may_skip = true;
        return;
      }
      // A row of one column is its value.
      const bool is_row = value->op == ExprOp::ArrayOf && !value->args.empty();
      const Expr& first = is_row ? value->args[0] : *value;
      const bool is_new = is_row == (table().columns.size() > 1) && first.op == ExprOp::Variable &&
                          first.var == new_variable(ColumnId{0});
      if (!is_new)
        scope_.findings.fail(from.place,
                             "a BEFORE trigger that returns another row is not modelled");
    });
    Body body = trigger_block(frame, trigger->name, std::move(given), std::move(inlined), place);
    std::ranges::move(body, std::back_inserter(fired));
    if (is_asked)
      std::ranges::move(fired, std::back_inserter(to));
    else
      unless_skipped(std::move(fired));
    insert.sets = std::move(sets);
  }
  add_generated(table(), insert.sets, true);
  Body inserting;
  inserting.push_back(model_.with(std::move(insert)));
  unless_skipped(std::move(inserting));
}

void WriteBuilder::apply_before_update(Update& update) {
  const Place place = model_.place;
  const auto count = static_cast<std::uint32_t>(table().columns.size());
  for (const Trigger* trigger : before_triggers()) {
    const auto function = function_of(*trigger, op_, scope_, place);
    if (function == nullptr) return;
    RowValues env;
    for (const ColumnId c : table().columns.ids()) {
      const auto given = std::ranges::find(update.sets, c, &SetColumn::column);
      env[VarId{c.index}] =
          given != update.sets.end() ? given->value : new_column(table(), c, SourceId{0});
      env[VarId{count + c.index}] = new_column(table(), c, SourceId{0});
    }
    RowOutcome outcome = run_on_row(scope_, function->body, count, std::move(env), place);
    if (scope_.findings.failed()) return;
    update.sets.clear();
    for (const ColumnId c : table().columns.ids()) {
      Expr value = outcome.env[VarId{c.index}];
      if (!is_column(value, c)) update.sets.push_back({c, std::move(value)});
    }
    const auto is_never = [](const Expr& expr) {
      return expr.op == ExprOp::Boolean && expr.number == 0;
    };
    if (!is_never(outcome.skips)) {
      scope_.findings.note(place,
                           fmt::format("which rows the trigger {} skips is decided when the "
                                       "statement looks for rows, not when it has locked them",
                                       trigger->name),
                           NoteKind::Gap);
      update.where =
          both(std::move(update.where),
               make(ExprOp::If, Type::Boolean,
                    {outcome.skips, make_boolean(false, place), make_boolean(true, place)}, place));
    }
    if (is_never(outcome.fails)) continue;
    update.raises.push_back(std::move(outcome.fails));
    update.raised_states.push_back(std::move(outcome.state));
  }
}

void WriteBuilder::run_after_triggers() {
  const Place place = model_.place;
  Frame& frame = *scope_.frame;
  const auto count = static_cast<std::uint32_t>(table().columns.size());
  ForQuery loop;
  loop.query.rows = rows_;
  for (std::size_t i = 0; i < trigger_columns_.size(); ++i) {
    const Type type = trigger_columns_[i].type;
    const std::uint8_t bits = trigger_columns_[i].bits;
    loop.targets.push_back(frame.add_hidden("fired", type, false, place, bits));
    loop.query.outputs.push_back(
        {.expr = {.op = ExprOp::Column,
                  .type = type,
                  .bits = bits,
                  .column = {static_cast<std::uint32_t>(columns_.size() + i)},
                  .place = place}});
  }
  std::vector<const Trigger*> triggers;
  for (const Trigger& trigger : scope_.catalog.triggers) {
    if (!trigger.is_before && !trigger.is_statement && fires(trigger, op_))
      triggers.push_back(&trigger);
  }
  std::ranges::sort(triggers, {}, [](const Trigger* trigger) { return trigger->name; });
  for (const Trigger* trigger : triggers) {
    const auto function = function_of(*trigger, op_, scope_, place);
    if (function == nullptr) return;
    InlinedBody inlined = copy_body(frame, *function);
    if (trigger->is_reference && !mark_cascade(inlined.body))
      scope_.findings.fail(place, "what a foreign key does behind this is not modelled");
    Body given;
    for (std::uint32_t i = 0; i < loop.targets.size(); ++i)
      given.push_back({.place = place,
                       .kind = Assign{.target = {inlined.first + i},
                                      .value = make_variable(frame, loop.targets[i], place)}});
    reset_variables(frame, inlined, given, place);
    replace_returns(inlined.body, [](Body&, const Statement&, const std::optional<Expr>&) {});
    Body body = trigger_block(frame, trigger->name, std::move(given), std::move(inlined), place);
    if (trigger->when != nullptr) {
      Scope scope{.catalog = scope_.catalog,
                  .findings = scope_.findings,
                  .frame = &frame,
                  .where = trigger->where};
      for (const bool is_old : {false, true}) {
        if (is_old && op_ == WriteOp::Insert) break;
        Source row{.name = is_old ? "old" : "new"};
        row.columns.emplace();
        for (const ColumnId c : table().columns.ids())
          row.columns->push_back(
              {table().columns[c].name, table().columns[c].type, false,
               table().columns[c].width.bits,
               make_variable(frame, loop.targets[is_old ? count + c.index : c.index], place)});
        scope.sources.push_back(std::move(row));
      }
      If test{.condition = build_condition(scope, *trigger->when),
              .body = std::move(body),
              .otherwise = {}};
      body.clear();
      body.push_back({.place = place, .text = trigger->name, .kind = std::move(test)});
    }
    std::ranges::move(body, std::back_inserter(loop.body));
  }
  to_.push_back(model_.with(std::move(loop)));
}

}  // namespace isoscope::sql
