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

#include "record/blocks.h"
#include "record/statement_text.h"

namespace isoscope::record {

// Replaces `removed` bytes of a text at `at`.
struct Splice {
  std::size_t at = 0;
  std::size_t removed = 0;
  std::string inserted = {};
};

struct Shape {
  StatementKind kind = StatementKind::Other;
  std::string gap = {};      // why it is not understood; empty if it is
  bool reads_tables = true;  // false: SELECT 1, or the catalog only
  // A query of several tables or blocks; then the members below say nothing, but for the gate.
  bool is_query = false;
  std::vector<Block> blocks = {};
  std::set<std::pair<std::string, std::string>> block_columns = {};  // as Blocks has them
  std::set<std::string> whole_aliases = {};
  std::string schema = {};  // empty if the statement does not name one
  std::string table = {};
  std::string alias = {};      // by which the condition calls the table
  std::string condition = {};  // the text after WHERE; empty if there is none
  std::set<std::string> condition_columns = {};
  std::set<std::string> used_columns = {};  // in the list, grouping, order; in SET and RETURNING
  bool uses_all_columns = false;
  // Of INSERT … ON CONFLICT: what happens to the row that is there.
  enum class Conflict : std::uint8_t { Fails, IsIgnored, IsUpdated } conflict = Conflict::Fails;
  std::vector<std::string> insert_columns = {};  // as the statement names them; empty: all
  std::string values = {};                       // of INSERT … VALUES of one row: what it inserts
  std::set<std::string> output_names = {};       // that ORDER BY and GROUP BY may mean
  std::set<std::string> equated_columns = {};    // if the condition is col = value AND …: these
  // Of them, those that are integers: the number, or $n.
  std::map<std::string, std::string> equated_integers = {};
  std::set<std::string> functions = {};  // that are called anywhere
  std::set<std::string> condition_functions = {};
  bool locks_rows = false;                 // FOR UPDATE, …, FOR KEY SHARE
  bool is_key_share = false;               // only FOR KEY SHARE
  bool is_share = false;                   // at most FOR SHARE
  bool is_cursor = false;                  // DECLARE: its gate runs later
  bool counts_rows = true;                 // the command tag counts the rows that matched
  std::optional<std::int64_t> limit = {};  // LIMIT n
  std::vector<Splice> gate = {};           // empty: it cannot be gated
};

// Requires: `statement` is one statement of kind Select, Insert, Update or Delete.
Shape shape_of(std::string_view statement, StatementKind kind);

// The condition, for the gate of that number. A statement that writes takes its transaction's id.
std::string gate_condition(std::uint64_t number, bool writes);
// What stands for the gate's condition in Shape::gate.
inline constexpr std::string_view kGateMark = "\x01";
// The text of a splice, with the gate of that number; and the whole statement with it.
std::string inserted(const Splice& splice, const Shape& shape, std::uint64_t number);
std::string gated(std::string_view statement, const Shape& shape, std::uint64_t number);

}  // namespace isoscope::record
