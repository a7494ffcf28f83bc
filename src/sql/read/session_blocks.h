#pragma once
// SQL that stands in blocks of a file of another kind, such as a specification of isolationtester:
// a schema, and sessions of statements.
//
//     setup   { CREATE TABLE t (…); INSERT INTO t VALUES (1, 0); }
//     session s1
//     setup   { BEGIN ISOLATION LEVEL REPEATABLE READ; }
//     step r1 { SELECT v FROM t WHERE id = 1; }
//     step c1 { COMMIT; }
//
// Each transaction of a session becomes a Function without parameters, and the session calls them
// in turn. Outside of BEGIN … COMMIT a block is a transaction, as the server has it with several
// statements in one message. Places are those of the file.
#include <string>
#include <string_view>
#include <vector>

#include "sql/application.h"

namespace isoscope::sql {

struct SqlBlock {  // bytes [begin, end) of the text
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct BlockSession {
  std::string name;
  std::vector<SqlBlock> blocks = {};  // in the order in which they are sent
};

struct BlockFile {
  std::vector<SqlBlock> schema = {};
  std::vector<BlockSession> sessions = {};
};

// The blocks alone, at their places; each ends with a semicolon.
std::string text_of_blocks(std::string_view text, const BlockFile& file);

// What cannot be read at all, or is no transaction that commits, is an Error; transactions that
// cannot be modelled are left out, as functions are (Application::problems), with their sessions.
Result<Application> parse_session_blocks(std::string_view text, const BlockFile& file,
                                         Budget* budget = nullptr);

}  // namespace isoscope::sql
