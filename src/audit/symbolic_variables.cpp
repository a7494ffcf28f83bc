#include "audit/symbolic_variables.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoscope::audit {

namespace {

constexpr std::size_t kMaxKnownRows = 4;  // rounds of a loop over them cost as much as its body

// Rows that were added on either side are there only if that side was taken, by their conditions.
std::shared_ptr<const KnownRows> merge_rows(const Variable& yes, const Variable& no) {
  if (yes.rows == no.rows) return yes.rows;
  if (!yes.rows || !no.rows || yes.rows->origin != no.rows->origin) return nullptr;
  const std::vector<KnownRow>& b = no.rows->rows;
  const auto is_same = [](const KnownRow& x, const KnownRow& y) {
    return x.is_there.index == y.is_there.index &&
           std::ranges::equal(x.values, y.values, [](const SymValue& v, const SymValue& w) {
             return v.null.index == w.null.index && v.number.index == w.number.index;
           });
  };
  KnownRows merged = *yes.rows;
  merged.rows.insert(merged.rows.end(), std::ranges::mismatch(yes.rows->rows, b, is_same).in2,
                     b.end());
  if (merged.rows.size() > kMaxKnownRows) return nullptr;
  return std::make_shared<const KnownRows>(std::move(merged));
}

}  // namespace

void SymbolicVariables::declare() {
  SmtSolver& smt = symbols_.smt();
  const sql::Function& function = call_.function;
  for (std::size_t v = 0; v < function.variables.size(); ++v) {
    const sql::Variable& declared = function.variables[v];
    Variable variable{symbols_.null(), {}};
    const bool is_parameter = v < function.num_parameters;
    const std::string name = fmt::format("{}.{}", instance_.name(), declared.name);
    if (declared.is_array) {
      // As a whole it may be NULL, too, though not in a witness.
      variable.value = symbols_.fresh_value(name, call_.loops == Loops::AnyTwo || !is_parameter);
      variable.array = symbols_.fresh_array(name);
      instance_.facts.push_back(smt.number(0) <= variable.array->size);
      if (call_.loops == Loops::AtMostTwo)
        instance_.facts.push_back(variable.array->size <= smt.number(2));
    } else if (is_parameter) {
      variable.value = symbols_.fresh_value(name, true);
      if (declared.type == sql::Type::Boolean) bound_truth(variable.value);
    }
    if (is_parameter) instance_.parameters.push_back({variable.value, variable.array});
    call_.env.push_back(variable);
  }
  if (function.found) call_.env[function.found->index].value = symbols_.truth(symbols_.no());
  if (function.row_count) call_.env[function.row_count->index].value = symbols_.number(0);
}

void SymbolicVariables::bound_truth(const SymValue& value) {
  SmtSolver& smt = symbols_.smt();
  if (smt.has_real_numbers()) {
    instance_.facts.push_back(equals(value.number, smt.number(0)) ||
                              equals(value.number, smt.number(1)));
    return;
  }
  instance_.facts.push_back(symbols_.smt().number(0) <= value.number &&
                            value.number <= symbols_.smt().number(1));
}

SymValue SymbolicVariables::any_value(sql::VarId var) {
  const SymValue value = symbols_.fresh_value("of_rows", true);
  if (call_.function.variables[var.index].type == sql::Type::Boolean) bound_truth(value);
  return value;
}

void SymbolicVariables::assign(const sql::Assign& statement) {
  const sql::Expr& value = statement.value;
  Variable& variable = call_.env[statement.target.index];
  if (statement.index) {  // an element: the array as a whole is unknown from here on
    forget_rows(statement.target);
  } else if (variable.array && value.op == sql::ExprOp::ArrayOf && value.args.empty()) {
    clear_rows(statement.target);
  } else if (variable.array) {
    set_array(variable, terms_.array(value, call_.here()), terms_.eval(value, call_.here()));
  } else {
    call_.assign(statement.target, terms_.eval(value, call_.here()));
  }
}

void SymbolicVariables::set(sql::VarId var, const SymValue& value) {
  if (call_.env[var.index].array) forget_rows(var);
  call_.env[var.index].value = value;
}

void SymbolicVariables::forget(std::span<const sql::Statement> body) {
  const sql::Function& function = call_.function;
  for (const sql::Statement& statement : body) {
    for (const sql::VarId target : statement.targets()) {
      if (call_.env[target.index].array) forget_rows(target);
      call_.env[target.index].value = symbols_.fresh_value("some_round", true);
    }
    if (const auto rows = statement.into_rows()) forget_rows(*rows);
    const bool tells_rows = statement.is<sql::Select>() || statement.write() != nullptr;
    if (function.found && (tells_rows || !statement.body().empty()))
      call_.env[function.found->index].value = symbols_.fresh_value("some_round.found", false);
    if (function.row_count && tells_rows)
      call_.env[function.row_count->index].value = symbols_.fresh_value("some_round.count", false);
    forget(statement.body());
    forget(statement.otherwise());
  }
}

Env SymbolicVariables::merge(SmtTerm condition, const Env& yes, const Env& no) {
  Env merged = yes;
  for (std::size_t v = 0; v < merged.size(); ++v) {
    merged[v].value = symbols_.choose_value(condition, yes[v].value, no[v].value);
    if (yes[v].array && no[v].array && yes[v].array->element.index != no[v].array->element.index) {
      merged[v].array = symbols_.fresh_array("either");
      instance_.facts.push_back(
          equals(merged[v].array->size, choose(condition, yes[v].array->size, no[v].array->size)));
    }
    merged[v].rows = merge_rows(yes[v], no[v]);
  }
  return merged;
}

void SymbolicVariables::forget_rows(sql::VarId rows) {
  Variable& variable = call_.env[rows.index];
  variable.array = symbols_.fresh_array("rows");
  variable.value = symbols_.fresh_value("rows", false);
  variable.rows = nullptr;
  instance_.facts.push_back(symbols_.smt().number(0) <= variable.array->size);
}

// A path that is left may be taken up again behind a block or loop, where the array must be as it
// was.
void SymbolicVariables::set_array(Variable& variable, SymArray array, const SymValue& value) {
  variable.rows = nullptr;
  if (call_.exits.empty()) {
    variable.array = array;
    variable.value = value;
    return;
  }
  const SymArray old = *variable.array;
  SymArray either = symbols_.fresh_array("either");
  const SmtTerm alive = call_.alive;
  instance_.facts.push_back(equals(either.size, choose(alive, array.size, old.size)));
  for (const std::int64_t i : {1, 2}) {
    const SmtTerm index = symbols_.smt().number(i);
    if (call_.loops == Loops::AtMostTwo)
      instance_.facts.push_back(
          equals(either.element(index), choose(alive, array.element(index), old.element(index))));
  }
  variable.array = either;
  variable.value = symbols_.choose_value(alive, value, variable.value);
}

void SymbolicVariables::clear_rows(sql::VarId rows) {
  Variable& variable = call_.env[rows.index];
  SymArray empty = symbols_.fresh_array("rows");
  instance_.facts.push_back(equals(empty.size, symbols_.smt().number(0)));
  set_array(variable, empty, symbols_.fresh_value("rows", false));
  // The front end empties a set right before the statement that fills and uses it: where this is
  // not reached, its former rows are not used.
  variable.rows = std::make_shared<const KnownRows>(KnownRows{++call_.num_sets, {}});
}

void SymbolicVariables::append_row(sql::VarId rows, SmtTerm is_there,
                                   std::vector<SymValue> values) {
  Variable& variable = call_.env[rows.index];
  const SymArray old = *variable.array;
  const auto known = variable.rows;
  forget_rows(rows);
  const SmtTerm one = symbols_.smt().number(1);
  instance_.facts.push_back(
      equals(variable.array->size, choose(is_there, old.size + one, old.size)));
  if (!known || known->rows.size() >= kMaxKnownRows) return;
  KnownRows longer = *known;
  longer.rows.push_back({is_there, std::move(values)});
  variable.rows = std::make_shared<const KnownRows>(std::move(longer));
}

}  // namespace isoscope::audit
