#pragma once
// Functions that programs call on texts, and those whose meaning we do not know.
#include <span>
#include <string_view>

#include "sql/expr.h"
#include "sql/value.h"
#include "support/result.h"

namespace isoscope::sql {

// Texts and arrays do not grow beyond this: a program that doubles one in a loop ends soon.
inline constexpr std::size_t kMaxLength = 1'000'000;

// SQLERRM: the function of the handler's variable that its uses are. It has no value where the
// variable is NULL, since we do not know what the server says then.
inline constexpr const char* kMessageOfError = "(sqlerrm)";

// A text that varchar(n) takes, without the blanks at its end that find no room: of it and n.
inline constexpr const char* kCut = "(cut)";
std::string cut_text(std::string text, std::size_t length);

// a || b: of texts, or of arrays and elements. NULL if a or b is.
Result<Value> concatenate(const Value& a, const Value& b);

// Is it a function whose value, of a numeric, depends on the number alone and not on its scale?
bool is_decimal_function(std::string_view name);

// Is its value NULL exactly where one of its arguments is?
bool is_null_of_null_only(std::string_view name);

// round, trunc, ceil, floor and sign of a number, left, right, upper, lower, length, replace, btrim
// of one text, substr, concat and casts between whole numbers, truth values and texts ("integer",
// "boolean", "text") do what they say; they and others that the server calls strict give NULL for
// NULL. Any other function gives for equal arguments equal values, and for different ones most
// likely different values: the text "name(arguments)", or a number or truth value made from it.
Result<Value> call_function(std::string_view name, Type type, std::span<const Value> arguments);

}  // namespace isoscope::sql
