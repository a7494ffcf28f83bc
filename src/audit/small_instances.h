#pragma once
// Small instances of an application, at random: a few rows, and calls with arguments that meet
// them.
//
// Numbers are small, or near one that the program itself mentions (a limit, the 0 of `stock >= 0`).
// Rows obey NOT NULL, keys, FOREIGN KEY and CHECK. The same seed gives the same instances.
#include <vector>

#include "audit/scenario.h"
#include "sql/read/assertions.h"
#include "support/rng.h"

namespace isoscope::audit {

// May the table have the row beside the others, as far as NOT NULL, keys, EXCLUDE and CHECK say?
bool fits_beside(const sql::Application& app, const std::vector<sql::InitialRow>& others,
                 const sql::InitialRow& row);

class SmallInstances {
 public:
  // What the claims mention counts, too. Requires: `app` outlives it.
  SmallInstances(const sql::Application& app, const std::vector<sql::RowAssertion>& claims,
                 std::uint64_t seed);

  std::vector<sql::InitialRow> rows();
  ScenarioCall call(sql::FunctionId function);

 private:
  sql::Value key_value(sql::Type type);
  sql::Value any_value(sql::Type type);
  bool refer(const std::vector<sql::InitialRow>& rows, const sql::Table& table,
             sql::InitialRow& row);
  void add_row(std::vector<sql::InitialRow>& rows, sql::TableId table);

  const sql::Application& app_;
  Rng rng_;
  std::vector<std::int64_t> numbers_ = {0, 1, 2};
  std::vector<std::string> texts_ = {"a", "b"};
};

}  // namespace isoscope::audit
