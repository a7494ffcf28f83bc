#pragma once
// Where the server's log cannot be read, statements are asked to tell what the log would: a column
// more, the last of what they show, which the proxy takes away again.
//
//     SELECT v FROM t WHERE id = 1
//     SELECT v, (SELECT snapshot, id, level) AS "isoscope told" FROM t WHERE id = 1
//     UPDATE t SET v = 2 WHERE id = 1
//     UPDATE t SET v = 2 WHERE id = 1 RETURNING snapshot, id, level, place in the log, the row
//
// Of a query it is a sub-query without references, which the server evaluates once: it needs no
// right, groups and aggregates may stand beside it, and the plan below stays as it is. What a query
// read is computed from its snapshot. Of a statement that writes it is the new row (of DELETE, the
// old one). ctid and xmin are not asked for: they would forbid index-only scans, need further
// rights, and say less. UPDATE and DELETE are never rewritten to see the rows that were there.
//
// The new text is parsed again, and must be the old statement with that column and nothing else.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "record/decoded_log.h"
#include "record/splice.h"
#include "record/statement_text.h"

namespace isoscope::record {

// How a statement is made to report.
struct Appending {
  std::vector<Splice> splices = {};  // empty: it is not
  bool returns = false;              // it writes, and tells its rows by RETURNING
  bool is_alone = false;             // the client sees no rows of it at all
  // Of a statement that writes:
  std::string schema = {};  // empty if it names none
  std::string table = {};
  std::set<std::string> set_columns = {};  // of UPDATE, and of ON CONFLICT DO UPDATE
  bool may_update = false;                 // an INSERT that may update the row that is there
};

// Requires: `statement` is one statement of kind Select, Insert, Update or Delete.
Appending find_appending(std::string_view statement, StatementKind kind);

// What stands in a splice for the mark of this recording.
inline constexpr std::string_view kToldMark = "\x02";
// What the column is called.
inline constexpr std::string_view kToldName = "isoscope told";
// The text of a splice with the mark.
std::string with_mark(const Splice& splice, std::string_view mark);

// What a statement reported, for each of its rows. Of a query only the first three.
struct Told {
  Snapshot snapshot = {};
  std::uint64_t xid = 0;  // of its transaction; 0 if it had none yet
  Isolation isolation = {};
  std::string settings = {};            // that decide how values look as text
  std::uint64_t lsn = 0;                // the end of the server's log when the row was written
  std::string table = {};               // its oid
  std::optional<std::string> row = {};  // as the server prints a record; none if it is too long
};
std::optional<Told> parse_told(std::string_view text);
// The fields of "(1,\"a b\",)"; nothing is NULL.
std::optional<std::vector<Cell>> record_fields(std::string_view record);

// A description of columns (T) or a row (D) without the appended column.
struct Stripped {
  std::string payload = {};  // of the message that the client gets
  bool is_empty = false;     // there was no other column
  std::string told = {};     // of a row: what the column says after the mark
};
// Nothing if the column is not there.
std::optional<Stripped> strip_description(std::string_view payload);
std::optional<Stripped> strip_row(std::string_view payload, std::string_view mark);

// The payload of a Bind for a statement that tells: its result formats fit the columns that the
// server has. Nothing if they do already, or the payload is none.
std::optional<std::string> widened_bind(std::string_view payload, const Appending& appending);

}  // namespace isoscope::record
