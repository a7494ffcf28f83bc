#pragma once
// The trees that libpg_query hands us, and how to look at them.
//
// A tree is JSON in the manner of protobuf: a node is an object with one member, whose name is
// the kind of the node; what is zero, empty or false is left out. The functions below therefore
// give an empty answer for what is not there.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace isoscope::sql {

using Tree = nlohmann::json;

inline const Tree& no_tree() {
  static const Tree kNothing;
  return kNothing;
}

// The member of that name, or nothing.
inline const Tree& child(const Tree& node, const char* name) {
  if (!node.is_object()) return no_tree();
  const auto member = node.find(name);
  return member == node.end() ? no_tree() : *member;
}
inline bool has(const Tree& node, const char* name) { return !child(node, name).is_null(); }

inline std::string text_of(const Tree& node, const char* name) {
  const Tree& member = child(node, name);
  return member.is_string() ? member.get<std::string>() : std::string();
}
inline std::int64_t number_of(const Tree& node, const char* name) {
  const Tree& member = child(node, name);
  return member.is_number_integer() ? member.get<std::int64_t>() : 0;
}
inline bool flag_of(const Tree& node, const char* name) {
  const Tree& member = child(node, name);
  return member.is_boolean() && member.get<bool>();
}

// "ColumnRef" of {"ColumnRef": {…}}; empty for anything else.
inline std::string kind_of(const Tree& node) {
  return node.is_object() && node.size() == 1 ? node.begin().key() : std::string();
}
// {…} of {"ColumnRef": {…}}.
inline const Tree& inside(const Tree& node) {
  return node.is_object() && node.size() == 1 ? *node.begin() : no_tree();
}

// The text of a node {"String": {"sval": …}}.
inline std::string string_node(const Tree& node) { return text_of(child(node, "String"), "sval"); }
// The last name of a list of String nodes: `t` of schema.t.
inline std::string last_name(const Tree& list) {
  return list.is_array() && !list.empty() ? string_node(list.back()) : std::string();
}
// Whether an expression is nextval(…).
inline bool is_nextval(const Tree& value) {
  return last_name(child(child(value, "FuncCall"), "funcname")) == "nextval";
}

}  // namespace isoscope::sql
