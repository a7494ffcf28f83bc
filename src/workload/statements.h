#pragma once
// SQL statements as reads and writes of keys, by the access that the program is written for.
//
// A table with rows (w, d) has the keys district[w, d] (1 if the row is there), a key for each
// column that some transaction uses, d_ytd[w, d], and district_rest[w, d, k] for the other cells.
// Only a scan touches the latter, and an insert that scans will meet.
//
//     select found, tax = d_tax from district[w, d]      found: whether the row is there
//     fetch there from orders[w, d, o]                   a row of a table that grows, by an index
//     insert orders[w, d, o] o_c_id = c                  cells without a value are 0
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/program_text.h"
#include "workload/workload.h"

namespace isoscope {

using WorkloadSizes = std::map<std::string, std::int64_t, std::less<>>;

struct Dimension {
  std::string name;  // w: a loop over it counts at_w
  std::string size;  // of its range, by name; empty: it grows, so it is never scanned
};

struct Table {
  std::string name;
  std::vector<Dimension> dimensions;
  std::vector<std::string> columns;
  std::int64_t rest = 0;  // cells of a row that no transaction looks at, its primary key among them
};

class Statements {
 public:
  Statements(ProgramText& text, RowAccess access, std::span<const Table> tables,
             const WorkloadSizes& sizes)
      : text_(text), access_(access), tables_(tables), sizes_(sizes) {}

  static bool is_statement(std::string_view line);
  // Writes the statement. Its loops are counted as if it were made so many times.
  Result<void> write(std::string_view line, std::int64_t times);

  // A transaction begins: counts the rounds of its loops anew.
  void begin_txn() { rounds_ = 0; }
  // Rounds that the scans of one transaction make at most.
  std::int64_t most_rounds() const { return most_rounds_; }

 private:
  // What a select puts where. Without a column: whether the row is there.
  struct Want {
    std::string_view local;
    std::string_view column;
  };
  struct Row {
    const Table* table = nullptr;
    std::vector<std::string> where;  // the values of its primary key
  };

  Result<Row> parse_row(std::string_view text) const;
  Result<void> select(std::string_view what, std::int64_t times, bool by_index);
  Result<void> insert(std::string_view what, std::int64_t times);
  Result<void> scan(const Row& row, std::span<const Want> wants, std::int64_t times);
  void read_rest(const Table& table, const std::vector<std::string>& row);
  void count_rounds(std::int64_t rounds);
  bool scans() const { return access_ == RowAccess::Scan; }

  ProgramText& text_;
  RowAccess access_;
  std::span<const Table> tables_;
  const WorkloadSizes& sizes_;
  std::int64_t rounds_ = 0;
  std::int64_t most_rounds_ = 0;
};

}  // namespace isoscope
