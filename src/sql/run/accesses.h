#pragma once
// The locations that calls of a function can possibly read and write, whatever the rows: by table
// and column. Rough, for pruning: never too few.
#include <compare>
#include <cstdint>
#include <optional>
#include <set>

#include "sql/application.h"

namespace isoscope::sql {

struct Location {
  TableId table;
  std::optional<ColumnId> column;  // none: the presence of rows
  friend auto operator<=>(const Location&, const Location&) = default;
};

struct Accesses {
  std::set<Location> reads;
  std::set<Location> writes;
};

Accesses accesses_of(const Application& app, const Function& function);

}  // namespace isoscope::sql
