#pragma once
// The tables and types that a program declares, by name.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sql/read/findings.h"
#include "sql/read/sequences.h"
#include "sql/read/source_text.h"
#include "sql/read/tree.h"
#include "sql/schema.h"

namespace isoscope::sql {

// What the name of a type stands for.
struct DeclaredType {
  Type type = Type::Integer;
  Width width = {};
  bool is_array = false;
  bool is_fresh = false;  // serial
  bool is_void = false;
  bool is_record = false;  // `record`, or the rows of a table: `row_of`
  bool is_trigger = false;
  std::optional<TableId> row_of = {};

  // As a parameter or a result: the server forgets numeric's (p, s) there.
  void forget_scale() {
    if (type == Type::Numeric) width = {};
  }
};

// CREATE VIEW: the query that its name stands for.
struct View {
  const Tree* select = nullptr;
  std::vector<std::string> names;  // of its columns, if they are given
  Locator where;
  std::string refusal = {};   // why changes of it are not modelled
  std::string old_name = {};  // of a table of it that was renamed or changed later

  // Fails where the view does not read what its text says now.
  void check(const std::string& name, Place place, Findings& findings) const {
    if (!old_name.empty())
      findings.fail(place,
                    fmt::format("view '{}' was made before '{}' was changed", name, old_name),
                    "make it anew behind the change");
  }
};

// CREATE FUNCTION, as it stands in the file.
struct FunctionText {
  const Tree* node = nullptr;
  std::string_view text;
  std::uint32_t begin = 0;
  const SourceFile* file = nullptr;
};

// CREATE TRIGGER.
struct Trigger {
  std::string name;
  TableId table;
  bool is_before = false;
  bool on_insert = false;
  bool on_update = false;
  bool on_delete = false;
  std::vector<ColumnId> columns;  // UPDATE OF; empty for any
  std::string function;
  const Tree* when = nullptr;
  std::string refusal;  // why it cannot be modelled; then no statement that fires it can
  Locator where;
  Place place;
  bool is_statement = false;  // FOR EACH STATEMENT: once, even if no row was changed
  bool is_reference = false;  // what a foreign key does by itself (cascades.h)
};

// SQL that the server runs by itself, and its parts; it stands at one place of the file.
struct WrittenText {
  std::string text;
  Tree tree = {};
  SourceFile file;
};

// A function that others call or that a trigger fires, built once: by its text, the table and the
// statement that fire it.
struct BuiltKey {
  const Tree* node = nullptr;
  std::optional<TableId> table = {};  // none for one that is called
  std::optional<WriteOp> op = {};     // likewise
  friend auto operator<=>(const BuiltKey&, const BuiltKey&) = default;
};
struct BuiltFunction {
  bool is_done = false;
  std::shared_ptr<const Function> function;
  std::vector<Note> notes;
  Error why_not;
};

struct Catalog {
  std::vector<Table> tables;
  std::map<std::string, DeclaredType> types;                   // enums and domains
  std::map<std::string, std::vector<FunctionText>> functions;  // all that the program declares
  std::map<std::string, View> views;
  std::vector<Trigger> triggers;
  std::map<BuiltKey, BuiltFunction> built;
  std::vector<std::unique_ptr<const WrittenText>> written;
  std::vector<Sequence> sequences = {};
  SequenceUses sequence_uses = {};
  // Expressions that stand in the program more often than in the text; see repeats().
  std::size_t num_repeated = 0;
  // Was a type of moments (timestamp, date, …) named? Their values are whole numbers here.
  mutable bool has_moments = false;

  std::optional<TableId> find_table(std::string_view name) const;
  const View* find_view(const std::string& name) const {
    const auto found = views.find(name);
    return found == views.end() ? nullptr : &found->second;
  }
  const Table& table(TableId id) const { return tables[id.index]; }
  // The table of that name; fails with a suggestion if there is none.
  std::optional<TableId> expect_table(const std::string& name, Place where,
                                      Findings& findings) const;
  // The meaning of a TypeName. A type that is only roughly modelled gets a note.
  DeclaredType type_of(const Tree& type_name, const Locator& where, Findings& findings) const;
  // The meaning of the text of a type: "integer[]", "account.balance%TYPE", "account%ROWTYPE".
  DeclaredType type_of(std::string text, Place where, Findings& findings) const;
};

std::optional<ColumnId> find_column(const Table& table, std::string_view name);
// "did you mean …?" for a column of the table.
std::string suggest_column(const Table& table, std::string_view name);
// timestamp, date, float and similar types, whose values are treated as whole numbers.
bool is_rough_number(std::string_view name);
// "an integer", "a numeric", "a text", "a boolean".
std::string_view a_type(Type type);

}  // namespace isoscope::sql
