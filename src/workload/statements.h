#pragma once
// SQL statements as reads and writes of keys, by the access that the program is written for.
//
// A table with rows (w, d) has the keys district[w, d] (1 if the row is there), a key for each
// column that some transaction uses, d_ytd[w, d], and district_rest[w, d, k] for the other cells.
// Only a scan touches the latter, and an insert that scans will meet.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/program_text.h"
#include "workload/workload.h"

namespace isoscope {

struct Dimension {
  std::string name;       // w: a loop over it counts at_w
  std::int64_t size = 0;  // 0: grows, so it is never scanned
};

struct Table {
  std::string name;
  std::vector<Dimension> dimensions;
  std::vector<std::string> columns;
  std::int64_t rest = 0;  // cells of a row that no transaction looks at, its primary key among them
};

// What a select puts where. Without a column: whether the row is there.
struct Want {
  std::string local;
  std::string column;
};

class Statements {
 public:
  Statements(ProgramText& text, RowAccess access) : text_(text), access_(access) {}

  // select … from table where its primary key = where
  void select(const Table& table, const std::vector<std::string>& where,
              const std::vector<Want>& wants);
  // The same as the first half of an update: who knows the cells already, by RowAccess::Point,
  // reads nothing more.
  void select_again(const Table& table, const std::vector<std::string>& where,
                    const std::vector<Want>& wants);
  // A row of a table that grows, found through an index: its cells, or those that are wanted.
  void fetch(const Table& table, const std::vector<std::string>& where,
             const std::vector<Want>& wants);
  // insert into table; cells without a value are 0.
  void insert(const Table& table, const std::vector<std::string>& where,
              const std::vector<std::pair<std::string, std::string>>& values);

  // Begins and ends a transaction; counts the rounds of its loops.
  void begin_txn(std::string_view head);
  void end_txn();
  // What follows, up to the matching end_times(), happens up to so often.
  void begin_times(std::int64_t times) { times_ = times; }
  void end_times() { times_ = 1; }
  // Rounds that the scans of one transaction make at most.
  std::int64_t most_rounds() const { return most_rounds_; }

  bool scans() const { return access_ == RowAccess::Scan; }

 private:
  void scan(const Table& table, const std::vector<std::string>& where,
            const std::vector<Want>& wants);
  void read_rest(const Table& table, const std::vector<std::string>& row);

  ProgramText& text_;
  RowAccess access_;
  std::int64_t times_ = 1;
  std::int64_t rounds_ = 0;
  std::int64_t most_rounds_ = 0;
};

// The keys of a row: cell("d_ytd", {"w", "d"}) is d_ytd[w, d].
std::string cell(std::string_view family, const std::vector<std::string>& indices);
std::string cell(std::string_view family, const std::vector<std::int64_t>& indices);

}  // namespace isoscope
