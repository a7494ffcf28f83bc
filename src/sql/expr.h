#pragma once
// Expressions of SQL programs, with every name resolved.
//
// Names are gone: a variable is its number in the function, a column its source in the statement
// and its number in the table. What SQL can say in two ways is said in one: BETWEEN, IN lists,
// IS NOT NULL, CASE and <> are made of the operators below. Logic is three-valued, as in SQL.
#include <cstdint>
#include <string>
#include <vector>

#include "support/error.h"
#include "support/id.h"

namespace isoscope::sql {

using TableId = Id<struct TableTag>;
using VarId = Id<struct VarTag>;        // a variable of one function; parameters come first
using SourceId = Id<struct SourceTag>;  // a row that a statement is over: of FROM, in its order
using ColumnId = Id<struct ColumnTag>;  // a column of a table, or of the rows of a row set

// What a value is, as far as programs can tell: every whole-number type is Integer; dates,
// floating numbers and other ordered types that we only compare and add are Integer too, with a
// note. Numeric is exact.
enum class Type : std::uint8_t { Integer, Text, Boolean, Numeric };

// clang-format off
enum class ExprOp : std::uint8_t {
  Null, Integer, Text, Boolean,   // constants: `number`, `text`, `number` (0 or 1)
  Decimal,                        // a constant: `text`, as parse_decimal() reads it
  Variable,                       // `var`
  Column,                         // `source`, `column`
  Element,                        // args[0] (an array) at index args[1], from 1
  Cardinality,                    // of the array args[0]
  ArrayOf,                        // ARRAY[args…]
  InArray,                        // args[0] = ANY(args[1])
  Not, Negate, IsNull,            // args[0]
  Add, Subtract, Multiply, Divide, Modulo,   // args[0], args[1]; whole numbers, / rounds to zero
  Concat,                                    // ||
  Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual,
  And, Or,                        // args…, at least two
  If,                             // args[0] ? args[1] : args[2]; NULL counts as false
  Coalesce, Least, Greatest,      // args…; Coalesce of one is a cast between whole numbers: `bits`,
                                  // or of a text to an enum: its values are the lines of `text`,
                                  // behind an empty one
  Abs,                            // args[0]
  ToNumeric,                      // of the whole number args[0]
  ToInteger,                      // of the numeric args[0], halves away from zero: `bits`
  Round,                          // the numeric args[0] with `number` digits behind the point,
                                  // halves away from zero; `precision` at most, if it is not 0
  Opaque,                         // a function that we do not know, called `text`: its value is a
                                  // function of args and nothing else, or
                                  // (`is_volatile`) another one each time
};
// clang-format on

struct Expr {
  ExprOp op = ExprOp::Null;
  Type type = Type::Integer;  // of its value; of an array's elements
  bool is_array = false;
  // Of an integer, or of an array's elements: those of its type in SQL, 16, 32 or 64. A sum that
  // does not fit is an error. What we only treat as a whole number, such as a date, has 64.
  // Of a numeric: no value of it has more digits than this behind the point, or kAnyScale.
  std::uint8_t bits = 64;
  std::uint8_t precision = 0;  // Round: p of numeric(p, s)
  bool is_volatile = false;    // Opaque: random(), now()
  bool is_untyped = false;     // Variable: a parameter whose first use says what type it is
  std::int64_t number = 0;
  std::string text = {};
  VarId var = {};
  SourceId source = {};
  ColumnId column = {};
  std::vector<Expr> args = {};
  Place place = {};
};

// Of ToInteger and Round: surely no digit is lost.
inline bool keeps_value(const Expr& expr) {
  return expr.args[0].bits <= (expr.op == ExprOp::Round ? expr.number : 0);
}

// Calls `visit(source, column)` for each column that the expression mentions.
template <class Visit>
void for_each_column(const Expr& expr, const Visit& visit) {
  if (expr.op == ExprOp::Column) visit(expr.source, expr.column);
  for (const Expr& arg : expr.args) for_each_column(arg, visit);
}

}  // namespace isoscope::sql
