// Guards in words.
#include "races/pair.h"

namespace isoscope::races {

bool is_about_rows(Guard guard) {
  return guard == Guard::FurtherRows || guard == Guard::FewerRows || guard == Guard::OtherWay;
}

std::string guard_text(Guard guard, const std::string& shape, bool both_lock) {
  switch (guard) {
    case Guard::LockedRead:
      return "a lock that the other took while reading makes it wait: " + shape;
    case Guard::LockedWrite:
      return "it waits for the other's end and takes the row as it is then: " + shape;
    case Guard::Condition:
      return "its WHERE no longer matches what the other has left, if the application looks at the "
             "number of rows: " +
             shape;
    case Guard::UniqueKey: return "a unique key refuses the second row (23505): " + shape;
    case Guard::ForeignKey:
      return "a foreign key refuses it before the other has committed (23503): " + shape;
    case Guard::FirstUpdater: return "the first updater wins (40001): " + shape;
    case Guard::Serializable: return "SERIALIZABLE ends one of the two (40001)";
    case Guard::Deadlock: return "a deadlock ends one of the two (40P01): " + shape;
    case Guard::FurtherRows:
      return "its WHERE would match rows that it did not match in the recording: " + shape;
    case Guard::FewerRows:
      return "its WHERE would not match rows that it matched in the recording, which does not have "
             "what the application does then: " +
             shape;
    case Guard::OtherWay:
      return "its key would be there where it was not in the recording, or the reverse: " + shape;
    case Guard::OtherAnswer:
      return "it would read something else than in the recording, which does not have what the "
             "application does then: " +
             shape;
    case Guard::CoarseRead: return "it may depend on what the other changes, or not: " + shape;
    case Guard::OtherLocks:
      return both_lock
                 ? "both take advisory locks or locks of tables, which the recording does not "
                   "follow"
                 : "one of them locks a table, which the recording does not follow";
    case Guard::Caught:
      return "it would fail behind a SAVEPOINT, to which the application may go back and go on: " +
             shape;
  }
  return shape;
}

}  // namespace isoscope::races
