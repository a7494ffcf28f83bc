#pragma once
// What a text is: for the error message when a file is of another kind than expected.
//
// Readers decide for themselves what they read; this is asked only after they have refused a file,
// to say "this is a program: use explore" instead of a syntax error.
#include <cstdint>
#include <string>
#include <string_view>

#include "support/error.h"

namespace isoscope {

enum class TextKind : std::uint8_t { Unknown, History, Program, Sql, Levels };

TextKind kind_of_text(std::string_view text);

// `error`, which a reader of `wanted` gave for this text; or, if the text is of another known kind,
// that it is, and what to do with it.
Error explain_kind(const Error& error, TextKind wanted, std::string_view text);

// Does the text declare tables or functions of SQL? That makes a program SQL, not .txn.
bool is_sql_program(std::string_view text);

}  // namespace isoscope
