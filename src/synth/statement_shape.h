#pragma once
// What histories say of statements and locks, where a level can tell (--statements).
//
// Each shape allows less than the one before. What an aborted transaction writes is a lock and
// nothing else, so that it goes with the locks. Searches (synth/facts.h) leave out rows of several
// keys, KEY SHARE and deletes in all of them; proofs do not.
#include <cstdint>

namespace isoscope {

enum class StatementShape : std::uint8_t {
  Any,
  NoInserts,
  NoLocks,  // and no inserts; nor do aborted transactions write; each key is a row of its own
  Single,   // as NoLocks, and each operation is a statement of its own
};

}  // namespace isoscope
