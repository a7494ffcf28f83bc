#include "sql/read/row_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sql/evaluate.h"
#include "sql/functions.h"

namespace isoscope::sql {
namespace {

class RowAlone final : public RowsInScope {
 public:
  explicit RowAlone(const TableRow& row) : row_(row) {}
  Value column(SourceId, ColumnId column) override { return row_[column]; }

 private:
  const TableRow& row_;
};

std::vector<Value> values_in(const TableRow& row, const std::vector<ColumnId>& columns) {
  std::vector<Value> values;
  for (const ColumnId column : columns) values.push_back(row[column]);
  return values;
}

bool has_unknown(const std::vector<Value>& values) {
  return std::ranges::any_of(values, &Value::is_null);
}

// Functions that call_function computes as the server does.
bool is_exact(std::string_view function) {
  constexpr std::string_view kExact[] = {"integer", "boolean", "text",    "length", "left", "right",
                                         "upper",   "lower",   "replace", "btrim",  "abs",  kCut};
  return std::ranges::find(kExact, function) != std::end(kExact) || is_decimal_function(function);
}

bool is_exact(const Expr& expr) {
  return (expr.op != ExprOp::Opaque || is_exact(std::string_view(expr.text))) &&
         !expr.is_volatile &&
         std::ranges::all_of(expr.args, [](const Expr& arg) { return is_exact(arg); });
}

bool is_exact(const Exclusion& exclusion) {
  return (!exclusion.where || is_exact(*exclusion.where)) &&
         std::ranges::all_of(exclusion.parts, [](const ExclusionPart& part) {
           return is_exact(part.value) && (!part.high || is_exact(*part.high));
         });
}

void note_unknown(std::string_view rule, const Table& table, const InitialRow& row,
                  Findings& findings) {
  findings.note(
      row.place,
      fmt::format("whether rows of '{}' at the start meet {} is not known", table.name, rule),
      NoteKind::Free);
}

}  // namespace

void RowRules::trust_rows() {
  Findings ignored;
  for (; num_checked_ < app_.initial_rows.size(); ++num_checked_)
    enter_keys(app_.initial_rows[num_checked_], ignored);
}

void RowRules::check_rows(Findings& findings) {
  const std::size_t first = num_checked_;
  for (; num_checked_ < app_.initial_rows.size(); ++num_checked_) {
    const InitialRow& row = app_.initial_rows[num_checked_];
    check_values(row, findings);
    if (!enter_keys(row, findings))
      findings.fail(row.place, fmt::format("another row of '{}' is in the way of this one, by a "
                                           "UNIQUE or EXCLUDE constraint",
                                           app_.table(row.table).name));
    if (findings.failed()) return;
  }
  for (std::size_t i = first; i < num_checked_ && !findings.failed(); ++i)
    check_references(app_.initial_rows[i], findings);
}

void RowRules::check_values(const InitialRow& row, Findings& findings) const {
  const Table& table = app_.table(row.table);
  for (const ColumnId c : table.columns.ids()) {
    if (const auto misfit = why_not_in(table.columns[c].width, row.values[c]))
      findings.fail(row.place,
                    fmt::format("column '{}' of '{}' cannot hold {}: {}", table.columns[c].name,
                                table.name, print(row.values[c]), misfit->what));
    if (table.columns[c].not_null && row.values[c].is_null())
      findings.fail(row.place, fmt::format("column '{}' of '{}' cannot be NULL",
                                           table.columns[c].name, table.name));
  }
  RowAlone values(row.values);
  for (const Expr& check : table.checks) {
    const auto holds = evaluate(check, {}, values);
    if (!holds || !is_exact(check)) {
      note_unknown("a CHECK", table, row, findings);
    } else if (*holds == Value(false)) {
      findings.fail(row.place, fmt::format("a row of '{}' does not meet its CHECK", table.name));
    }
  }
}

bool RowRules::enter_keys(const InitialRow& row, Findings& findings) {
  const Table& table = app_.table(row.table);
  bool is_alone = true;
  for (const UniqueId key : table.unique.ids()) {
    std::vector<Value> values = values_in(row.values, table.unique[key]);
    if (has_unknown(values)) continue;
    is_alone = keys_[{row.table, key}].insert(std::move(values)).second && is_alone;
  }
  for (const ExclusionId e : table.exclusions.ids()) {
    const Exclusion& exclusion = table.exclusions[e];
    auto values = values_of(exclusion, row.values);
    if (!values || !is_exact(exclusion)) {
      note_unknown("a UNIQUE or EXCLUDE constraint", table, row, findings);
      continue;
    }
    if (values->empty()) continue;
    auto& others = excluded_[{row.table, e}];
    for (const auto& other : others) is_alone = is_alone && !conflict(exclusion, other, *values);
    others.push_back(*std::move(values));
  }
  for (const Table& other : app_.tables) {
    for (const ForeignKey& foreign : other.foreign_keys) {
      if (foreign.target == row.table)
        targets_[{row.table, foreign.target_columns}].insert(
            values_in(row.values, foreign.target_columns));
    }
  }
  return is_alone;
}

void RowRules::check_references(const InitialRow& row, Findings& findings) const {
  const Table& table = app_.table(row.table);
  for (const ForeignKey& foreign : table.foreign_keys) {
    const std::vector<Value> values = values_in(row.values, foreign.columns);
    if (has_unknown(values)) continue;
    const auto target = targets_.find({foreign.target, foreign.target_columns});
    if (target == targets_.end() || !target->second.contains(values))
      findings.fail(row.place,
                    fmt::format("a row of '{}' refers to a row of '{}' that is not there",
                                table.name, app_.table(foreign.target).name));
  }
}

}  // namespace isoscope::sql
