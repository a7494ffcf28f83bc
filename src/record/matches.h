#pragma once
// Which versions of a table's rows satisfy a condition: the server itself decides, over a temporary
// table that holds all versions side by side.
#include <functional>
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
  // The same for the i-th table of a block of a query: which of its versions have partners among
  // the versions of the others? `find`: the versions of a table, by schema and name.
  // What VALUES (…) of one row is, as text.
  Result<Row> values(const std::string& text, const RecordedStatement& statement);
  using Find = std::function<const TableVersions*(const BlockTable&)>;
  Result<const std::vector<bool>*> of_block(const Shape& shape, std::size_t block, std::size_t i,
                                            const RecordedStatement& statement, const Find& find);

 private:
  Result<std::string> load(const TableVersions& versions);
  Result<std::string> from_text(const Block& block, const Find& find);
  Result<void> mark(const std::string& query, const std::string& condition,
                    const RecordedStatement& statement, std::vector<bool>& matching);

  SqlConnection& sql_;
  std::map<const TableVersions*, std::string> loaded_;  // the names of temporary tables
  std::map<std::string, std::vector<bool>> known_;
};

// "where qty < 5 select sku": what a statement asks of a row, for the name of a key.
std::string question(const Shape& shape, const RecordedStatement& statement,
                     const std::string& selected);
// The same for a table of a block.
std::string block_question(const Block& block, const BlockTable& table,
                           const RecordedStatement& statement, const std::string& selected);

}  // namespace isoscope::record
