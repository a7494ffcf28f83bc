// What names in expressions stand for.
#include <fmt/format.h>

#include <algorithm>

#include "sql/functions.h"
#include "sql/read/expr_parts.h"
#include "support/spelling.h"

namespace isoscope::sql {

std::vector<FoundColumn> find_columns(const Scope& scope, const std::string& qualifier,
                                      const std::string& name) {
  std::vector<FoundColumn> found;
  for (std::uint32_t i = 0; i < scope.sources.size(); ++i) {
    const Source& source = scope.sources[i];
    if (qualifier.empty() ? scope.first_source_only && i > 0 : source.name != qualifier) continue;
    if (qualifier.empty() && std::ranges::find(source.merged, name) != source.merged.end())
      continue;
    if (const auto column = find_source_column(scope, i, name)) found.push_back({i, *column});
  }
  return found;
}

bool is_whole_row(const Scope& scope, const std::string& name) {
  for (const Scope* around = &scope; around != nullptr; around = around->outer) {
    if (std::ranges::find(around->sources, name, &Source::name) != around->sources.end())
      return true;
  }
  return false;
}

namespace {

// A column of a query around: a variable of the loop around, if it has become one; else that query
// must be built again so that it is.
std::optional<Expr> outer_column(const Scope& scope, const std::string& qualifier,
                                 const std::string& name, Place place) {
  for (const Scope* around = scope.outer; around != nullptr; around = around->outer) {
    const auto found = find_columns(*around, qualifier, name);
    if (found.empty()) continue;
    Expr value = make_column(*around, found.front().source, found.front().column, place);
    if (!uses_column(value)) return value;
    if (around->is_used_inside != nullptr) {
      *around->is_used_inside = true;
    } else {
      scope.findings.fail(place, fmt::format("the subquery uses '{}' of the query around it", name),
                          "a join, or a loop with a SELECT inside, can be modelled");
    }
    return make_null(value.type, place);
  }
  return std::nullopt;
}

void fail_unknown(Scope& scope, const std::string& name, Place place) {
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < scope.sources.size(); ++i) {
    for (const ColumnName& column : columns_of_source(scope, i)) names.push_back(column.name);
  }
  if (scope.frame != nullptr) {
    for (const std::string_view known : scope.frame->known_names()) names.push_back(known);
  }
  scope.findings.fail(
      place, fmt::format("unknown name '{}'", name),
      names.empty() ? "no columns or variables are known here" : suggest(name, names));
}

Expr whole_record(Scope& scope, const std::string& name, Place place) {
  scope.findings.fail(place, fmt::format("the record '{}' is used as a value", name),
                      fmt::format("name a field, as in {}.f", name));
  return make_null(Type::Integer, place);
}

}  // namespace

std::optional<Expr> build_record_test(Scope& scope, const Tree& value, bool is_null, Place place) {
  const Tree& fields = child(child(value, "ColumnRef"), "fields");
  if (fields.size() != 1 || scope.frame == nullptr) return std::nullopt;
  const std::string name = last_name(fields);
  const auto number = scope.frame->find_number(name);
  if (!number || !find_columns(scope, "", name).empty()) return std::nullopt;
  NamedVariable& record = scope.frame->named(*number);
  if (!record.is_record || record.fields.empty()) return std::nullopt;
  record.is_tested = true;
  std::optional<Expr> all;
  for (const FieldVariable& field : record.fields) {
    if (field.is_hidden) continue;
    Expr test =
        make(ExprOp::IsNull, Type::Boolean, {make_variable(*scope.frame, field.var, place)}, place);
    if (!is_null) test = make(ExprOp::Not, Type::Boolean, {std::move(test)}, place);
    all = both(std::move(all), std::move(test));
  }
  return all;
}

namespace {

// PL/pgSQL refuses a name that stands for something in the statement and for a variable, too.
void fail_clash(Scope& scope, const std::string& name, std::string_view what, Place place) {
  scope.findings.fail(
      place,
      fmt::format("'{}' is {} and a variable: the server refuses the statement (42702)", name,
                  what),
      "give the variable another name, or write the table before the column");
}

// `name` is a column: as a variable too it would be ambiguous, and the call would fail.
void check_clash(Scope& scope, const std::string& name, Place place) {
  if (scope.names_may_clash && scope.frame != nullptr && scope.frame->find(name) != nullptr)
    fail_clash(scope, name, "a column", place);
}

Expr plain_name(Scope& scope, const std::string& name, Place place) {
  const auto columns = find_columns(scope, "", name);
  if (columns.size() > 1)
    scope.findings.fail(
        place, fmt::format("'{}' is a column of several tables here", name),
        fmt::format("write which, as in {}.{}", scope.sources[columns.front().source].name, name));
  if (!columns.empty()) {
    check_clash(scope, name, place);
    return make_column(scope, columns.front().source, columns.front().column, place);
  }
  if (auto outer = outer_column(scope, "", name, place)) {
    check_clash(scope, name, place);
    return *outer;
  }
  if (scope.frame != nullptr) {
    if (const NamedVariable* variable = scope.frame->find(name)) {
      if (scope.names_may_clash && is_whole_row(scope, name))
        fail_clash(scope, name, "a table of the statement", place);
      if (variable->is_record) return whole_record(scope, name, place);
      Expr value = make_variable(*scope.frame, variable->var, place);
      if (!variable->is_message) return value;
      // Unknown where the variable of the handler is NULL.
      Expr told = make(ExprOp::Opaque, Type::Text, {std::move(value)}, place);
      told.text = kMessageOfError;
      return told;
    }
    const auto found = scope.frame->function().found;
    if (name == "found" && found) return make_variable(*scope.frame, *found, place);
  }
  fail_unknown(scope, name, place);
  return make_null(Type::Integer, place);
}

std::optional<Expr> field_of(Scope& scope, const NamedVariable& record, const std::string& field,
                             Place place) {
  if (!record.is_record) return std::nullopt;
  if (const auto var = record.field(field)) return make_variable(*scope.frame, *var, place);
  std::vector<std::string_view> names;
  for (const FieldVariable& known : record.fields) {
    if (!known.is_hidden) names.push_back(known.name);
  }
  scope.findings.fail(place, fmt::format("the record '{}' has no field '{}'", record.name, field),
                      names.empty() ? "no query has filled it before" : suggest(field, names));
  return make_null(Type::Integer, place);
}

// A field of a record, or a variable of the block or function `qualifier`.
bool is_qualified_variable(const Scope& scope, const std::string& qualifier,
                           const std::string& name) {
  if (scope.frame == nullptr) return false;
  const NamedVariable* record = scope.frame->find(qualifier);
  return (record != nullptr && record->is_record && record->field(name)) ||
         scope.frame->find(qualifier, name) != nullptr;
}

Expr qualified_name(Scope& scope, const std::string& qualifier, const std::string& name,
                    Place place) {
  const auto columns = find_columns(scope, qualifier, name);
  if (!columns.empty()) {
    if (scope.names_may_clash && is_qualified_variable(scope, qualifier, name))
      fail_clash(scope, fmt::format("{}.{}", qualifier, name), "a column", place);
    return make_column(scope, columns.front().source, columns.front().column, place);
  }
  for (std::uint32_t i = 0; i < scope.sources.size(); ++i) {
    if (scope.sources[i].name != qualifier) continue;
    std::vector<std::string_view> names;
    for (const ColumnName& column : columns_of_source(scope, i)) names.push_back(column.name);
    scope.findings.fail(place, fmt::format("'{}' has no column '{}'", qualifier, name),
                        suggest(name, names));
    return make_null(Type::Integer, place);
  }
  if (auto outer = outer_column(scope, qualifier, name, place)) return *outer;
  if (scope.frame != nullptr) {
    if (const NamedVariable* record = scope.frame->find(qualifier)) {
      if (auto field = field_of(scope, *record, name, place)) return *field;
    }
    if (const NamedVariable* variable = scope.frame->find(qualifier, name)) {
      if (variable->is_record) return whole_record(scope, name, place);
      return make_variable(*scope.frame, variable->var, place);
    }
  }
  fail_unknown(scope, scope.sources.empty() ? qualifier + "." + name : qualifier, place);
  return make_null(Type::Integer, place);
}

}  // namespace

Expr build_name(Scope& scope, const Tree& column_ref, Place place) {
  std::vector<std::string> names;
  for (const Tree& field : child(column_ref, "fields")) names.push_back(string_node(field));
  if (names.empty() || names.back().empty()) {
    scope.findings.fail(place, "* cannot stand here", "name the columns");
    return make_null(Type::Integer, place);
  }
  if (names.size() == 1) return plain_name(scope, names[0], place);
  return qualified_name(scope, names[names.size() - 2], names.back(), place);
}

}  // namespace isoscope::sql
