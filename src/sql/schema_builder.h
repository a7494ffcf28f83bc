#pragma once
// CREATE TABLE, ALTER TABLE, CREATE UNIQUE INDEX and CREATE TYPE as entries of the catalog.
//
// Constraints may name tables that come later, so they are collected and resolved at the end.
#include <string>
#include <vector>

#include "sql/catalog.h"
#include "sql/findings.h"
#include "sql/source_text.h"

namespace isoscope::sql {

class SchemaBuilder {
 public:
  SchemaBuilder(Catalog& catalog, Findings& findings, const Locator& where)
      : catalog_(catalog), findings_(findings), where_(where) {}

  // Takes the statement if it is about tables or types. One that might matter and is ignored gets
  // a note.
  void add(const std::string& kind, const Tree& node, Place place);
  // Resolves the constraints, and gives a key to tables that have none.
  void finish();

 private:
  struct Pending {
    TableId table;
    const Tree* constraint;
    std::string column;  // of a constraint that stands at a column
  };

  bool takes_away(const Tree& drop) const;
  void add_table(const Tree& node);
  void add_column(TableId id, const Tree& definition);
  void alter_table(const Tree& node, Place place);
  void add_unique_index(const Tree& node, Place place);
  void resolve(const Pending& pending);
  void resolve_foreign_key(const Pending& pending, Place place);
  std::vector<std::uint32_t> columns_of(TableId id, const Tree& names, Place place);
  Place place(const Tree& node) const { return where_.place(number_of(node, "location")); }

  Catalog& catalog_;
  Findings& findings_;
  Locator where_;
  std::vector<Pending> pending_;
};

}  // namespace isoscope::sql
