#pragma once
// An SQL application out of a file: a schema with functions, or a specification of isolationtester,
// whose sessions are then the transactions.
#include <string>

#include "sql/application.h"

namespace isoscope {

struct ReadApplication {
  sql::Application app;
  std::string sql;  // the text as SQL, at the same places
};

// Is the text a specification of isolationtester?
bool is_specification(const std::string& text);
Result<ReadApplication> read_application(const std::string& text, Budget& budget);

}  // namespace isoscope
