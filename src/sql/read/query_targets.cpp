// The variables that get what a query finds, and the statements that it becomes.
#include <fmt/format.h>

#include <algorithm>

#include "sql/read/query_parts.h"

namespace isoscope::sql {

std::vector<VarId> bind_targets(const Scope& scope, const std::vector<ResultColumn>& columns,
                                const std::vector<std::size_t>& named, Place place) {
  Frame& frame = *scope.frame;
  std::vector<VarId> targets;
  if (named.size() == 1 && frame.named(named[0]).is_record) {
    const NamedVariable record = frame.named(named[0]);
    for (const FieldVariable& field : record.fields) {
      if (record.is_row && !field.is_hidden) targets.push_back(field.var);
    }
    if (record.is_row && targets.size() != columns.size())
      scope.findings.fail(place, fmt::format("{} values for the {} fields of '{}'", columns.size(),
                                             targets.size(), record.name));
    for (std::size_t i = 0; i < columns.size() && !record.is_row; ++i)
      targets.push_back(frame.field(named[0], columns[i].name, columns[i].type, columns[i].is_array,
                                    place, columns[i].bits));
    // What a test looks at is what all queries fill.
    const bool is_other = frame.named(named[0]).fields.size() != record.fields.size() ||
                          record.fields.size() != targets.size();
    if (record.is_tested && !record.is_row && is_other)
      scope.findings.fail(
          place, fmt::format("'{}' is tested as a whole, and this query has other columns for it",
                             record.name));
    return targets;
  }
  for (const std::size_t number : named) {
    if (frame.named(number).is_record) {
      scope.findings.fail(place, fmt::format("the record '{}' is one of several targets",
                                             frame.named(number).name));
      return targets;
    }
    targets.push_back(frame.named(number).var);
  }
  if (targets.size() != columns.size())
    scope.findings.fail(place,
                        fmt::format("{} values for {} variables", columns.size(), targets.size()));
  return targets;
}

namespace {

bool is_number(Type type) { return type == Type::Integer || type == Type::Numeric; }

// An aggregate that is rounded, or made a numeric, on its way into a variable.
bool converts(const Variable& variable, const ResultColumn& column) {
  if (variable.is_array || column.is_array || !is_number(variable.type) || !is_number(column.type))
    return false;
  return variable.type != column.type || (variable.type == Type::Numeric &&
                                          variable.width.bits != kAnyScale && !variable.is_hidden);
}

// Puts a variable of ours between each aggregate and what gets it.
void compute_aggregates(const Scope& scope, BuiltQuery& built) {
  for (std::size_t i = 0; i < built.columns.size(); ++i) {
    const ResultColumn& column = built.columns[i];
    const Place place = built.query.outputs[i].expr.place;
    built.hidden.push_back(
        scope.frame->add_hidden("aggregate", column.type, column.is_array, place, column.bits));
    built.computed.push_back(make_variable(*scope.frame, built.hidden.back(), place));
  }
}

// Makes the results fit the variables that get them.
void fit(const Scope& given, BuiltQuery& built, const std::vector<VarId>& targets) {
  Scope scope = given;
  const auto is_converted = [&](std::size_t i) {
    return built.query.outputs[i].aggregate != Aggregate::None &&
           converts(scope.frame->variable(targets[i]), built.columns[i]);
  };
  for (std::size_t i = 0; i < targets.size() && i < built.columns.size(); ++i) {
    if (!built.computed.empty() || !is_converted(i)) continue;
    compute_aggregates(scope, built);
  }
  for (std::size_t i = 0; i < targets.size() && i < built.columns.size(); ++i) {
    const Variable& variable = scope.frame->variable(targets[i]);
    const std::string what = fmt::format("'{}'", variable.name);
    // Variables of ours have the types of what they get; sides of UNION must not be rounded.
    const auto fitted = [&](Expr& expr) {
      if (variable.is_hidden) {
        expr = adapt(scope, std::move(expr), variable.type, variable.is_array, what,
                     variable.width.bits);
      } else {
        expr = without_idle_rounding(assigned(scope, std::move(expr), variable.type,
                                              variable.is_array, what, variable.width));
      }
    };
    if (!built.computed.empty()) {
      fitted(built.computed[i]);
    } else if (built.query.outputs[i].aggregate == Aggregate::None) {
      fitted(built.query.outputs[i].expr);
    } else if (variable.type != built.columns[i].type ||
               variable.is_array != built.columns[i].is_array) {
      scope.findings.fail(built.query.outputs[i].expr.place,
                          fmt::format("{} is {}, but gets {}", what, a_type(variable.type),
                                      a_type(built.columns[i].type)));
    }
  }
}

// target := result, for results that are computed of aggregates.
void add_computed(std::vector<Statement>& to, const BuiltQuery& built,
                  const std::vector<VarId>& targets, const Statement& model) {
  for (std::size_t i = 0; i < built.computed.size() && i < targets.size(); ++i) {
    to.push_back(model.with(Assign{.target = targets[i], .value = built.computed[i]}));
  }
}

}  // namespace

void add_select(std::vector<Statement>& to, const Scope& scope, BuiltQuery built,
                const std::vector<VarId>& targets, Select like, const Statement& model) {
  if (scope.findings.failed()) return;
  fit(scope, built, targets);
  like.query = std::move(built.query);
  like.targets = built.computed.empty() ? targets : built.hidden;
  to.push_back(model.with(std::move(like)));
  add_computed(to, built, targets, model);
}

Statement make_loop(const Scope& scope, BuiltQuery built, const std::vector<VarId>& targets,
                    const Statement& model) {
  ForQuery loop;
  if (!scope.findings.failed()) {
    fit(scope, built, targets);
    loop.query = std::move(built.query);
    loop.targets = built.computed.empty() ? targets : built.hidden;
    add_computed(loop.body, built, targets, model);
  }
  return model.with(std::move(loop));
}

}  // namespace isoscope::sql
