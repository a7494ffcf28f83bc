#pragma once
// Knows where a recording may append (appending.h), and what the server counts beside it.
//
// RETURNING needs the right to read the columns that it names, which who may write need not have;
// and rules, row security and views give it a meaning of its own. So it is appended only where the
// catalog says that the client's role may read the whole table, and never on a connection that
// changes its role. A query is never refused what is appended to it.
//
// The server counts the rows that are inserted, updated and deleted in each table, whoever does it:
// triggers, cascades, functions, other connections. When the recording has ended, what its
// statements told must be as many; otherwise the rows of that table are not known.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "record/shape.h"
#include "record/sql_connection.h"
#include "record/tables.h"
#include "support/result.h"

namespace isoscope::record {

// What the server knows of a table, or of a partition.
struct TableState {
  std::string name;            // "public.t"
  std::uint64_t writes = 0;    // rows that were ever inserted, updated or deleted
  std::string file;            // another one after TRUNCATE and whatever writes the table anew
  bool looks_the_same = true;  // its values are printed in the same way whatever the settings are
  std::string money;           // our own setting lc_monetary
};
using TableStates = std::map<std::string, TableState>;  // by oid

class Appender {
 public:
  // An Error says why the server does not tell enough.
  static Result<Appender> open(SqlConnection& sql);
  // The same without a server. `readable`: roles, and full names of the tables that they may read.
  using Readable = std::set<std::pair<std::string, std::string>>;
  static Appender of_parts(std::string mark, Catalog catalog, Readable readable, TableStates start);

  // What the column begins with: only the server knows it.
  const std::string& mark() const { return mark_; }
  // May this statement of a client who logged in as `user` tell? `has_own_role`: it is another one
  // now, perhaps.
  bool may_append(const Appending& appending, const std::string& user, bool has_own_role) const;
  // A statement is sent: what it may change about rights and tables.
  void saw(const StatementText& statement);
  // May this statement change the role of its connection?
  static bool may_change_role(const StatementText& statement);

  const TableStates& start() const { return start_; }
  // The same counters now.
  static Result<TableStates> states(SqlConnection& sql);

 private:
  Appender() = default;

  std::string mark_;
  Catalog catalog_;
  Readable readable_;
  std::set<std::string> closed_;  // tables that may have changed
  bool is_closed_ = false;
  TableStates start_;
};

}  // namespace isoscope::record
