#pragma once
// Expressions and statements written by hand, for tests that want one and no more.
#include <string>
#include <utility>
#include <vector>

#include "sql/application.h"

namespace isoscope::sql {

inline Expr null() { return {}; }
inline Expr num(std::int64_t number) { return {.op = ExprOp::Integer, .number = number}; }
inline Expr text(std::string characters) {
  return {.op = ExprOp::Text, .type = Type::Text, .text = std::move(characters)};
}
inline Expr truth(bool value) {
  return {.op = ExprOp::Boolean, .type = Type::Boolean, .number = value ? 1 : 0};
}
inline Expr var(std::uint32_t number) { return {.op = ExprOp::Variable, .var = VarId{number}}; }
inline Expr col(ColumnId column, std::uint32_t source = 0) {
  return {.op = ExprOp::Column, .source = SourceId{source}, .column = column};
}
inline Expr make(ExprOp op, std::vector<Expr> args) { return {.op = op, .args = std::move(args)}; }

}  // namespace isoscope::sql
