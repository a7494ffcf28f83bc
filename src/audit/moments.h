#pragma once
// Moments of a call: the points at which it looks at the database.
//
// At READ COMMITTED each statement takes a snapshot, so a call has as many views as statements. A
// query in an expression (IF EXISTS …, SET x = (SELECT …)) is hoisted in front of the statement
// that uses it and shares that statement's snapshot (sql/statement.h, `continues`). INSERT … ON
// CONFLICT DO NOTHING looks for its key after its snapshot, at a moment of its own, and holds
// nothing of what it found. Who counts moments along a run, on symbols or on values, asks here.
#include <cstddef>
#include <cstdint>

#include "sql/application.h"
#include "support/id.h"

namespace isoscope::audit {

using MomentId = Id<struct MomentTag>;  // of one call, in the order in which they come

// Not a moment: what is there when the call commits, everything committed before it. Rows that a
// call writes or locks are like that from the lock on.
inline constexpr MomentId kCurrent = MomentId::none();

class Moments {
 public:
  // Called for every statement when it begins, in the order in which they run. Returns how many
  // moments begin with it: 0 if it shares the last one.
  std::size_t begin(const sql::Statement& statement) {
    if (!statement.is_sql()) return 0;
    std::size_t count = statement.continues && count_ > 0 ? 0 : 1;
    if (looks_twice(statement)) ++count;
    count_ += static_cast<std::uint32_t>(count);
    return count;
  }
  static bool looks_twice(const sql::Statement& statement) {
    const auto* insert = statement.find<sql::Insert>();
    return insert != nullptr && insert->conflict == sql::OnConflict::Nothing;
  }
  // Of the statement that began last. Requires: one did.
  MomentId check_moment() const { return {count_ - 1}; }
  MomentId moment(const sql::Statement& statement) const {
    return {count_ - (looks_twice(statement) ? 2 : 1)};
  }

 private:
  std::uint32_t count_ = 0;
};

}  // namespace isoscope::audit
