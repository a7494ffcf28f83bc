#pragma once
// What the server's catalog says about tables and functions: whether what a statement read can be
// computed from the versions of the rows of one table.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "record/sql_connection.h"

namespace isoscope::record {

struct ForeignKey {
  std::string parent;                // "public.parent"
  std::vector<std::size_t> columns;  // of the child, by position
  bool is_primary = false;           // refers to the parent's primary key, in its order
  bool is_deferred = false;          // checked by COMMIT
};

// A table whose foreign key refers to the primary key of another.
struct ChildTable {
  std::string name;                  // "public.child"
  std::vector<std::size_t> columns;  // of the child, in the order of the parent's key
  bool is_primary = false;
  bool is_deferred = false;
};

struct Table {
  std::string schema;
  std::string name;
  std::vector<std::string> columns = {};
  std::set<std::size_t> booleans = {};   // columns of type boolean, by position
  std::set<std::size_t> integers = {};   // columns of an integer type
  bool has_times = false;                // a column of dates, times or intervals
  std::set<std::size_t> generated = {};  // columns that are computed from others
  // Columns of keys whose equal values may be printed in several ways: 1.0 and 1.00.
  std::set<std::size_t> loose = {};
  std::vector<std::size_t> key = {};     // the primary key, by position
  std::set<std::string> key_names = {};  // and by name
  bool is_partitioned = false;
  std::string storage = {};  // the file with its rows; another one if they are rewritten
  // What decides how statements on it are understood, as a text: another one if it was altered.
  std::string definition = {};
  std::string no_reads = {};              // why reads of it are gaps; empty if they are not
  std::string no_writes = {};             // the same for writes
  std::vector<ChildTable> children = {};  // that refer to it
  std::vector<std::vector<std::size_t>> unique_keys = {};  // besides the primary key
  std::vector<ForeignKey> foreign_keys = {};
  bool is_at_home = false;  // in the schema Catalog::home

  std::string full_name() const { return schema + "." + name; }
  // As people call it: without the schema `public`, or that in which clients look first.
  std::string label() const { return schema == "public" || is_at_home ? name : full_name(); }
  // Position of a column, or npos.
  std::size_t column(const std::string& column_name) const;
};

struct Catalog {
  std::map<std::string, Table> tables;            // by full name
  std::map<std::string, std::string> partitions;  // of a partition: the table that it belongs to
  std::set<std::string> user_functions;      // names of functions that are not the server's own
  std::set<std::string> own_functions;       // and of those that are
  std::set<std::string> unstable_functions;  // of the server's own: those that are not immutable
  // Operators and casts that call functions in SQL or PL/pgSQL, which may read inside.
  std::set<std::string> user_operators;
  std::set<std::string> user_casts;  // types
  bool has_implicit_calls = false;   // where no operator and no type is named either

  std::string home = {};  // where clients look for tables first; empty if that is not known

  void settle_in(const std::string& schema);
  // Is there a table of that name in any schema?
  bool has_table(const std::string& name) const;
  // The table that a statement means; null if it is not there, or if two schemas have one and
  // neither is the home.
  const Table* find(const std::string& schema, const std::string& name) const;
};

Result<Catalog> read_catalog(SqlConnection& sql);

}  // namespace isoscope::record
