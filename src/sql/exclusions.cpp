#include "sql/exclusions.h"

#include <algorithm>

#include "sql/evaluate.h"

namespace isoscope::sql {
namespace {

class OneRow final : public RowsInScope {
 public:
  explicit OneRow(const TableRow& row) : row_(row) {}
  Value column(SourceId, ColumnId column) override { return row_[column]; }

 private:
  const TableRow& row_;
};

// Is there something between the lower end of one range and the upper end of another? No end goes
// on for ever.
bool leaves_room(const ExclusionPart& part, const Value& low, const Value& high) {
  const auto order = compare(low, high);
  if (!order || *order < 0) return true;
  return *order == 0 && !part.is_low_open && part.is_high_closed;
}

bool overlap(const ExclusionPart& part, const ExclusionValue& a, const ExclusionValue& b) {
  return leaves_room(part, a.low, a.high) && leaves_room(part, b.low, b.high) &&
         leaves_room(part, a.low, b.high) && leaves_room(part, b.low, a.high);
}

}  // namespace

Result<std::vector<ExclusionValue>> values_of(const Exclusion& exclusion, const TableRow& row) {
  OneRow rows(row);
  std::vector<ExclusionValue> values;
  if (exclusion.where) {
    const auto holds = evaluate(*exclusion.where, {}, rows);
    if (!holds) return holds.error();
    if (!is_true(*holds)) return values;
  }
  for (const ExclusionPart& part : exclusion.parts) {
    auto low = evaluate(part.value, {}, rows);
    if (!low) return low.error();
    ExclusionValue value{*std::move(low), {}};
    if (part.high) {
      auto high = evaluate(*part.high, {}, rows);
      if (!high) return high.error();
      value.high = *std::move(high);
      const auto order = compare(value.low, value.high);
      if (order && *order > 0)
        return Error{.what = "the lower end of a range is above its upper end"};
    }
    values.push_back(std::move(value));
  }
  return values;
}

bool conflict(const Exclusion& exclusion, const std::vector<ExclusionValue>& a,
              const std::vector<ExclusionValue>& b) {
  if (a.empty() || b.empty()) return false;
  for (std::size_t i = 0; i < exclusion.parts.size(); ++i) {
    const ExclusionPart& part = exclusion.parts[i];
    if (part.high) {
      if (!overlap(part, a[i], b[i])) return false;
    } else if (a[i].low != b[i].low || (a[i].low.is_null() && !exclusion.nulls_agree)) {
      return false;
    }
  }
  return true;
}

bool mentions(const Exclusion& exclusion, ColumnId column) {
  bool found = false;
  const auto look = [&](const Expr& expr) {
    for_each_column(expr, [&](SourceId, ColumnId named) { found = found || named == column; });
  };
  for (const ExclusionPart& part : exclusion.parts) {
    look(part.value);
    if (part.high) look(*part.high);
  }
  if (exclusion.where) look(*exclusion.where);
  return found;
}

}  // namespace isoscope::sql
