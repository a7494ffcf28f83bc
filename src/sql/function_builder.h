#pragma once
// CREATE FUNCTION and CREATE PROCEDURE as Function.
#include <optional>
#include <string_view>
#include <vector>

#include "sql/application.h"
#include "sql/catalog.h"
#include "sql/findings.h"
#include "sql/source_text.h"

namespace isoscope::sql {

// The text of a file, cut into tokens.
struct SourceFile {
  std::string_view text;
  LineIndex lines;
  std::vector<SqlToken> tokens;
};

// `node` is a CreateFunctionStmt, `statement` its text without what comes before or behind, which
// starts at `begin`. Nothing, and a failure in `findings`, if it uses what we do not model.
std::optional<Function> build_function(const Tree& node, std::string_view statement,
                                       std::uint32_t begin, const SourceFile& file,
                                       Catalog& catalog, Findings& findings);

}  // namespace isoscope::sql
