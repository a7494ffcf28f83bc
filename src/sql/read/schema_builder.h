#pragma once
// CREATE TABLE, ALTER TABLE, CREATE UNIQUE INDEX, CREATE TYPE, VIEW and TRIGGER as entries of the
// catalog, in the order of the file: what a later statement drops or renames is so in the end.
//
// Constraints may name tables that come later, so they are collected, and resolved at the end or
// before names change.
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sql/read/catalog.h"
#include "sql/read/findings.h"
#include "sql/read/source_text.h"

namespace isoscope::sql {

// Adds the names of columns in an expression, a list of names or an index.
void add_names(const Tree& tree, std::vector<std::string>& names);

class SchemaBuilder {
 public:
  SchemaBuilder(Catalog& catalog, Findings& findings, const Locator& where)
      : catalog_(catalog), findings_(findings), where_(where) {}

  // Takes the statement if it is about tables or types. One that might matter and is ignored gets
  // a note.
  void add(const std::string& kind, const Tree& node, Place place);
  // The rows of an INSERT outside of functions are there from now on.
  void note_rows(const Tree& insert, Place place);
  // Resolves the constraints, and gives a key to tables that have none.
  void finish();

 private:
  struct Pending {
    TableId table;
    const Tree* constraint;
    std::string column;  // of a constraint that stands at a column
  };

  // What becomes of things later: schema_changes.cpp.
  void alter_column(TableId id, const std::string& kind, const Tree& command, Place place);
  void drop(const Tree& node, Place place);
  void drop_table(const std::string& name);
  void drop_column(TableId id, const std::string& name, Place place);
  void drop_constraint(TableId id, const std::string& name, Place place);
  bool drop_exclusion(const std::string& name);  // is there one?
  void rename(const Tree& node, Place place);
  void refuse_views_of(const std::string& table, bool of_stars);
  void add_view(const Tree& node);
  void add_trigger(const Tree& node, Place place);
  void add_sequence(const Tree& node, bool is_new, Place place);
  void note_taken_sequence(const Column& column);
  void like_table(TableId id, const Tree& clause, Place place);
  // Constraints: constraint_builder.cpp.
  void resolve_pending();
  void set_default(TableId id, ColumnId column, const Tree& expr, Place place);
  // Of one that a sequence fills: the values are those of the sequence.
  void keep_whole(Column& column);
  // An expression of the schema; nothing, and a note, if it cannot be modelled.
  std::optional<Expr> expression(const Tree& node, TableId table, Type type, bool has_columns,
                                 std::string_view what, Place place, const Width& width = {});
  void remember(TableId id, const Tree& constraint, std::string_view suffix,
                const std::vector<ColumnId>& key);
  void drop_unused();
  void ignore_statement(const std::string& kind, const Tree& node, Place place);
  void change_enum(const Tree& node, bool is_new, Place place);
  void add_table(const Tree& node);
  void add_column(TableId id, const Tree& definition);
  void add_domain(const Tree& node, Place place);
  // Those of its type and its default, if that is a domain, and of the domain that it is made of.
  void add_domain_constraints(TableId id, const std::string& domain, Column& column);
  void alter_table(const Tree& node, Place place);
  void note_partitions(const Tree& node, Place place);
  // Rows that find no partition: partition_rules.cpp.
  void add_partitioned(TableId id, const Tree& node);
  void add_partition(const std::string& whole, const std::string& name, const Tree& bound);
  void drop_partition(const std::string& name);
  void add_partition_rules();
  void add_index(const Tree& node, Place place);
  void add_unique_index(const Tree& node, const std::string& name, Place place);
  // The name that the server gives an index without one.
  std::string index_name(const Tree& node) const;
  void drop_index(const std::string& name, bool is_optional, Place place);
  void rename_index(const std::string& name, const std::string& to);
  void resolve(const Pending& pending);
  // EXCLUDE, and UNIQUE indexes that are not plain keys: exclusion_builder.cpp.
  void add_exclusion(TableId id, const Tree& constraint, Place place);
  void add_strange_index(TableId id, const Tree& node, std::string name, Place place);
  void add_key_with_nulls(TableId id, const std::vector<ColumnId>& key, std::string name,
                          Place place);
  std::optional<ExclusionPart> range_part(TableId id, const Tree& expr, Place place);
  void resolve_foreign_key(const Pending& pending, Place place);
  // A rule of the table that is not modelled, and might refuse what the model lets happen. The tree
  // names the columns that it looks at.
  std::optional<std::vector<ColumnId>> columns_in(TableId id, const Tree& rule) const;
  void ignore_rule(TableId id, Place place, std::string what, const Tree& rule);
  std::vector<ColumnId> columns_of(TableId id, const Tree& names, Place place);
  Place place(const Tree& node) const { return where_.place(number_of(node, "location")); }

  Catalog& catalog_;
  Findings& findings_;
  Locator where_;
  std::vector<Pending> pending_;
  std::set<TableId> dropped_;
  std::map<std::string, std::pair<TableId, std::vector<ColumnId>>> unique_indexes_;
  std::map<std::string, TableId> indexes_;               // all that CREATE INDEX made
  std::set<std::string> tables_with_rows_;               // of INSERTs outside of functions
  std::map<std::string, std::string> sequence_schemas_;  // by name
  struct Domain {
    std::string base;  // a type, or another domain
    const Tree* constraints = nullptr;
  };
  std::map<std::string, Domain> domains_;
  // A partitioned table, or a partition that has partitions itself.
  struct Partitioned {
    TableId root;
    std::string strategy = {};  // as the parser has it
    std::string column = {};    // the key, if that is one column
    Place place = {};
    std::int64_t location = 0;
    bool is_part = false;
    bool is_changed = false;  // some partition was taken away
    std::vector<const Tree*> bounds = {};

    bool has_default() const;
    bool takes_all_hashes() const;
  };
  std::optional<Tree> partition_check(const Partitioned& table) const;
  std::map<std::string, Partitioned> partitioned_;
  std::map<std::string, std::string> partition_of_;  // of a partition the table
  std::deque<Tree> own_trees_;                       // that stand in no text
};

}  // namespace isoscope::sql
