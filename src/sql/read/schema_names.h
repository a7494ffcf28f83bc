#pragma once
// Names of schemas do not count in an application: `app.orders` and `orders` are one table. That
// is what a file means which names them now and then; one that makes two things of one name gets a
// note.
#include <map>
#include <string>
#include <string_view>

#include "sql/read/catalog.h"
#include "sql/read/findings.h"
#include "sql/read/tree.h"

namespace isoscope::sql {

class SchemaNames {
 public:
  SchemaNames(const Catalog& catalog, Findings& findings)
      : catalog_(catalog), findings_(findings) {}

  // A statement of the file outside of functions and transactions, before the catalog takes it.
  void look_at(const std::string& kind, const Tree& node, Place place);

 private:
  using Schemas = std::map<std::string, std::string, std::less<>>;  // by the name of a thing

  void made(Schemas& things, const std::string& name, std::string schema, Place place);
  // With an empty schema it is whichever there is.
  void named(Schemas& things, const std::string& name, const std::string& schema, Place place);
  void moved(const Tree& node, Place place);
  void dropped(const Tree& node, Place place);
  void made_function(const Tree& names, Place place);
  void mentioned(const Tree& tree, Place place);
  void follow_search_path(const std::string& kind, const Tree& node);
  void note(const Schemas& things, const std::string& name, Place place);

  const Catalog& catalog_;
  Findings& findings_;
  std::string current_ = "public";  // where things without a schema are made
  Schemas relations_;               // and types
  Schemas functions_;
};

}  // namespace isoscope::sql
