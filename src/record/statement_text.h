#pragma once
// The statements of a text that a client sends: where each begins and ends, and what it does to the
// transaction it stands in. PostgreSQL's own parser (libpg_query) decides.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record/isolation.h"

namespace isoscope::record {

enum class StatementKind : std::uint8_t {
  Begin,
  Commit,    // also END
  Rollback,  // of the whole transaction; also ABORT
  Savepoint,
  Release,
  RollbackTo,      // to a savepoint
  TwoPhase,        // PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED
  SetTransaction,  // the level of this transaction
  SetSession,      // the level of the transactions to come
  Call,            // CALL, DO: may end transactions inside
  Select,          // also DECLARE … CURSOR FOR SELECT
  Insert,          // also COPY … FROM
  Update,
  Delete,
  Setting,  // SET, SHOW, LISTEN, …: neither reads nor writes tables
  Rows,   // reads or writes rows in a way that is not understood: COPY … TO, EXECUTE, MERGE, …
  Other,  // may change what a table is
};

struct StatementText {
  StatementKind kind = StatementKind::Other;
  std::string_view text = {};  // in the text that was split, without blanks around it
  Isolation isolation = {};    // that it sets; not told if it sets none
  bool chains = false;         // COMMIT AND CHAIN, ROLLBACK AND CHAIN
};

// A text that does not parse is one statement of kind Other: the server will refuse it, or knows
// more than our parser. `text` outlives the result. An empty text has no statement.
std::vector<StatementText> split_statements(std::string_view text);

// Does it stand for itself in a recorded run? The others only delimit transactions.
constexpr bool is_recorded(StatementKind kind) {
  return kind != StatementKind::Begin && kind != StatementKind::Commit &&
         kind != StatementKind::Rollback;
}

}  // namespace isoscope::record
