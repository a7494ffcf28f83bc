#pragma once
// What a statement says about the rows that it reads and writes, and where a gate fits into it.
//
// Understood are statements on one table: SELECT with any condition, list, grouping and order;
// UPDATE and DELETE with any condition; INSERT of values; and queries of several tables, with
// joins, sub-queries, WITH and set operations (blocks.h). Everything else that could read elsewhere
// (functions of the user's) is a gap with a reason. What the table is, and
// whether the columns exist, only the catalog knows: versions are looked at later (resolve.h).
//
// A gate is a condition that is always true and writes the statement's snapshot into the server's
// log as a message, once per execution, also if no row is found:
//
//     SELECT v FROM t WHERE id = 1
//     SELECT v FROM t WHERE (SELECT pg_logical_emit_message(…)) IS NOT NULL AND (id = 1)
//
// It is spliced into the text where PostgreSQL's scanner sees the clauses; then the new text is
// parsed again, and must be the old tree with the gate and nothing else. The VALUES of an INSERT
// become the SELECT of the same expressions, under the gate.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "record/appending.h"
#include "record/blocks.h"
#include "record/literals.h"
#include "record/splice.h"
#include "record/statement_text.h"

namespace isoscope::record {

// An integer in a statement: a literal of its text, or a parameter, or (of a text that is its own
// key) a number.
struct IntegerPlace {
  enum class Kind : std::uint8_t { Literal, Parameter, Number } kind = Kind::Number;
  std::size_t index = 0;  // of the literal from 0, of the parameter from 1
  bool is_negative = false;
  std::int64_t number = 0;
};

// It is read from one text and holds of every text of the same key (literals.h): places are those
// of the text that it was read from, and Constants finds them in another.
struct Shape {
  StatementKind kind = StatementKind::Other;
  std::vector<Range> literals = {};  // of the text that it was read from
  bool is_exact = false;             // holds of no other text
  std::string gap = {};              // why it is not understood; empty if it is
  bool reads_tables = true;          // false: SELECT 1, or the catalog only
  // A query of several tables or blocks; then the members below say nothing, but for the gate.
  bool is_query = false;
  std::vector<Block> blocks = {};
  std::set<std::pair<std::string, std::string>> block_columns = {};  // as Blocks has them
  std::set<std::string> whole_aliases = {};
  std::string schema = {};  // empty if the statement does not name one
  std::string table = {};
  std::string alias = {};  // by which the condition calls the table
  Range condition = {};    // the text after WHERE; empty if there is none
  std::set<std::string> condition_columns = {};
  std::set<std::string> used_columns = {};  // in the list, grouping, order; in SET and RETURNING
  bool uses_all_columns = false;
  std::set<std::string> set_columns = {};  // of UPDATE, and of ON CONFLICT DO UPDATE
  // Of INSERT … ON CONFLICT: what happens to the row that is there.
  enum class Conflict : std::uint8_t { Fails, IsIgnored, IsUpdated } conflict = Conflict::Fails;
  std::vector<std::string> insert_columns = {};  // as the statement names them; empty: all
  Range values = {};                             // of INSERT … VALUES of one row: what it inserts
  std::set<std::string> output_names = {};       // that ORDER BY and GROUP BY may mean
  std::set<std::string> equated_columns = {};    // if the condition is col = value AND …: these
  std::map<std::string, IntegerPlace> equated_integers = {};  // of them, those that are integers
  std::set<std::string> functions = {};                       // that are called anywhere
  std::set<std::string> condition_functions = {};
  Implied implied = {};                    // what else may call a function
  bool locks_rows = false;                 // FOR UPDATE, …, FOR KEY SHARE
  bool is_key_share = false;               // only FOR KEY SHARE
  bool is_share = false;                   // at most FOR SHARE
  bool is_cursor = false;                  // DECLARE: its gate runs later
  bool counts_rows = true;                 // the command tag counts the rows that matched
  std::optional<IntegerPlace> limit = {};  // LIMIT n
  std::vector<Splice> gate = {};           // empty: it cannot be gated
  Appending appending = {};                // in a recording that appends; else empty
};

// Requires: `statement` is one statement of kind Select, Insert, Update or Delete.
Shape shape_of(std::string_view statement, StatementKind kind);

// The constants of a statement that has a shape. Both outlive it.
class Constants {
 public:
  Constants(const Shape& shape, std::string_view statement);

  std::string_view text(Range range) const;
  // Of a literal or a number; nothing of a parameter.
  std::optional<std::int64_t> integer(const IntegerPlace& place) const;
  std::size_t place(std::size_t place) const { return moved(place, shape_.literals, literals_); }

 private:
  const Shape& shape_;
  std::string_view statement_;
  std::vector<Range> literals_;
};

// What a gate tells beside the snapshot. Where the other gates of a transaction have told its id
// and its level, the snapshot is enough, and costs the server less.
enum class GateKind : std::uint8_t {
  Snapshot,
  Transaction,  // and the transaction's id, if it has one, and its level
  OwnId,        // and its id, which it takes if it has none, and its level
};

// What the messages of gates begin with in the server's log.
inline constexpr std::string_view kGatePrefix = "isoscope";
// The condition, for the gate of that number.
std::string gate_condition(std::uint64_t number, GateKind kind);
// What stands for the gate's condition in Shape::gate.
inline constexpr std::string_view kGateMark = "\x01";
// The text of a splice, with the gate of that number; and the whole statement with it.
std::string inserted(const Splice& splice, std::uint64_t number, GateKind kind);
std::string gated(std::string_view statement, const Shape& shape, std::uint64_t number,
                  GateKind kind);

}  // namespace isoscope::record
