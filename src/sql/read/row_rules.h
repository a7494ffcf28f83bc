#pragma once
// Do the rows at the start meet the constraints of their tables? The server would refuse them else.
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sql/application.h"
#include "sql/exclusions.h"
#include "sql/read/findings.h"

namespace isoscope::sql {

// Looks at rows in the order in which they come, each against those before it; at foreign keys
// when a whole batch is there, since its rows may refer to each other.
class RowRules {
 public:
  explicit RowRules(const Application& app) : app_(app) {}

  // Takes the rows of the application that it has not looked at for granted.
  void trust_rows();
  // Fails at the first one that breaks a rule. A rule that cannot be computed is a note.
  void check_rows(Findings& findings);

 private:
  void check_values(const InitialRow& row, Findings& findings) const;
  // Is the row alone with its values in all keys, also among those that exclude each other?
  bool enter_keys(const InitialRow& row, Findings& findings);
  void check_references(const InitialRow& row, Findings& findings) const;

  const Application& app_;
  std::size_t num_checked_ = 0;
  std::map<std::pair<TableId, UniqueId>, std::set<std::vector<Value>>> keys_;
  std::map<std::pair<TableId, ExclusionId>, std::vector<std::vector<ExclusionValue>>> excluded_;
  // The values in the columns that a foreign key targets.
  std::map<std::pair<TableId, std::vector<ColumnId>>, std::set<std::vector<Value>>> targets_;
};

}  // namespace isoscope::sql
