#pragma once
// Reads the text of a program as far as the grammar of docs/programs.md goes.
//
// A newline, `;` or a closing brace ends a statement; `else` may stand on the line of the brace
// before it or on a later one.
//
// Cost  Linear. Nesting deeper than kMaxNesting is an Error, so no input exhausts the stack.
#include "program/ast.h"
#include "support/result.h"

namespace isoscope::txn {

// The tree is valid as long as the text. Errors have a place and no file.
Result<Syntax> parse_syntax(std::string_view text);

}  // namespace isoscope::txn
