#include "sql/read/frame.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoscope::sql {

std::optional<VarId> NamedVariable::field(std::string_view field_name) const {
  for (const FieldVariable& field : fields) {
    if (!field.is_hidden && field.name == field_name) return field.var;
  }
  return std::nullopt;
}

VarId Frame::add(std::string name, Type type, bool is_array, Place place) {
  function_.variables.push_back(
      {.name = std::move(name), .type = type, .is_array = is_array, .place = place});
  return VarId{static_cast<std::uint32_t>(function_.variables.size() - 1)};
}

VarId Frame::add_untyped(std::string name, Place place) {
  const VarId var = add(std::move(name), Type::Integer, false, place);
  untyped_.insert(var);
  return var;
}

void Frame::set_type(VarId var, Type type, bool is_array, std::uint8_t bits) {
  function_.variables[var.index].type = type;
  function_.variables[var.index].is_array = is_array;
  if (type == Type::Integer) function_.variables[var.index].width.bits = bits;
  untyped_.erase(var);
}

VarId Frame::add_hidden(std::string_view purpose, Type type, bool is_array, Place place,
                        std::uint8_t bits) {
  const VarId var = add(fmt::format("({} {})", purpose, ++num_hidden_), type, is_array, place);
  function_.variables[var.index].is_hidden = true;
  function_.variables[var.index].width.bits = bits;
  return var;
}

std::size_t Frame::add_named(const std::string& name, const DeclaredType& type,
                             const Catalog& catalog, Place place) {
  NamedVariable variable{.name = name, .is_record = type.is_record};
  if (!type.is_record) {
    variable.var = add(name, type.type, type.is_array, place);
    Width& width = function_.variables[variable.var.index].width;
    if (!type.is_array) width = type.width;
    width.bits = type.width.bits;
  } else if (type.row_of) {
    variable.is_row = true;
    for (const Column& column : catalog.table(*type.row_of).columns) {
      const std::string shown = column.is_hidden ? fmt::format("({})", column.name) : column.name;
      const VarId var = add(fmt::format("{}.{}", name, shown), column.type, false, place);
      function_.variables[var.index].width = column.width;
      variable.fields.push_back({.name = column.name, .var = var, .is_hidden = column.is_hidden});
    }
  }
  named_.push_back(std::move(variable));
  return named_.size() - 1;
}

void Frame::declare_alias(std::string name, std::size_t number) {
  NamedVariable alias = named_[number];
  alias.name = std::move(name);
  named_.push_back(std::move(alias));
  declare(named_.size() - 1);
}

VarId Frame::field(std::size_t record, const std::string& name, Type type, bool is_array,
                   Place place, std::uint8_t bits) {
  // What stands in a loop is read again after later rows, which may have more digits.
  if (type == Type::Numeric) bits = kAnyScale;
  if (const auto known = named_[record].field(name)) {
    std::uint8_t& held = function_.variables[known->index].width.bits;
    held = std::max(held, bits);
    return *known;
  }
  const VarId var = add(named_[record].name + "." + name, type, is_array, place);
  function_.variables[var.index].width.bits = bits;
  named_[record].fields.push_back({.name = name, .var = var});
  return var;
}

std::size_t Frame::add_name(std::string name, VarId var) {
  named_.push_back({.name = std::move(name), .var = var});
  return named_.size() - 1;
}

std::optional<std::size_t> Frame::find_number(std::string_view name) const {
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    for (auto number = block->names.rbegin(); number != block->names.rend(); ++number) {
      if (named_[*number].name == name) return *number;
    }
  }
  return std::nullopt;
}

const NamedVariable* Frame::find(std::string_view name) const {
  const auto number = find_number(name);
  return number ? &named_[*number] : nullptr;
}

std::optional<std::size_t> Frame::find_number(std::string_view label, std::string_view name) const {
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    if (block->label != label) continue;
    for (const std::size_t number : block->names) {
      if (named_[number].name == name) return number;
    }
  }
  return std::nullopt;
}

const NamedVariable* Frame::find(std::string_view label, std::string_view name) const {
  const auto number = find_number(label, name);
  return number ? &named_[*number] : nullptr;
}

bool Frame::is_label(std::string_view name) const {
  for (const Block& block : blocks_) {
    if (block.label == name) return true;
  }
  return false;
}

std::vector<std::string_view> Frame::known_names() const {
  std::vector<std::string_view> names;
  for (const Block& block : blocks_) {
    for (const std::size_t number : block.names) names.push_back(named_[number].name);
  }
  return names;
}

}  // namespace isoscope::sql
