#pragma once
// The variables of a function while its body is translated: which name means which, where.
//
// A name means the variable of the innermost block that declares it; `label.name` the one of the
// block with that label, where the function's own name is the label of its parameters. A record is
// a family of hidden variables "r.f", one a field; those of a `record` become known with the
// queries that fill it.
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/application.h"
#include "sql/read/catalog.h"

namespace isoscope::sql {

struct FieldVariable {
  std::string name;
  VarId var = VarId::none();
  bool is_hidden = false;  // of a hidden column: no program can name it
};

struct NamedVariable {
  std::string name;
  VarId var = VarId::none();  // none for records
  bool is_record = false;
  bool is_row = false;      // the fields are those of a table, its hidden columns among them
  bool is_tested = false;   // as a whole, by IS NULL
  bool is_message = false;  // SQLERRM: what the server says of the error, NULL if that is not known
  std::vector<FieldVariable> fields = {};

  std::optional<VarId> field(std::string_view field_name) const;
};

class Frame {
 public:
  explicit Frame(Function& function) : function_(function) {}

  const Variable& variable(VarId var) const { return function_.variables[var.index]; }
  Function& function() { return function_; }

  // A variable that has a number but no name that the program can use yet.
  VarId add(std::string name, Type type, bool is_array, Place place);
  // One that no program can name; `purpose` is for people.
  VarId add_hidden(std::string_view purpose, Type type, bool is_array, Place place,
                   std::uint8_t bits = 64);
  // A variable or record of that type; its number among the named ones.
  std::size_t add_named(const std::string& name, const DeclaredType& type, const Catalog& catalog,
                        Place place);
  NamedVariable& named(std::size_t number) { return named_[number]; }
  // Another name for a named variable, known from now on.
  void declare_alias(std::string name, std::size_t number);
  // The variable of a record's field, made if it is new; it holds what all queries fill it with.
  VarId field(std::size_t record, const std::string& name, Type type, bool is_array, Place place,
              std::uint8_t bits);

  void open_block(std::string label) { blocks_.push_back({std::move(label), {}}); }
  void close_block() { blocks_.pop_back(); }
  // The name is known from now on to the end of the block.
  void declare(std::size_t number) { blocks_.back().names.push_back(number); }

  // A name that only its number leads to: a field of a record that is a target.
  std::size_t add_name(std::string name, VarId var);
  const NamedVariable* find(std::string_view name) const;
  std::optional<std::size_t> find_number(std::string_view name) const;
  std::optional<std::size_t> find_number(std::string_view label, std::string_view name) const;
  const NamedVariable* find(std::string_view label, std::string_view name) const;
  bool is_label(std::string_view name) const;
  std::vector<std::string_view> known_names() const;

  // A parameter without a declared type: it gets one where it is used first.
  bool is_untyped(VarId var) const { return untyped_.contains(var); }
  VarId add_untyped(std::string name, Place place);
  void set_type(VarId var, Type type, bool is_array, std::uint8_t bits);

  std::size_t num_calls = 0;  // of functions of the program that were copied
  // Loops around over rows of a statement that writes: the server lets no transaction end there.
  std::size_t num_writing_loops = 0;
  // $1, $2, …
  std::vector<std::size_t> positional = {};

 private:
  struct Block {
    std::string label;
    std::vector<std::size_t> names;
  };

  Function& function_;
  std::vector<NamedVariable> named_;
  std::vector<Block> blocks_;
  int num_hidden_ = 0;
  std::set<VarId> untyped_;
};

}  // namespace isoscope::sql
