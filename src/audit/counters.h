#pragma once
// Facts about counters, without which programs that number their rows cannot be proved.
//
// A counter is a column that every writer makes larger than the value it read. Rows are counted if
// every INSERT takes a part of the key from a counter that it moves on:
//
//     v := district[w, d].next;  district[w, d].next := v + 1;  INSERT orders[w, d, v]
//
// Where the level lets no two writers of a counter run unseen by each other, its values follow
// arbitration: who sees an increment reads more than it found (F1). Where whoever sees a
// transaction also sees what that one saw, who does not see an increment reads no more than it
// found (F2). And a counted row that is seen is below the counter that is seen with it (F3), if
// its table was empty at the start. Together: an order that a delivery does not see has a higher
// number than all that it sees.
//
// Nothing here is taken on trust: that a column is a counter, that rows are counted, and that the
// levels say what the facts need is asked of the solver.
//
// The proof of TPC-C in [NagarJagannathan-CONCUR'18] needs these facts but has no rule for them.
#include <vector>

#include "audit/axioms.h"
#include "support/budget.h"

namespace isoscope::audit {

struct Counter {
  sql::TableId table;
  sql::ColumnId column = {};
};

struct CountedRows {
  sql::TableId table;
  std::size_t key_part = 0;              // of the key: the number
  std::size_t counter = 0;               // which
  std::vector<std::size_t> counter_row;  // the parts of the key that name the counter's row
};

class Counters {
 public:
  // Looks for them in all functions of the world's application. Requires: an open world. With
  // `rows_at_start`, tables may have rows that were not counted. Finds none if the budget is over
  // before it is done, or without `may_count`: where a call has several views.
  Counters(World& world, Axioms& axioms, bool rows_at_start, bool may_count, Budget& budget);

  const std::vector<Counter>& counters() const { return counters_; }
  const std::vector<CountedRows>& counted() const { return counted_; }
  std::vector<SmtTerm> constraints(Cast cast);
  // "orders.o_id is counted by district.d_next_o_id"
  std::vector<std::string> describe() const;

 private:
  void find_counters(bool rows_at_start, Budget& budget);
  bool is_counter(const Counter& counter, Budget& budget);
  bool is_serial(const Counter& counter, Budget& budget);
  bool is_causal(const Counter& counter, sql::FunctionId viewer, Budget& budget);
  std::vector<sql::FunctionId> writers_of(const Counter& counter);
  void find_counted(Budget& budget);
  std::optional<CountedRows> counted_by(sql::FunctionId function, const Access& insert,
                                        Budget& budget);
  // Nothing of the cast makes `claim` false.
  bool always(Cast cast, SmtTerm claim, bool with_levels, Budget& budget);

  World& world_;
  Axioms& axioms_;
  std::vector<Counter> counters_;
  // By counter: may the function that looks at it take its order for causal?
  std::vector<ById<sql::FunctionId, bool>> is_causal_;
  std::vector<CountedRows> counted_;
};

}  // namespace isoscope::audit
