#pragma once
// The tables that a query with joins, sub-queries, WITH or set operations looks at, block by block.
//
//     SELECT o.id FROM orders o JOIN customer c ON c.id = o.customer
//     WHERE c.name = $1 AND EXISTS (SELECT 1 FROM item i WHERE i.orders = o.id)
//
// has two blocks: orders and customer, joined under the first condition; and item, under its own,
// beside the outer one, which it mentions. Which versions of a table's rows can matter to a block
// is asked of the server: FROM and WHERE of the block are evaluated over all versions of all its
// tables side by side. A row of whose versions none ever finds a partner has nothing to do with the
// answer. Conditions that contain sub-queries are left out there: their tables are blocks of their
// own. With an outer join every row can matter: that it has no partner is an answer too, and over
// all versions it may seem to have one.
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/read/tree.h"

namespace isoscope::record {

struct BlockTable {
  std::string schema;
  std::string name;
  std::string alias;
  std::size_t begin = 0;  // of its name within Block::from
  std::size_t end = 0;
  bool has_alias = false;    // in the text
  bool is_nullable = false;  // of an outer join: WHERE does not choose its rows
};

struct Block {
  std::size_t parent = static_cast<std::size_t>(-1);  // the block around it
  std::string from;                                   // text after FROM
  std::string where;                                  // conditions without sub-queries
  bool is_whole = true;                               // `where` is all of WHERE
  bool is_answer =
      false;  // its rows are the answer: the query itself, or an arm of a set operation
  bool has_outer_join = false;
  std::vector<BlockTable> tables;
};

// What may call a function although no call is to be seen.
struct Implied {
  std::set<std::string> operators = {};  // by name, without a schema
  std::set<std::string> types = {};      // that something is cast to
  std::set<std::string> catalog = {};    // tables without a schema that look like the server's own
};

struct Blocks {
  std::string gap;  // why it is not understood; empty if it is
  std::vector<Block> blocks;
  std::set<std::pair<std::string, std::string>> columns;  // alias, or empty, and column
  std::set<std::string> whole;                            // aliases with *; empty: all of them
  std::set<std::string> functions;
};

// Adds what a part of the tree that has this name and content may call.
void add_implied(const std::string& name, const sql::Tree& part, Implied& implied);
// Is it a field of a record, (t).f? That may be a function of the row.
bool is_field_of_record(const std::string& name, const sql::Tree& part);

// `query`: the text of a SELECT.
Blocks blocks_of(std::string_view query);

}  // namespace isoscope::record
