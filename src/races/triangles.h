#pragma once
// Could three or more transactions of a run close a cycle that no two of them can?
//
// In a run on PostgreSQL, who writes or reads after another's write commits after it (or, if it
// only reads and by one snapshot, reads after it). So in a cycle of dependencies at least one edge
// goes against that order: T reads what U overwrites, and U is first. T must have read without
// holding the row, or U would have waited. Such an edge T -> U is *vulnerable* here:
//
//     READ COMMITTED    T reads, by a statement that does not lock the row, what U writes, and no
//                       earlier statement of T locks the row; and T writes or has several
//                       statements
//     REPEATABLE READ   the same, whether T writes or not, and T and U write no common row (the
//                       first updater wins); and a cycle has two of them in a row
//                       [Fekete-TODS'05]; the first may start at a transaction that only reads
//     SERIALIZABLE      none
//
// A cycle of three or more leads back from U to T by others, so T and U are in one component of the
// graph of transactions that meet after its bridges are taken away. No such edge: no such cycle.
// What is found this way need not be a cycle: the answer is "perhaps".
//
// Cost     Linear in reads and writes: of a key with two writers only the edges to these two are
// kept,
//          which leaves the components as they are.
#include "races/pair.h"

namespace isoscope::races {

bool may_have_longer_cycle(const Run& run, PgLevel level);

}  // namespace isoscope::races
