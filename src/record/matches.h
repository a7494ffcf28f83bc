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

  // Forgets answers if they are many. Pointers that were returned before are invalid then.
  void trim();
  // By Version::id. Computed once for each condition and parameters.
  Result<const std::vector<bool>*> of(const TableVersions& versions, const Shape& shape,
                                      const RecordedStatement& statement);
  // What VALUES (…) of one row is, as text.
  Result<Row> values(const std::string& text, const RecordedStatement& statement);
  // The same for the i-th table of a block of a query: which of its versions can have partners
  // among the versions of the others? `find`: the versions of a table, by schema and name.
  using Find = std::function<const TableVersions*(const BlockTable&)>;
  Result<const std::vector<bool>*> of_block(const Shape& shape, std::size_t block, std::size_t i,
                                            const RecordedStatement& statement, const Find& find);
  // Which of its versions would be in the answer, with the other tables as a snapshot shows them?
  // `shown`: the ids of the versions of a table that the snapshot shows, besides those of rows that
  // were not written. Requires: the block is whole and an answer. Null if asked too often.
  using Shown = std::function<std::vector<std::size_t>(const TableVersions&)>;
  Result<const std::vector<bool>*> of_block_at(const Block& block, std::size_t i,
                                               const RecordedStatement& statement, const Find& find,
                                               const Shown& shown);
  // Has one of the tables dates or times?
  static bool has_times(const std::vector<Block>& blocks, const Find& find);

 private:
  // The name of a table of versions, as it stands in FROM.
  using NameOf = std::function<std::string(const BlockTable&, const TableVersions&, std::string)>;
  Result<std::string> load(const TableVersions& versions);
  Result<std::string> from_text(const Block& block, const Find& find, const NameOf& name_of);
  Result<void> mark(const std::string& query, const std::string& condition,
                    const RecordedStatement& statement, bool has_times,
                    std::vector<bool>& matching);
  Result<void> set(const ClientSettings& settings);

  SqlConnection& sql_;
  std::map<const TableVersions*, std::string> loaded_;  // the names of temporary tables
  const std::vector<bool>* remember(const std::string& name, std::vector<bool> matching);

  std::map<std::string, std::vector<bool>> known_;
  std::size_t known_bytes_ = 0;
  static constexpr std::size_t kMostKnown = std::size_t{32} << 20U;
  ClientSettings own_;  // of our connection
  static constexpr std::size_t kMostAtSnapshots = 5'000;
  std::size_t at_snapshots_ = 0;  // questions that of_block_at() has asked
};

// "where qty < 5 select sku": what a statement asks of a row, for the name of a key. `has_times`:
// the row may have dates or times, so that the client's settings are part of the question.
std::string question(const Shape& shape, const RecordedStatement& statement,
                     const std::string& selected, bool has_times);
// The same for a table of a block.
std::string block_question(const Block& block, const BlockTable& table,
                           const RecordedStatement& statement, const std::string& selected,
                           bool has_times);

}  // namespace isoscope::record
