#pragma once
// The tables and types that a program declares, by name.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sql/findings.h"
#include "sql/schema.h"
#include "sql/source_text.h"
#include "sql/tree.h"

namespace isoscope::sql {

// What the name of a type stands for.
struct DeclaredType {
  Type type = Type::Integer;
  bool is_array = false;
  bool is_fresh = false;  // serial
  bool is_void = false;
  bool is_record = false;  // `record`, or the rows of a table: `row_of`
  bool is_trigger = false;
  std::optional<TableId> row_of = {};
};

struct Catalog {
  std::vector<Table> tables;
  std::map<std::string, DeclaredType> types;  // enums and domains
  std::set<std::string> functions;            // all that the program declares
  // Tables whose deleted or changed rows change others: ON DELETE CASCADE and the like.
  std::set<TableId> cascading;
  // Expressions that stand in the program more often than in the text; see repeats().
  std::size_t num_repeated = 0;

  std::optional<TableId> find_table(std::string_view name) const;
  const Table& table(TableId id) const { return tables[id.index]; }
  // The table of that name; fails with a suggestion if there is none.
  std::optional<TableId> expect_table(const std::string& name, Place where,
                                      Findings& findings) const;
  // The meaning of a TypeName. A type that is only roughly modelled gets a note.
  DeclaredType type_of(const Tree& type_name, const Locator& where, Findings& findings) const;
  // The meaning of the text of a type: "integer[]", "account.balance%TYPE", "account%ROWTYPE".
  DeclaredType type_of(std::string text, Place where, Findings& findings) const;
};

std::optional<std::uint32_t> find_column(const Table& table, std::string_view name);
// "did you mean …?" for a column of the table.
std::string suggest_column(const Table& table, std::string_view name);
// "an integer", "a text", "a boolean".
std::string_view a_type(Type type);

}  // namespace isoscope::sql
