#include "sql/read/schema_names.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoscope::sql {
namespace {

// The name before the last one of a list: `app` of app.orders. The server's own schema says
// nothing.
std::string schema_in(const Tree& names) {
  if (!names.is_array() || names.size() < 2) return {};
  std::string schema = string_node(names[names.size() - 2]);
  return schema == "pg_catalog" ? std::string() : schema;
}

const Tree& path_of(const Tree& object) {
  if (const Tree& list = child(object, "List"); !list.is_null()) return child(list, "items");
  if (const Tree& called = child(object, "ObjectWithArgs"); !called.is_null())
    return child(called, "objname");
  if (const Tree& type = child(object, "TypeName"); !type.is_null()) return child(type, "names");
  return object;
}

bool is_about_functions(const std::string& what) {
  return what == "OBJECT_FUNCTION" || what == "OBJECT_PROCEDURE" || what == "OBJECT_ROUTINE";
}

// Where a statement says what it makes.
const char* relation_made(const std::string& kind) {
  if (kind == "CreateStmt") return "relation";
  if (kind == "ViewStmt") return "view";
  if (kind == "CompositeTypeStmt") return "typevar";
  return nullptr;
}
const char* type_made(const std::string& kind) {
  if (kind == "CreateEnumStmt" || kind == "CreateRangeStmt") return "typeName";
  if (kind == "CreateDomainStmt") return "domainname";
  return nullptr;
}

// Of the values that search_path gets; pg_dump says all of them in one text.
std::string first_schema(const Tree& values) {
  for (const Tree& value : values) {
    std::string name = text_of(child(child(value, "A_Const"), "sval"), "sval");
    name = name.substr(0, name.find(','));
    if (!name.empty() && !name.ends_with("$user") && !name.ends_with("$user\"") &&
        name != "pg_catalog")
      return name;
  }
  return "public";
}

}  // namespace

void SchemaNames::look_at(const std::string& kind, const Tree& node, Place place) {
  if (kind == "CreateFunctionStmt") return made_function(child(node, "funcname"), place);
  if (kind == "AlterObjectSchemaStmt") return moved(node, place);
  if (kind == "DropStmt") return dropped(node, place);
  if (kind == "VariableSetStmt" || kind == "SelectStmt") return follow_search_path(kind, node);
  if (kind == "InsertStmt") return mentioned(child(node, "relation"), place);
  if (kind == "CreateSeqStmt" || kind == "AlterSeqStmt") return;  // SchemaBuilder looks at these
  if (const char* relation = relation_made(kind)) {
    const Tree& named = child(node, relation);
    made(relations_, text_of(named, "relname"), text_of(named, "schemaname"), place);
  } else if (const char* type = type_made(kind)) {
    made(relations_, last_name(child(node, type)), schema_in(child(node, type)), place);
  }
  mentioned(node, place);
}

void SchemaNames::made_function(const Tree& names, Place place) {
  made(functions_, last_name(names), schema_in(names), place);
}

void SchemaNames::made(Schemas& things, const std::string& name, std::string schema, Place place) {
  if (schema.empty()) schema = current_;
  named(things, name, schema, place);
}

void SchemaNames::named(Schemas& things, const std::string& name, const std::string& schema,
                        Place place) {
  if (schema.empty() || name.empty()) return;
  const auto [known, is_new] = things.try_emplace(name, schema);
  if (!is_new && known->second != schema) note(things, name, place);
}

void SchemaNames::note(const Schemas& things, const std::string& name, Place place) {
  findings_.note(place,
                 fmt::format("{} '{}' of two schemas are treated as one",
                             &things == &functions_ ? "functions" : "tables, views or types", name),
                 NoteKind::Gap);
}

void SchemaNames::moved(const Tree& node, Place place) {
  const std::string to = text_of(node, "newschema");
  const bool is_function = is_about_functions(text_of(node, "objectType"));
  Schemas& things = is_function ? functions_ : relations_;
  const Tree& relation = child(node, "relation");
  const Tree& names = path_of(child(node, "object"));
  const std::string name = relation.is_null() ? last_name(names) : text_of(relation, "relname");
  named(things, name, relation.is_null() ? schema_in(names) : text_of(relation, "schemaname"),
        place);
  if (!name.empty()) things[name] = to;
}

void SchemaNames::dropped(const Tree& node, Place place) {
  const std::string what = text_of(node, "removeType");
  for (const Tree& object : child(node, "objects")) {
    const Tree& names = path_of(object);
    const bool is_relation = what == "OBJECT_TABLE" || what == "OBJECT_VIEW" ||
                             what == "OBJECT_TYPE" || what == "OBJECT_DOMAIN";
    if (!is_relation && !is_about_functions(what)) continue;
    Schemas& things = is_relation ? relations_ : functions_;
    named(things, last_name(names), schema_in(names), place);
    things.erase(last_name(names));
  }
}

// Every relation that the statement names with its schema.
void SchemaNames::mentioned(const Tree& tree, Place place) {
  if (!tree.is_structured()) return;
  if (tree.is_object() && tree.contains("relname"))
    named(relations_, text_of(tree, "relname"), text_of(tree, "schemaname"), place);
  for (const Tree& part : tree) mentioned(part, place);
}

// SET search_path, and pg_dump's SELECT set_config('search_path', …).
void SchemaNames::follow_search_path(const std::string& kind, const Tree& node) {
  if (kind == "VariableSetStmt") {
    if (text_of(node, "name") == "search_path") current_ = first_schema(child(node, "args"));
    return;
  }
  for (const Tree& target : child(node, "targetList")) {
    const Tree& call = child(child(inside(target), "val"), "FuncCall");
    const Tree& arguments = child(call, "args");
    if (last_name(child(call, "funcname")) != "set_config" || arguments.size() < 2) continue;
    const Tree& setting = child(child(arguments[0], "A_Const"), "sval");
    if (text_of(setting, "sval") == "search_path")
      current_ = first_schema(Tree::array({arguments[1]}));
  }
}

}  // namespace isoscope::sql
