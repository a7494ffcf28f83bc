#pragma once
// Which versions of a table's rows satisfy a condition: the server itself decides, over a temporary
// table that holds all versions side by side.
#include <map>
#include <string>
#include <vector>

#include "record/shape.h"
#include "record/versions.h"

namespace isoscope::record {

class Matches {
 public:
  explicit Matches(SqlConnection& sql) : sql_(sql) {}

  // By Version::id. Computed once for each condition and parameters.
  Result<const std::vector<bool>*> of(const TableVersions& versions, const Shape& shape,
                                      const RecordedStatement& statement);

 private:
  Result<std::string> load(const TableVersions& versions);

  SqlConnection& sql_;
  std::map<const TableVersions*, std::string> loaded_;  // the names of temporary tables
  std::map<std::string, std::vector<bool>> known_;
};

// "where qty < 5 select sku": what a statement asks of a row, for the name of a key.
std::string question(const Shape& shape, const RecordedStatement& statement,
                     const std::string& selected);

}  // namespace isoscope::record
